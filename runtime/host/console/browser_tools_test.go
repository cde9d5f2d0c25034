package console_test

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// tools are those that only the tests of a browser need: hold, which runs until it is released, post, of which
// it is not known whether it took effect, plan, whose requests have a preview, and soon, whose requests expire
// while a person looks.
func (s *stage) tools() []*runtime.Tool {
	asked := func(timeout time.Duration, preview bool) *runtime.Consent {
		return &runtime.Consent{Ask: runtime.ConsentAskAlways, Approvers: []string{"alice", "bob"}, Reveal: []string{"pin"}, Message: "Send {text} to {to}?", AllowEdit: true, Preview: preview, Timeout: timeout}
	}
	answer := func(_ context.Context, in wire.Value) (wire.Value, error) { return in, nil }
	return []*runtime.Tool{
		runtime.NewDynamicTool(&runtime.Spec{Name: "hold", Effect: runtime.SideEffectWrite}, codec{}, s.hold),
		runtime.NewDynamicTool(&runtime.Spec{Name: "post", Effect: runtime.SideEffectWrite}, codec{}, func(ctx context.Context, in wire.Value) (wire.Value, error) {
			_, err := runtime.WritePartOf(ctx, elsewhere{})
			return in, err
		}),
		runtime.NewDynamicTool(&runtime.Spec{Name: "plan", Title: "Plan a letter", Limits: runtime.Limits{Input: 8 << 20, Output: 8 << 20}, Effect: runtime.SideEffectWrite, Consent: asked(0, true)}, codec{}, answer,
			runtime.WithDynamicPreview(func(context.Context, wire.Value) (runtime.Preview, error) {
				return runtime.Preview{MediaType: "text/x-diff", Text: diff}, nil
			})),
		runtime.NewDynamicTool(&runtime.Spec{Name: "soon", Effect: runtime.SideEffectWrite, Consent: asked(3*time.Second, false)}, codec{}, answer),
	}
}

const diff = `--- a/letters/ada.txt
+++ b/letters/ada.txt
@@ -1,4 +1,4 @@
 Dear Ada,
-the invoice of 10 euros is due on Monday.
+the invoice of 99 euros is due on Monday.
-Yours, Bob
+Yours, Alice, and greetings from everybody who has worked on the engine in the last years
 P.S. none
`

// hold reports what a script says until it is released.
func (s *stage) hold(ctx context.Context, in wire.Value) (wire.Value, error) {
	s.begun <- struct{}{}
	for {
		select {
		case text := <-s.said:
			if err := runtime.Report(ctx, runtime.Progress{Text: text}); err != nil {
				return nil, err
			}
		case <-s.held:
			return in, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// elsewhere is a system that never says whether it has committed.
type elsewhere struct{}

func (elsewhere) Begin(context.Context, runtime.CallKey) (runtime.Part, error) {
	return elsewhere{}, nil
}
func (elsewhere) Unsettled(context.Context) ([]runtime.CallKey, error) { return nil, nil }
func (elsewhere) Settle(context.Context, runtime.CallKey, bool) error  { return nil }
func (elsewhere) Seal(context.Context) ([]byte, error)                 { return []byte("sealed"), nil }
func (elsewhere) Commit(context.Context) error                         { return runtime.ErrMaybeCommitted }
func (elsewhere) Rollback(context.Context) error                       { return nil }
func (elsewhere) Foreign()                                             {}

// run makes calls in a run of its own: one that completes, one that waits for an answer, one that is denied and one
// of a sub-agent. The id of the request is the answer.
func (c *control) run(o *order) any {
	s := c.of(o)
	run, err := s.Executor.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).StartRun(c.Context(), engine.RunConfig{ID: o.ID})
	require.NoError(c, err)
	turn := run.Turn(engine.TurnConfig{})
	require.Equal(c, runtime.Denied, s.execute(turn, o.ID+" denied", "seal", "ada", o.Text).Kind)
	require.Equal(c, runtime.Completed, s.execute(turn, o.ID+" done", "note", "ada", o.Text).Kind)
	require.Equal(c, runtime.Pending, s.execute(turn, o.ID+" asks", "send", "ada", o.Text).Kind)
	helper := run.Child(engine.RunConfig{ID: "helper"}).Turn(engine.TurnConfig{})
	require.Equal(c, runtime.Completed, s.execute(helper, o.ID+" helps", "note", "ada", o.Text).Kind)
	list := s.Executor.Requests()
	return list[len(list)-1].ID
}

// await waits until the call of a request has ended.
func (c *control) await(o *order) any {
	q, ok := c.of(o).Executor.Request(o.ID)
	require.True(c, ok)
	return c.of(o).Executor.Await(c.Context(), q.Session, q.CallID).Kind.String()
}

// spoil damages the journal of a host.
func (c *control) spoil(o *order) any {
	s := c.of(o)
	s.damaged = true
	s.damage(o.Text)
	return nil
}

// big makes two calls of the tools that take anything, with arguments of bigArguments: one waits for an answer, and one
// runs. The id of the request is the answer.
func (c *control) big(o *order) any {
	s, input := c.of(o), bigArguments(wide)[o.Text]
	require.Equal(c, runtime.Pending, s.give("large "+o.Text, "large", input).Kind)
	require.Equal(c, runtime.Completed, s.give("heap "+o.Text, "heap", input).Kind)
	list := s.Executor.Requests()
	return list[len(list)-1].ID
}
