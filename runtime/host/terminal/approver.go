package terminal

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
)

// The errors of Notify.
var (
	// ErrNoTerminal says that there is no terminal, and so no person to ask.
	ErrNoTerminal = errors.New("standard input or output is not a terminal: nobody can be asked")
	// ErrEnded says that Serve has returned.
	ErrEnded = errors.New("the approver has stopped serving")
)

// A Decider takes answers. It is a [engine.Executor].
type Decider interface {
	Decide(ctx context.Context, requestID string, a action.Answer) action.Resolution
}

// An Approver receives requests and answers them one by one, in the order in which
// they came. It implements consent.Approver.
type Approver struct {
	by     runtime.Actor // whose answers these are; without an id: Func says
	begin  func(ctx context.Context) (answerer, error)
	mu     sync.Mutex
	queue  []notice
	more   chan struct{} // holds a value while the queue may hold one
	closed bool
}

// A notice is a request, and how long it stands.
type notice struct {
	ctx     context.Context
	request *consent.Notice
}

// An answerer carries on the conversation with the person or function that answers.
type answerer interface {
	// answer returns what is answered; false when nothing is. An error ends Serve.
	answer(ctx context.Context, r *consent.Notice) (action.Answer, bool, error)
	// told says what became of the answer.
	told(r *consent.Notice, res action.Resolution)
	// idle is called while there is nothing to answer. It ends with ctx.
	idle(ctx context.Context) error
}

func newApprover(by runtime.Actor, begin func(context.Context) (answerer, error)) *Approver {
	return &Approver{by: by, begin: begin, more: make(chan struct{}, 1)}
}

// Func returns an approver that is a function: what it returns is the answer, and
// when it returns false the request stays open for other approvers. The context ends
// with the request.
func Func(answer func(context.Context, *consent.Notice) (action.Answer, bool)) *Approver {
	return newApprover(runtime.Actor{}, func(context.Context) (answerer, error) { return function(answer), nil })
}

type function func(context.Context, *consent.Notice) (action.Answer, bool)

func (f function) answer(ctx context.Context, r *consent.Notice) (action.Answer, bool, error) {
	a, ok := f(ctx, r)
	return a, ok, nil
}

func (function) told(*consent.Notice, action.Resolution) {}

func (function) idle(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// Notify implements consent.Approver. It puts the request at the end of the queue
// and returns at once. It refuses what the approver could not answer, so that a
// call that no approver may answer ends instead of waiting.
func (a *Approver) Notify(ctx context.Context, r *consent.Notice) error {
	if err := a.may(r); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return ErrEnded
	}
	a.queue = append(a.queue, notice{ctx, r})
	a.signal()
	return nil
}

// may returns why the executor would reject every answer of this approver.
func (a *Approver) may(r *consent.Notice) error {
	if a.by.ID == "" {
		return nil
	}
	switch r.Requirement.Permits(a.by.ID, a.by.Groups, r.Principal) {
	case consent.NotRejected:
		return nil
	case consent.SelfApproval:
		return fmt.Errorf("%q acts in this session and may not approve its calls", a.by.ID)
	}
	return fmt.Errorf("%q is none of the approvers of %q, who are %q", a.by.ID, r.Tool, r.Requirement.Approvers)
}

func (a *Approver) signal() {
	select {
	case a.more <- struct{}{}:
	default:
	}
}

// next takes the first request that still stands.
func (a *Approver) next() (notice, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.queue) > 0 {
		n := a.queue[0]
		a.queue = a.queue[1:]
		if n.ctx.Err() == nil {
			return n, true
		}
	}
	return notice{}, false
}

// Serve answers requests through d, which is the executor that notifies a, until
// ctx is done. It may be called once. Its error says why it ended before; Notify
// refuses requests that come afterwards.
func (a *Approver) Serve(ctx context.Context, d Decider) error {
	defer func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.closed, a.queue = true, nil
	}()
	who, err := a.begin(ctx)
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		n, ok := a.next()
		if !ok {
			if err := a.wait(ctx, who); err != nil {
				return err
			}
			continue
		}
		if err := serve(ctx, n, who, d); err != nil {
			return err
		}
	}
	return nil
}

// serve answers one request.
func serve(ctx context.Context, n notice, who answerer, d Decider) error {
	asking, stop := context.WithCancel(n.ctx)
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	for {
		answer, ok, err := who.answer(asking, n.request)
		if err != nil || !ok {
			return err
		}
		answer.Binding = n.request.Binding
		// Not with asking: that the request has ended is for Decide to say.
		res := d.Decide(ctx, n.request.ID, answer)
		who.told(n.request, res)
		book, some := d.(interface {
			Request(id string) (*consent.Notice, bool)
		})
		if res.Reason != consent.TermsChanged && !res.Rewritten || !some {
			return nil
		}
		shown := n.request.Binding
		n.request, some = book.Request(n.request.ID) // as another approver, or the policy, has edited it
		if !some || n.request.Binding == shown {
			return nil
		}
	}
}

// wait returns when there may be a request, or ctx is done.
func (a *Approver) wait(ctx context.Context, who answerer) error {
	idle, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- who.idle(idle) }()
	select {
	case <-a.more:
		stop()
		return <-ended
	case <-ctx.Done():
		stop()
		return <-ended
	case err := <-ended:
		return err
	}
}
