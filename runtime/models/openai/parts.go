package openai

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/openai/openai-go/v3"
)

// parts makes of the parts of calls in a stream, as servers write them, those that the SDK's accumulator puts together: the
// parts of each call under an index of its own, without gaps, and the id, the type and the whole name in one of them.
// The accumulator joins what has one index, and repeats a name that comes with every part. The zero value is ready.
type parts struct {
	calls map[int64][]*partial // by the choice, in the order in which they began
}

// A partial is what has come of a call.
type partial struct {
	index    int64 // that the server gave it
	id, name string
	args     strings.Builder
}

// whole reports whether the arguments are: what follows is of another call.
func (c *partial) whole() bool {
	args := strings.TrimRight(c.args.String(), " \t\r\n")
	return strings.HasSuffix(args, "}") && json.Valid([]byte(args))
}

// begins reports whether a part with the index of c, and not its id, begins another call.
func (c *partial) begins(of *sdk.ChatCompletionChunkChoiceDeltaToolCall) bool {
	switch {
	case of.ID != "" && c.id != "":
		return of.ID != c.id
	case of.Function.Name == "" || !c.whole():
		return false
	}
	return of.Function.Name != c.name || of.Function.Arguments != ""
}

// find returns the call, by its place, that a part continues; len(list) for a new one.
func find(list []*partial, of *sdk.ChatCompletionChunkChoiceDeltaToolCall) int {
	last := len(list)
	for at, c := range list {
		if c.index != of.Index {
			continue
		}
		if of.ID != "" && of.ID == c.id {
			return at
		}
		last = at
	}
	if last < len(list) && list[last].begins(of) {
		return len(list)
	}
	return last
}

// join changes the parts in a chunk. The error names a call whose parts do not fit together.
func (p *parts) join(chunk *sdk.ChatCompletionChunk) error {
	if p.calls == nil {
		p.calls = map[int64][]*partial{}
	}
	for i := range chunk.Choices {
		choice := &chunk.Choices[i]
		for j := range choice.Delta.ToolCalls {
			part := &choice.Delta.ToolCalls[j]
			list := p.calls[choice.Index]
			at := find(list, part)
			if at == len(list) {
				list = append(list, &partial{index: part.Index})
				p.calls[choice.Index] = list
			}
			if err := list[at].add(part); err != nil {
				return err
			}
			part.Index = int64(at)
		}
	}
	return nil
}

// add takes account of a part, and leaves in it what is new.
func (c *partial) add(part *sdk.ChatCompletionChunkChoiceDeltaToolCall) error {
	name := part.Function.Name
	switch {
	case name == "":
	case name == c.name: // it comes with every part
		part.Function.Name = ""
	case c.args.Len() == 0: // a name may come in parts
		c.name += name
	default:
		return fmt.Errorf("the parts of the answer do not fit together: those of the calls %q and %q have one index, and the first is not whole. None of its calls was made", c.name, name)
	}
	if c.id = cmp.Or(c.id, part.ID); part.Type == "" {
		part.Type = "function"
	}
	c.args.WriteString(part.Function.Arguments)
	return nil
}

// ended returns an error that names a call without a name.
func (p *parts) ended() error {
	for _, list := range p.calls {
		for at, c := range list {
			if c.name == "" {
				return fmt.Errorf("the parts of the answer do not fit together: its call %d, with the id %q, has no name. None of its calls was made", at+1, c.id)
			}
		}
	}
	return nil
}
