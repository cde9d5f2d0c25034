package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// Outputs says what a recording shows of tools that are declared deterministic.
type Outputs struct {
	Calls     int         `json:"calls"`    // of these tools, that completed
	Compared  int         `json:"compared"` // with an earlier one
	Differing []Differing `json:"differing,omitempty"`
}

// A Differing call has another output than an earlier one of the same input, although no
// recorded call has changed anything in between.
type Differing struct {
	Session string `json:"session"`
	Run     string `json:"run"`
	Call    string `json:"call"`
	Tool    string `json:"tool"`

	EarlierSession string `json:"earlier_session"`
	EarlierCall    string `json:"earlier_call"`
}

// CompareOutputs compares the recorded outputs of the tools that a declaration says to be
// deterministic: of calls with the same arguments by the same principal, of one declaration of
// the tool. The state counts as equal where one process has made both calls and no call of a tool
// that is not read-only ran, or was undone, from the start of the first to the end of the second.
// What changes a state without a call is not recorded. Calls that were made before since are not counted: later ones are compared with
// them; zero: all are counted.
func CompareOutputs(ctx context.Context, src Source, declaration *dsl.File, since time.Time) (*Outputs, error) {
	if declaration == nil {
		return nil, errors.New("outputs are compared of the tools of a declaration: name one")
	}
	o := &outputs{since: since, tools: map[string]*dsl.Tool{}, calls: map[journal.CallKey]*result{}, latest: map[string]*result{}}
	for _, t := range declaration.Tools {
		for _, name := range append([]string{t.Name}, t.RenamedFrom...) {
			o.tools[name] = t
		}
	}
	for after := uint64(0); ; {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		entries, err := src.Read(ctx, after, page)
		if err != nil {
			return nil, fmt.Errorf("read the recording after entry %d: %w", after, err)
		}
		if len(entries) == 0 {
			return &o.found, nil
		}
		for i := range entries {
			after = entries[i].Seq
			if err := o.add(&entries[i]); err != nil {
				return nil, fmt.Errorf("entry %d of the recording: %w", after, err)
			}
		}
	}
}

type outputs struct {
	since   time.Time
	tools   map[string]*dsl.Tool
	calls   map[journal.CallKey]*result // that have no outcome so far, or may still change something
	latest  map[string]*result          // by tool and input
	state   int                         // grows with each change
	writing int                         // calls that run and may change something
	found   Outputs
}

// A result is what is known of a call.
type result struct {
	Differing
	tool             *dsl.Tool // nil: it is not in the declaration
	early            bool      // it was made before those that are counted
	pin, principal   string
	args             []byte // nil: they are not recorded
	state            int    // when it started
	started, writing bool
	output           []byte
	artifact         string
}

func (o *outputs) add(e *journal.Entry) error {
	leaf, err := journal.Restore(e.Leaf, e.Private)
	if err != nil {
		return err
	}
	r, err := journal.Decode(leaf)
	if err != nil {
		return err
	}
	key := journal.CallKey{Session: r.Session, Call: r.Call}
	c := o.calls[key]
	switch {
	case r.Kind == journal.KindOwner: // what a process held in memory is gone
		clear(o.calls)
		o.state, o.writing = o.state+1, 0
	case r.Kind == runtime.EventUndone.String(), r.Kind == runtime.EventUndoFailed.String():
		o.state++
	case r.Call != "" && r.Mark == journal.MarkOpened: // also of a call whose id is that of one that was forgotten
		o.calls[key] = &result{
			Differing: Differing{Session: r.Session, Run: r.Run, Call: r.Call, Tool: r.Tool},
			tool:      o.tools[r.Tool], pin: r.Pin, principal: r.Principal, early: r.At.Before(o.since),
		}
	case c == nil:
	case r.Kind == runtime.EventValidated.String():
		c.args = known(r.Args, e.Private != nil)
	case r.Kind == runtime.EventStarted.String():
		o.started(c)
	case r.Kind == runtime.EventLateResult.String():
		o.settled(c)
	case r.Mark == journal.MarkEnded && r.Outcome != nil:
		return o.ended(c, r, e.Private != nil)
	}
	if c != nil && r.Final != nil {
		c.args = known(r.Final, e.Private != nil)
	}
	return nil
}

// known is a recorded value, unless parts of it are not in the recording.
func known(p *journal.Payload, private bool) []byte {
	if p == nil || p.Secrets > 0 && !private {
		return nil
	}
	return p.Value
}

func (o *outputs) started(c *result) {
	if c.started {
		return
	}
	if c.writing = c.tool == nil || c.tool.Effect != "read"; c.writing {
		o.writing++
		o.state++
	}
	c.started, c.state = true, o.state
	if o.writing > 0 {
		c.state = -1
	}
}

// settled notes that a call changes nothing any more.
func (o *outputs) settled(c *result) {
	if c.writing {
		o.writing--
		o.state++
		c.writing = false
	}
}

func (o *outputs) ended(c *result, r *journal.Record, private bool) error {
	var out outcome
	if err := json.Unmarshal(r.Outcome, &out); err != nil {
		return fmt.Errorf("the outcome of call %q: %w", r.Call, err)
	}
	if out.Kind == runtime.Completed || out.Kind == runtime.Failed { // the others may leave a handler that runs
		o.settled(c)
	}
	if out.Kind != runtime.Completed || c.tool == nil || !c.tool.Deterministic {
		return nil
	}
	if !c.early {
		o.found.Calls++
	}
	c.output = known(r.Output, private)
	if r.Artifact != nil {
		c.artifact = r.Artifact.SHA256
	}
	if c.args == nil || c.output == nil || c.state != o.state {
		return nil
	}
	of := fmt.Sprintf("%q %q %q %s", c.tool.Name, c.pin, c.principal, c.args)
	if was := o.latest[of]; was != nil && was.state == c.state && !c.early {
		o.found.Compared++
		if was.artifact != c.artifact || c.artifact == "" && !sameJSON(was.output, c.output) {
			c.EarlierSession, c.EarlierCall = was.Session, was.Call
			o.found.Differing = append(o.found.Differing, c.Differing)
		}
	}
	o.latest[of] = c
	return nil
}

// sameJSON compares values: the order of members says nothing.
func sameJSON(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var values [2]any
	for i, text := range [][]byte{a, b} {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		if d.Decode(&values[i]) != nil {
			return false
		}
	}
	return reflect.DeepEqual(values[0], values[1])
}

// Only returns what o says of one session, or of one run, or of both; empty names stand for
// all. The counts stay those of the recording.
func (o *Outputs) Only(session, run string) *Outputs {
	only := *o
	only.Differing = slices.DeleteFunc(slices.Clone(o.Differing), func(d Differing) bool {
		return session != "" && d.Session != session || run != "" && d.Run != run
	})
	return &only
}
