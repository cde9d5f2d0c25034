package engine

import (
	"context"
	"errors"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/artifact"
	"github.com/ambit-tools/ambit/runtime/internal/callctx"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/outcomes"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// errNothing is the error of a reconcile handler that knows that the call had no effect and will have none.
var errNothing = errors.New("the call had no effect")

// A reconcileQuestion asks the reconcile handler of a tool what became of a call.
type reconcileQuestion struct {
	Tool        *tools.Tool
	Info        callctx.Info
	Args        wire.Value           // that the call ran with
	Obligations []runtime.Obligation // of the call
	Mask        func(wire.Raw) (wire.Raw, error)
	Store       func(context.Context, wire.Value, wire.Raw) (*runtime.StoredOutput, error)
	Hold        func() // keeps the session of the call until LetGo, for as long as the handler runs
	LetGo       func()
}

// A reconcileAnswer is what a reconcile handler found.
type reconcileAnswer struct {
	Value   wire.Value // nil: the call had no effect
	Outcome runtime.Outcome
}

// askReconcile asks within the deadline of the tool. Its error says why the outcome of the call is still unknown; late says
// that the handler has not returned. An output that is longer than the tool answers is stored (SEMANTICS 6.7).
func (q *reconcileQuestion) Ask(ctx context.Context, s *sched.Scheduler) (a reconcileAnswer, late bool, err error) {
	var found reconcileAnswer // used only if the handler returns in time
	q.Hold()
	err = deadline.Call(s, ctx, q.Tool.Deadline(), func(ctx context.Context) (err error) {
		defer q.LetGo()
		found, err = q.ask(ctx)
		return err
	})
	if errors.Is(err, errNothing) {
		return reconcileAnswer{Outcome: outcomes.NoEffect("the tool found")}, false, nil
	}
	if err != nil {
		var overdue *deadline.OverdueError
		return reconcileAnswer{}, errors.As(err, &overdue), err
	}
	return found, false, nil
}

// ask calls the handler and checks its output as that of a handler.
func (q *reconcileQuestion) ask(ctx context.Context) (a reconcileAnswer, err error) {
	value, text, err := askReconcile(ctx, q.Tool, q.Info, q.Args)
	if err != nil {
		return a, err
	}
	if text, err = q.Mask(text); err != nil {
		return a, err
	}
	a = reconcileAnswer{Value: value, Outcome: runtime.Outcome{Kind: runtime.Completed, Output: text, Obligations: q.Obligations}}
	if artifact.Needed(q.Tool.Spec.Artifact, text) {
		a.Outcome.Output = nil
		a.Outcome.Artifact, err = q.Store(ctx, value, text)
	}
	return a, err
}
