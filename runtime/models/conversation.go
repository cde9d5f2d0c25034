package models

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"fmt"
	"slices"

	"github.com/ambit-tools/ambit/runtime"
)

// ProviderID is the metadata of a call with the id that the provider gave it.
const ProviderID = runtime.ProviderCallID

// A Conversation gives the calls of a model ids of their own. The ids of providers cannot identify calls: there are
// providers whose ids begin again with each message (call_0), come twice in a message or are empty, and the executor
// answers a known id with the outcome that it knows. Loop and the models of the modules have a Conversation; a program
// with a loop of its own uses one:
//
//	calls := conversation.Own(number, openai.ChatCalls(tools, message))
//	results := models.Dispatch(ctx, turn, calls)
//
// The zero value begins a conversation. It must not be used by several goroutines at once.
type Conversation struct {
	// ID is in the ids of all calls. When it is empty the first Own sets it at random. A program that goes on with a
	// conversation after a restart, and makes calls of it again, sets the ID that it has kept.
	ID string

	number int              // of the last message
	given  [][]runtime.Call // by the positions of that message: the calls that its answers had there, as the provider gave them
}

// Own returns the calls of a message under ids made of the conversation, the number of the message and the position of the
// call, with the provider's id in ProviderID. Numbers grow with the messages; a lower one than the last begins another
// conversation. Calls that have a ProviderID have an id of their own, and stay as they are.
//
// A message that is read or answered again has the same number, and its calls the same ids, so that none runs twice. A
// call that has another tool or other arguments than the one that was in its place is another call.
//
// A call without an id gets its new one as that of the provider too: the program writes it into the message that goes back
// to the provider, for a result to answer.
func (c *Conversation) Own(number int, calls []runtime.Call) []runtime.Call {
	if number < c.number {
		c.ID = ""
	}
	if c.ID == "" {
		c.ID = rand.Text()
	}
	if number != c.number {
		c.number, c.given = number, nil
	}
	out := slices.Clone(calls)
	for at := range out {
		if len(c.given) == at {
			c.given = append(c.given, nil)
		}
		call := &out[at]
		if call.ProviderID != "" {
			continue
		}
		try := slices.IndexFunc(c.given[at], func(g runtime.Call) bool { return g.Tool == call.Tool && bytes.Equal(g.Input, call.Input) })
		if try < 0 {
			try = len(c.given[at])
			c.given[at] = append(c.given[at], *call)
		}
		id := fmt.Sprintf("%d-%d-%s", number, at, c.ID)
		if try > 0 {
			id = fmt.Sprintf("%d-%d_%d-%s", number, at, try, c.ID)
		}
		call.ID, call.ProviderID = id, cmp.Or(call.ID, id)
	}
	return out
}

// told returns the id under which the model knows a call.
func told(c *runtime.Call) string { return cmp.Or(c.ProviderID, c.ID) }
