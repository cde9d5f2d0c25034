package engine_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
)

func exits(s *runtime.Spec) { s.Rules.ExitLoop = true }

func required(s *runtime.Spec) { s.Rules.RequiredBeforeExit = true }

// TestExitIsHeld: an exit tool is refused while calls of its run wait for consent. The model is told to wait for them.
//
// SEMANTICS 4.14.9, 4.18.4
func TestExitIsHeld(t *testing.T) {
	r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{
		readTool(okRead, named("pay"), asking()), readTool(okRead, named("finish"), exits),
	}, engine.WithPendingRequests())
	run := r.run()
	c1 := run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c1", "pay", goodInput))
	c2 := run.WithPrincipal("other").Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c2", "pay", goodInput))
	c3 := run.Child(engine.RunConfig{}).Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c3", "pay", goodInput))
	exit := func(id string) runtime.Outcome {
		return run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf(id, "finish", goodInput))
	}
	held := exit("c4")
	assert.Equal(t, runtime.ReasonPrerequisiteMissing, held.Reason)
	assert.Equal(t, []string{"c1", "c2", "c3"}, held.Detail.Waiting)
	assert.Equal(t, runtime.LoopWait, held.Loop)
	assert.Equal(t, runtime.RunWaiting, held.Run)
	assert.Equal(t, `"finish" ends the run, and the calls "c1", "c2", "c3" wait for consent; what would help: `+
		`wait until c1 (pay) is answered, then wait until c2 (pay) is answered, then wait until c3 (pay) is answered`, held.Message)
	for i, asked := range []runtime.Outcome{c1, c2, c3} {
		require.Equal(t, runtime.ResolutionAccepted, r.exec.Decide(t.Context(), asked.RequestID, action.Answer{By: runtime.ProgramActor("alice"), Approve: i%2 == 0}).Kind)
	}
	assert.Equal(t, runtime.LoopExit, exit("c5").Loop)
}

// A leaving run is one whose exit tool runs while other calls begin to wait for consent.
type leaving struct {
	*rig
	run  *engine.Run
	exit <-chan runtime.Outcome
	end  chan struct{}
}

// leave starts the exit of a run. tools are beside finish.
func leave(t *testing.T, j journal.Journal, tools ...*runtime.Tool) *leaving {
	began, end := make(chan struct{}), make(chan struct{})
	finish := readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
		close(began)
		<-end
		return okRead(ctx, in)
	}, named("finish"), exits)
	r := recovered(t, j, append(tools, finish)...)
	run := r.run()
	l := &leaving{r, run, told(run.Turn(engine.TurnConfig{}), callOf("exit", "finish", goodInput)), end}
	<-began
	return l
}

func (l *leaving) ask(id, tool string) runtime.Outcome {
	l.t.Helper()
	out := l.run.Turn(engine.TurnConfig{}).Execute(l.t.Context(), callOf(id, tool, goodInput))
	require.Equal(l.t, runtime.Pending, out.Kind, out.Message)
	return out
}

// TestEndOfARunEndsItsRequests: no request is open that no answer could help, when the caller of the exit is answered.
//
// SEMANTICS 4.14.10
func TestEndOfARunEndsItsRequests(t *testing.T) {
	for name, c := range map[string]struct {
		tools []*runtime.Tool
		run   runtime.RunState
		pay   runtime.Reason
	}{
		"finished": {run: runtime.RunFinished, pay: runtime.ReasonRunFinished},
		"clean-up": {tools: []*runtime.Tool{readTool(okRead, named("save"), required, asking())}, run: runtime.RunCleanup, pay: runtime.ReasonExiting},
	} {
		t.Run(name, func(t *testing.T) {
			var j journal.Memory
			tools := append(c.tools, readTool(okRead, named("pay"), asking()))
			l := leave(t, &j, tools...)
			pay := l.ask("pay", "pay")
			var save runtime.Outcome
			if len(c.tools) > 0 {
				save = l.ask("save", "save")
			}
			close(l.end)
			out := <-l.exit
			require.Equal(t, runtime.Completed, out.Kind)
			assert.Equal(t, c.run, out.Run)
			ended := l.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).Await(t.Context(), "pay")
			assert.Equal(t, runtime.Denied, ended.Kind)
			assert.Equal(t, c.pay, ended.Reason)
			assert.Equal(t, consent.AlreadyResolved, l.exec.Decide(t.Context(), pay.RequestID, yes("alice")).Reason)
			if len(c.tools) > 0 {
				assert.Equal(t, []string{"save"}, ended.Detail.PendingExit)
				require.Len(t, l.exec.Requests(), 1)
				second := l.ask("second", "save")
				res := l.exec.Decide(t.Context(), save.RequestID, yes("alice"))
				assert.Equal(t, runtime.RunFinished, res.Outcome.Run, "what is required could still be approved")
				assert.Equal(t, consent.AlreadyResolved, l.exec.Decide(t.Context(), second.RequestID, yes("alice")).Reason)
			}
			assert.Empty(t, l.exec.Requests())
			assert.Empty(t, l.run.Status().Waiting)
			require.NoError(t, l.exec.Shutdown(t.Context()))
			assert.Empty(t, recovered(t, &j, append(tools, readTool(okRead, named("finish"), exits))...).exec.Requests())
		})
	}
}

// TestRequestsOfAFinishedRunEndAtTheStart: what a crash has left, or a version that let the exit succeed.
//
// SEMANTICS 4.14.10
func TestRequestsOfAFinishedRunEndAtTheStart(t *testing.T) {
	var j journal.Memory
	pay := readTool(okRead, named("pay"), asking())
	l := leave(t, &j, pay)
	asked := l.ask("pay", "pay")
	close(l.end)
	require.Equal(t, runtime.Completed, (<-l.exit).Kind)
	require.NoError(t, l.exec.Shutdown(t.Context()))
	entries, err := j.Read(t.Context(), 0, 1000)
	require.NoError(t, err)
	var cut journal.Memory
	for _, e := range entries {
		if e.Call == "pay" && e.Kind == runtime.EventDenied.String() {
			break
		}
		require.NoError(t, cut.Append(t.Context(), []journal.Entry{e}))
	}
	r := recovered(t, &cut, pay, readTool(okRead, named("finish"), exits))
	assert.Empty(t, r.exec.Requests())
	assert.Equal(t, consent.AlreadyResolved, r.exec.Decide(t.Context(), asked.RequestID, yes("alice")).Reason)
	assert.Equal(t, runtime.ReasonRunFinished, r.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).Await(t.Context(), "pay").Reason)
	require.NoError(t, r.exec.Shutdown(t.Context()))
}

// TestResolvedExitEndsRequests: an exit whose outcome was unknown has succeeded, as an operator says.
//
// SEMANTICS 4.14.10
func TestResolvedExitEndsRequests(t *testing.T) {
	var s shared
	begun := make(chan struct{})
	tools := func(run readFunc) []*runtime.Tool {
		return []*runtime.Tool{readTool(okRead, named("pay"), asking()), readTool(run, named("finish"), exits, writes)}
	}
	old := recovered(t, s.take(), tools(func(ctx context.Context, _ *readInput) (*readOutput, error) {
		close(begun)
		<-ctx.Done()
		return nil, ctx.Err()
	})...)
	turn := old.turn()
	out := told(turn, callOf("exit", "finish", goodInput))
	<-begun
	asked := turn.Execute(t.Context(), callOf("pay", "pay", goodInput))
	require.Equal(t, runtime.Pending, asked.Kind)

	r := recovered(t, s.take(), tools(okRead)...)
	require.Len(t, r.exec.Requests(), 1, "it is not known that the run has ended")
	require.NoError(t, r.exec.Resolve(t.Context(), "s", "exit", action.ResolveRequest{By: runtime.ProgramActor("ops"), TookEffect: true}))
	assert.Empty(t, r.exec.Requests())
	assert.Equal(t, runtime.ReasonRunFinished, r.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).Await(t.Context(), "pay").Reason)
	require.Error(t, old.exec.Shutdown(within(t, 0)))
	<-out
	require.NoError(t, r.exec.Shutdown(t.Context()))
}
