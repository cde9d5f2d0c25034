package stream

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/host/internal/httpguard"
)

// A client is a program at a socket.
type client struct {
	stream *Stream
	viewer viewer
	conn   *websocket.Conn
	queue  *queue
	cancel context.CancelCauseFunc // of the connection

	subscribed bool
	following  sync.WaitGroup
}

// subscribe returns the position after which the events of a client come, and the function that begins
// them. A client subscribes once.
func (c *client) subscribe(ctx context.Context, want subscription) (*uint64, func(), *httpguard.Problem) {
	if c.subscribed {
		return nil, nil, httpguard.ProblemOf(httpguard.BadRequest, "the socket has a subscription: open another one")
	}
	after, filter, problem := want.check(c.stream.feed)
	if problem != nil {
		return nil, nil, problem
	}
	c.subscribed = true
	c.queue.begin(after)
	return &after, func() {
		c.following.Go(func() {
			if err := c.stream.follow(ctx, c.queue, c.viewer, after, filter); !errors.Is(err, errStalled) {
				c.cancel(err)
			}
		})
	}, nil
}

// A decision is an answer to a request for consent. Who answers is known from the connection.
type decision struct {
	Request string              `json:"request"`
	Approve *bool               `json:"approve"` // no value approves by default
	Message string              `json:"message"` // of a denial: the model reads it
	Grant   string              `json:"grant"`   // once, duration or session; empty: once
	For     string              `json:"for"`     // of a grant that lasts a duration, such as 1h
	Cover   string              `json:"cover"`   // exact, args or tool; empty: exact
	Where   []consent.Predicate `json:"where"`   // of a grant that covers args
	Binding consent.Digest      `json:"binding"` // of the request as it was shown: approval.binding
	Edit    json.RawMessage     `json:"edit"`    // other arguments to run instead
}

// answered says what became of an answer, as [engine.Executor.Decide] does.
type answered struct {
	Resolution string `json:"resolution"` // accepted, recorded or rejected
	Call       string `json:"call,omitempty"`
	State      string `json:"state,omitempty"`     // of the call
	Missing    int    `json:"missing,omitempty"`   // approvals that are still wanted
	Rewritten  bool   `json:"rewritten,omitempty"` // the policy changed the edit of the answer, which approves nothing
	Grant      string `json:"grant,omitempty"`     // that the answer leaves behind
}

// decide answers a request for consent in the name of the client.
func (c *client) decide(ctx context.Context, d decision) (*answered, *httpguard.Problem) {
	if !c.stream.limit.Take(c.viewer.by.ID) {
		return nil, httpguard.ProblemOf(httpguard.TooManyRequests, "30 answers at once, then one a second")
	}
	if d.Approve == nil {
		return nil, httpguard.ProblemOf(httpguard.NoDecision, "approve is true or false")
	}
	a, err := d.answer()
	if err != nil {
		return nil, httpguard.ProblemOf(httpguard.BadRequest, "request and approve are wanted; grant, for and cover have the values of docs/stream.md")
	}
	a.By = c.viewer.by
	res := c.viewer.exec.Decide(ctx, d.Request, a)
	out := &answered{Resolution: res.Kind.String(), Call: res.Call, Missing: res.Missing, Rewritten: res.Rewritten}
	if res.Call != "" {
		out.State = res.State.String()
	}
	if res.Granted != nil {
		out.Grant = res.Granted.ID
	}
	if res.Kind != runtime.ResolutionRejected {
		return out, nil
	}
	return out, httpguard.Rejected(res.Reason, res.Detail)
}

func (d *decision) answer() (a action.Answer, err error) {
	if d.Request == "" || d.Approve == nil {
		return a, errors.New("an answer lacks its request, or what it says")
	}
	a = action.Answer{NoWait: true, Approve: *d.Approve, Message: d.Message, CoverArgs: d.Where, Edit: d.Edit, Binding: d.Binding}
	if d.Grant != "" {
		err = a.Grant.UnmarshalText([]byte(d.Grant))
	}
	if d.Cover != "" && err == nil {
		err = a.Cover.UnmarshalText([]byte(d.Cover))
	}
	if d.For != "" && err == nil {
		a.For, err = time.ParseDuration(d.For)
	}
	return a, err
}
