// Package replan says what a recorded call ran. A journal has only the digest of the arguments of a
// program, so they are made again, of the recorded input by the declaration of now, and compared with
// the digest: arguments with another digest are not shown (SEMANTICS 5.10.8).
package replan

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// The reasons why there are no arguments to show. Compare with errors.Is.
var (
	ErrDiffers  = errors.New("the recorded argv differs: the declaration of now makes other arguments of the input")
	ErrDeclared = errors.New("the declaration of the tool has changed since, and nothing recorded says whether its arguments have")
	ErrNoTool   = errors.New("no such command is declared any more")
	ErrNoInput  = errors.New("the input is not recorded, or was erased")
	ErrDamaged  = errors.New("the entries of the call are damaged")
)

// A Call is what entries say of the input of a call and of what it ran. The zero value is that of a call without entries.
type Call struct {
	Processes []journal.Process

	tool, version, pin string
	input              []byte // with its sensitive values; never shown
	err                error
}

// Of reads the entries of a call.
func Of(entries []journal.Entry) *Call {
	c := &Call{}
	for i := range entries {
		if r, err := journal.Decode(entries[i].Leaf); err != nil {
			c.err = ErrDamaged
		} else {
			c.Add(&entries[i], r)
		}
	}
	return c
}

// Add adds what an entry says, for a caller that has its record, which Add does not change.
func (c *Call) Add(e *journal.Entry, r *journal.Record) {
	if r.Args != nil || r.Final != nil {
		r = c.whole(e, r)
	}
	for to, value := range map[*string]string{&c.tool: r.Tool, &c.version: r.ToolVersion, &c.pin: r.Pin} {
		if value != "" {
			*to = value
		}
	}
	for i := range r.Consent {
		if asked := r.Consent[i].Asked; asked != nil && asked.CallID == r.Call {
			c.pin = asked.Pin
		}
	}
	for _, p := range []*journal.Payload{r.Args, r.Final} {
		if p != nil {
			c.input = p.Value
		}
	}
	c.Processes = journal.JoinProcess(c.Processes, r)
}

// whole returns the record of an entry with its sensitive values: a decoder may want them, and no argument has them.
func (c *Call) whole(e *journal.Entry, r *journal.Record) *journal.Record {
	if len(e.Private) == 0 {
		return r
	}
	leaf, err := journal.Restore(e.Leaf, e.Private)
	if err == nil {
		var all *journal.Record
		if all, err = journal.Decode(leaf); err == nil {
			return all
		}
	}
	c.err = ErrDamaged
	return r
}

// Plan returns what the call ran, or would have run: the arguments are those whose digest each of its
// processes has, or the declaration is the one that was recorded. Where neither is recorded, because
// the call did not start, they are those of the declaration of now. lookup returns a tool by its
// name, nil for none. Without an error the invocation is nil for a call that runs no process.
func (c *Call) Plan(lookup func(name string) *runtime.Tool) (*runtime.Invocation, error) {
	in, err := c.plan(lookup(c.tool), c.pin, c.input)
	if err != nil || in == nil {
		return nil, err
	}
	sum := process.Digest(in.Argv)
	for i := range c.Processes {
		if want := c.Processes[i].Argv; want != "" && want != hex.EncodeToString(sum[:]) {
			return nil, ErrDiffers
		}
	}
	return in, nil
}

// Asked returns what the call of a request would run. c is what the entries say of that call.
func (c *Call) Asked(r *consent.Request, lookup func(name string) *runtime.Tool) (*runtime.Invocation, error) {
	asked := &Call{tool: r.Tool, pin: r.Pin, input: unmasked(r, c.input), err: c.err}
	if r.Status == consent.StatusUsed {
		asked.Processes = c.Processes
	}
	return asked.Plan(lookup)
}

func (c *Call) plan(tool *runtime.Tool, pin string, input []byte) (*runtime.Invocation, error) {
	recorded := len(c.Processes) > 0
	switch {
	case tool == nil || tool.Spec().Command == nil:
		if recorded {
			return nil, ErrNoTool
		}
		return nil, nil
	case c.err != nil:
		return nil, c.err
	case len(input) == 0:
		return nil, ErrNoInput
	case !recorded && (pin != "" && pin != tool.Spec().Pin || c.version != "" && c.version != tool.Spec().Version):
		return nil, ErrDeclared
	}
	return tool.Invocation(input)
}

// unmasked returns the arguments of a request, whose masks are the values of the call again. One that
// the call has not stays: no argument is made of it.
func unmasked(r *consent.Request, input []byte) []byte {
	var args, values map[string]json.RawMessage
	if len(r.Masked) == 0 || json.Unmarshal(r.Args, &args) != nil || json.Unmarshal(input, &values) != nil {
		return r.Args
	}
	for _, at := range r.Masked {
		name := strings.NewReplacer("~1", "/", "~0", "~").Replace(strings.TrimPrefix(at, "/"))
		if v, ok := values[name]; ok {
			args[name] = v
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(args) != nil {
		return r.Args
	}
	return b.Bytes()
}
