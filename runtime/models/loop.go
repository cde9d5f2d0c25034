package models

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
)

// A Model answers a conversation with its next message.
type Model interface {
	// Next returns the answer to the messages so far. Those that are in said stay in it, and it
	// grows: a Model may keep what it has made of them. It may be called again with the same
	// messages, after an error or because its answer got lost: the model is asked the same again, and
	// calls that are the same have the same ids, where the Model gives them some (Conversation).
	Next(ctx context.Context, said []Message) (Message, error)
}

// An Offerer is a Model that can be told which of its tools to offer, as those of the modules of providers can.
type Offerer interface {
	Model

	// Offer has the next requests offer the tools that choose returns, of all that the model has of a
	// registry. What the program gave the model besides stays.
	Offer(choose func(all *Tools) *Tools)
}

// A Role says what wrote a Message.
type Role string

// The roles.
const (
	User      Role = "user"  // the user, or the loop on behalf of the program
	Assistant Role = "model" // the model
	ToolRole  Role = "tools" // the tools, by their results
)

// A Message is a part of a conversation.
type Message struct {
	Role  Role
	Text  string         // of the user or the model
	Calls []runtime.Call // of the model

	// Refused are calls of the model whose arguments could not be read. Each stands among Calls
	// too, under its id, and is not dispatched. Where calls of one tool have one id, all are refused.
	Refused []Result

	// Truncated says that the answer of the model was cut off at a limit of tokens, so that Text is
	// its beginning.
	Truncated bool

	Results []Result // of the tools: one for each of Calls of the message before, in their order
}

// Cut returns m as truncated, with all its calls refused: the answer of the model ended before it was
// whole, and what its arguments would have been is not known.
func (m Message) Cut() Message {
	m.Truncated = true
	m.Refused = nil
	for at := range m.Calls {
		m.Refuse(at, errCut)
	}
	return m
}

// Refuse refuses the call at a position of Calls, whose arguments could not be read as the model wrote them.
func (m *Message) Refuse(at int, err error) {
	c := &m.Calls[at]
	r := Refuse(c.ID, c.Tool, err)
	r.ID = told(c)
	m.Refused = append(m.Refused, r)
}

// refused returns Refused by the positions of their calls.
func (m Message) refused() map[int]Result {
	type name struct{ id, tool string }
	named := map[name]Result{}
	for _, r := range m.Refused {
		named[name{cmp.Or(r.Outcome.CallID, r.ID), r.Tool}] = r
	}
	out := map[int]Result{}
	for i, c := range m.Calls {
		if r, ok := named[name{c.ID, c.Tool}]; ok {
			out[i] = r
		}
	}
	return out
}

var errCut = errors.New("the answer was cut off before its end, so that none of its calls was made: make shorter calls, or fewer")

// tellCut is what the model is told of an answer without calls that was cut off.
const tellCut = "Your answer was cut off at its limit of tokens before its end. Go on, and make it shorter."

// ErrTruncated says that two answers in succession, without calls, were cut off at the limit of
// tokens: the limit is too low for the request.
var ErrTruncated = errors.New("the answer of the model was cut off at its limit of tokens, and so was the next one: raise the limit")

// ErrNoEnd says that the model was still calling tools after Loop.MaxTurns messages.
var ErrNoEnd = errors.New("the model came to no end")

// DefaultMaxTurns is how many messages a model may write when Loop.MaxTurns is zero.
const DefaultMaxTurns = 50

// A Loop lets a model work on a request until its run is over: it gives the model the messages so
// far, dispatches the calls of its answer, and goes on as the outcomes say. Calls get ids of their own (Conversation);
// their results have the provider's.
type Loop struct {
	Run   *engine.Run
	Model Model

	Turn     engine.TurnConfig // of each message of the model
	MaxTurns int               // messages of the model; 0: DefaultMaxTurns
	Wait     time.Duration     // how long a message's calls may wait for consent before the model is told that they are pending; 0: until ctx ends

	// Offer leaves the tools out of each request of which no call would be admitted then (function Offer). The
	// model has to be an Offerer. The default, which offers all tools, is wrong when tools that cannot be called
	// cost tokens or mislead the model; it keeps what providers cache of a conversation.
	Offer bool

	// Saw is called with each message as it is added to the conversation, in order; it may be nil.
	Saw func(Message)

	ids     Conversation
	known   map[string]string // ids under which the model knows calls, by their own
	said    []Message
	pending []Result // of calls that the model was told are pending
}

// Do works on a request and returns the status of the run at the end. It ends when a tool that ends
// the run has succeeded, or when the model stops and nothing is left to do: no required tool is
// open that the model has not been reminded of, and no call waits. An error is that of the model,
// of ctx, ErrTruncated or ErrNoEnd. The run stays open: its caller closes it.
func (l *Loop) Do(ctx context.Context, request string) (engine.RunStatus, error) {
	l.add(Message{Role: User, Text: request})
	most := l.MaxTurns
	if most == 0 {
		most = DefaultMaxTurns
	}
	truncated := false // the message before, which had no calls
	for range most {
		if err := l.offer(ctx); err != nil {
			return l.Run.Status(), err
		}
		next, err := l.Model.Next(ctx, l.said)
		if err != nil {
			return l.Run.Status(), err
		}
		next.Role = Assistant
		l.add(next)
		if next.Truncated && len(next.Calls) == 0 {
			if truncated {
				return l.Run.Status(), ErrTruncated
			}
			truncated = true
			l.add(Message{Role: User, Text: tellCut})
			continue
		}
		truncated = false
		var over bool
		if len(next.Calls) > 0 {
			over = l.dispatch(ctx, next)
		} else {
			over = l.stopped(ctx)
		}
		if over || ctx.Err() != nil {
			return l.Run.Status(), ctx.Err()
		}
	}
	return l.Run.Status(), fmt.Errorf("%w in %d messages", ErrNoEnd, most)
}

// offer says which tools the model is offered next.
func (l *Loop) offer(ctx context.Context) error {
	if !l.Offer {
		return nil
	}
	model, ok := l.Model.(Offerer)
	if !ok {
		return fmt.Errorf("Loop.Offer is set, and %T is no models.Offerer", l.Model)
	}
	model.Offer(func(all *Tools) *Tools {
		offered, _ := Offer(ctx, l.Run.Turn(engine.TurnConfig{}), all) // the turn of the calls begins with the answer
		return offered
	})
	return nil
}

func (l *Loop) add(m Message) {
	l.said = append(l.said, m)
	if l.Saw != nil {
		l.Saw(m)
	}
}

// dispatch makes the calls of a message. The hint of the last outcome says how to go on.
func (l *Loop) dispatch(ctx context.Context, m Message) (over bool) {
	waiting := ctx
	if l.Wait > 0 {
		var stop context.CancelFunc
		waiting, stop = context.WithTimeout(ctx, l.Wait)
		defer stop()
	}
	refused := m.refused()
	var calls []runtime.Call
	for i, c := range l.ids.Own(len(l.said), m.Calls) {
		if _, ok := refused[i]; !ok {
			calls = append(calls, c)
			l.know(c.ID, told(&m.Calls[i]))
		}
	}
	made := dispatch(ctx, waiting, l.Run.Turn(l.Turn), calls)
	var results []Result
	var held []string
	for i := range m.Calls {
		r, ok := refused[i]
		if !ok {
			r, made = made[0], made[1:]
			l.tell(&r, told(&m.Calls[i]))
			over, held = r.Outcome.Loop == runtime.LoopExit, nil
			if r.Outcome.Loop == runtime.LoopWait && r.Outcome.Kind == runtime.Denied {
				held = r.Outcome.Detail.Waiting
			}
		}
		if r.Outcome.Kind == runtime.Pending {
			l.pending = append(l.pending, r)
		}
		results = append(results, r)
	}
	l.add(Message{Role: ToolRole, Results: results})
	if held != nil {
		return l.await(ctx, held)
	}
	return over
}

// know notes under which id the model knows a call.
func (l *Loop) know(id, told string) {
	if l.known == nil {
		l.known = map[string]string{}
	}
	l.known[id] = told
}

// tell gives a result the id under which the model knows its call, also where its text names other calls that the model made.
func (l *Loop) tell(r *Result, id string) {
	of := r.Outcome
	for _, named := range slices.Concat(of.Detail.Waiting, []string{of.Of}) {
		if known := l.known[named]; known != "" {
			of.Message = strings.ReplaceAll(of.Message, wording.Quote(named), wording.Quote(known))
		}
	}
	of.Of = cmp.Or(l.known[of.Of], of.Of)
	r.answer(id, of)
}

// await waits until calls that wait for consent have ended, and tells the model of those that it was told are pending. The run is
// over then, or the model goes on.
func (l *Loop) await(ctx context.Context, ids []string) (over bool) {
	turn := l.Run.Turn(l.Turn)
	for _, id := range ids { // also those of sub-agents
		turn.Await(ctx, id)
	}
	var b strings.Builder
	for _, p := range l.pending {
		r := ResultOf(turn.Await(ctx, p.Outcome.CallID))
		l.tell(&r, p.ID)
		if over = over || r.Outcome.Loop == runtime.LoopExit; r.Outcome.Kind == runtime.Pending {
			return true // ctx has ended
		}
		fmt.Fprintf(&b, "The call %s of %s has ended: %s\n", cmp.Or(p.ID, p.Outcome.CallID), p.Tool, r.Text)
	}
	if l.pending = nil; b.Len() > 0 {
		l.add(Message{Role: User, Text: strings.TrimSpace(b.String())})
	}
	return over
}

// stopped is for a message without calls. The run is over then, unless a call that waits has to end
// first, or the model is reminded of what it has to do.
func (l *Loop) stopped(ctx context.Context) (over bool) {
	if len(l.pending) > 0 {
		return l.await(ctx, nil)
	}
	status := l.Run.ModelStopped(ctx)
	if status.Reminder == "" {
		return true
	}
	l.add(Message{Role: User, Text: status.Reminder})
	return false
}
