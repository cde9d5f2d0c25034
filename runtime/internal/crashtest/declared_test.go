package crashtest

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// changes are what a later declaration may do to each key of a tool that is optional.
var changes = map[string]func(*runtime.Spec){
	"as it was":                 func(*runtime.Spec) {},
	"version":                   func(s *runtime.Spec) { s.Version, s.Pin = "2", "2" },
	"effect: read":              func(s *runtime.Spec) { s.Effect = runtime.SideEffectRead },
	"effect: destructive":       func(s *runtime.Spec) { s.Effect = runtime.SideEffectDestructive },
	"idempotent":                func(s *runtime.Spec) { s.Idempotent = !s.Idempotent },
	"transactional":             func(s *runtime.Spec) { s.Transactional = true },
	"capabilities":              func(s *runtime.Spec) { s.Capabilities = []string{"more"} },
	"behaviors":                 func(s *runtime.Spec) { s.Behaviors = []string{"other"} },
	"modes":                     func(s *runtime.Spec) { s.Modes = []runtime.Mode{{Name: "m", Values: []string{"on"}}} },
	"deadline":                  func(s *runtime.Spec) { s.Deadline = time.Millisecond },
	"limits":                    func(s *runtime.Spec) { s.Limits = runtime.Limits{Input: 1, Output: 1, Concurrency: 1} },
	"no retry":                  func(s *runtime.Spec) { s.Retry = nil },
	"retry":                     func(s *runtime.Spec) { s.Idempotent, s.Retry = true, &runtime.Retry{Max: 9} },
	"safe_errors":               func(s *runtime.Spec) { s.SafeErrors = true },
	"heartbeat":                 func(s *runtime.Spec) { s.Heartbeat = true },
	"no dedupe":                 func(s *runtime.Spec) { s.Dedupe = runtime.Dedupe{} },
	"dedupe":                    func(s *runtime.Spec) { s.Dedupe = runtime.Dedupe{Mode: runtime.DedupeAlways} },
	"idempotency":               func(s *runtime.Spec) { s.Idempotency = &runtime.Idempotency{Key: []string{"text"}, Window: time.Hour} },
	"no consent":                func(s *runtime.Spec) { s.Consent = nil },
	"consent":                   func(s *runtime.Spec) { s.Consent = &runtime.Consent{Ask: runtime.ConsentAskAlways, Quorum: 2} },
	"no undo":                   func(s *runtime.Spec) { s.Undo = nil },
	"a shorter undo":            func(s *runtime.Spec) { s.Undo = &runtime.UndoSpec{TTL: time.Nanosecond} },
	"no artifact":               func(s *runtime.Spec) { s.Artifact = nil },
	"artifact":                  func(s *runtime.Spec) { s.Artifact = &runtime.Artifact{Over: 1} },
	"no rules":                  func(s *runtime.Spec) { s.Rules = runtime.Rules{} },
	"start_constraint":          func(s *runtime.Spec) { s.Rules.StartConstraint = true },
	"requires_preceding":        func(s *runtime.Spec) { s.Rules.RequiresPreceding = []string{"first"} },
	"must_precede":              func(s *runtime.Spec) { s.Rules.MustPrecede = []string{"first"} },
	"exclusive_group":           func(s *runtime.Spec) { s.Rules.ExclusiveGroups = []string{"h", "i"} },
	"required_before_exit":      func(s *runtime.Spec) { s.Rules.RequiredBeforeExit = true },
	"max_calls":                 func(s *runtime.Spec) { s.Rules.MaxCalls = 1 },
	"cooldown":                  func(s *runtime.Spec) { s.Rules.Cooldown = time.Hour },
	"exit_loop":                 func(s *runtime.Spec) { s.Rules.ExitLoop = true },
	"continue_loop":             func(s *runtime.Spec) { s.Rules.ContinueLoop = true },
	"deprecated":                func(s *runtime.Spec) { s.Deprecated = &runtime.Deprecation{Since: "2"} },
	"removed":                   nil,
	"another name, as if added": func(s *runtime.Spec) { s.Name += "_2" },
}

// A shelf stores nothing.
type shelf struct{}

func (shelf) Put(context.Context, runtime.ArtifactRef, []byte) error { return nil }

func (shelf) Get(context.Context, runtime.ArtifactRef) ([]byte, error) { return nil, errEmpty }

// withChange makes an executor of the tools with one of them, or all, changed. Their
// handlers do nothing.
func withChange(t *testing.T, j journal.Journal, of *kind, change func(*runtime.Spec)) *engine.Executor {
	t.Helper()
	do := func(_ context.Context, in wire.Value) (wire.Value, error) { return in, nil }
	var tools []*runtime.Tool
	for _, spec := range specsWith(of, change) {
		var opts []runtime.DynamicOption
		if spec.Undo != nil {
			opts = append(opts, runtime.WithDynamicUndo(anything{}, anything{},
				func(context.Context, wire.Value) (wire.Value, error) { return nil, nil },
				func(context.Context, string, wire.Value, wire.Value, wire.Value) error { return nil }))
		}
		tools = append(tools, runtime.NewDynamicTool(spec, anything{}, do, opts...))
	}
	reg, err := runtime.NewRegistry(tools...)
	require.NoError(t, err)
	exec, err := engine.NewExecutor(reg, runtime.PolicyFunc(allow), engine.WithJournal(j), engine.WithPendingRequests(),
		engine.WithErrorHandler(func(*action.CallError) {}), engine.WithMinimumBudget(0),
		engine.WithArtifacts(shelf{}))
	require.NoError(t, err)
	return exec
}

// specsWith returns the declarations of the tools with one of them, or all, changed.
func specsWith(of *kind, change func(*runtime.Spec)) []*runtime.Spec {
	specs := []*runtime.Spec{{Name: "first"}}
	for _, k := range kinds {
		spec := &runtime.Spec{Name: k.name, Version: "1", Pin: k.name, Effect: runtime.SideEffectWrite, Deadline: deadline}
		if k.spec != nil {
			k.spec(spec)
		}
		spec.Reconcile = false // which would settle calls otherwise than the history does
		if of == nil || of == k {
			if change == nil {
				continue
			}
			change(spec)
		}
		if spec.Rules.RequiresPreceding != nil && of != k { // "put" may be gone
			spec.Rules.RequiresPreceding = []string{"first"}
		}
		specs = append(specs, spec)
	}
	return specs
}

// TestRecoveredUnderAnyDeclaration: histories of the battery are recovered under
// every change of the declaration of a tool. What was told before stays told.
// SEMANTICS 6.5.1
func TestRecoveredUnderAnyDeclaration(t *testing.T) {
	m, err := newMachine()
	require.NoError(t, err)
	w, err := newWorld(t.Context(), m)
	require.NoError(t, err)
	recoveries := 0
	for seed := range uint64(tries(t, 1, 25)) {
		require.NoError(t, w.fresh(seed))
		for range crashes {
			require.NoError(t, w.life())
			w.m.restart()
			history, err := w.readAll()
			require.NoError(t, err)
			told := toldIn(t, history)
			for name, change := range changes {
				for _, k := range append([]*kind{nil}, kinds...) {
					recoveries++
					if !recoverUnder(t, history, told, k, change) {
						t.Fatalf("seed %d: %q of %v", seed, name, k)
					}
				}
			}
		}
		require.NoError(t, w.last())
	}
	t.Logf("%d recoveries", recoveries)
	require.NoError(t, w.store.Close())
	require.NoError(t, m.db.Close())
}

// toldIn returns the calls of a history that have ended, with their outcome as the
// entry says it, and "undone" for those that were undone. It leaves out those of sessions that have ended.
func toldIn(t *testing.T, history []journal.Entry) map[journal.CallKey]string {
	told := map[journal.CallKey]string{}
	for i := range history {
		r, err := journal.Decode(history[i].Leaf)
		require.NoError(t, err)
		key := journal.CallKey{Session: r.Session, Call: r.Call}
		switch {
		case r.Kind == journal.KindSessionEnded:
			maps.DeleteFunc(told, func(of journal.CallKey, _ string) bool { return of.Session == r.Session })
		case r.Kind == runtime.EventUndone.String():
			told[key] = "undone"
		case r.Mark == journal.MarkEnded && r.Kind != runtime.EventUnknown.String():
			told[key] = r.Kind
		}
	}
	return told
}

// ends are the kinds of outcomes that an event of an ending has.
var ends = map[string][]runtime.OutcomeKind{
	"tool.completed": {runtime.Completed}, "tool.failed": {runtime.Failed}, "tool.denied": {runtime.Denied, runtime.Duplicate},
	"tool.aborted": {runtime.TimedOut, runtime.Cancelled, runtime.Failed},
}

// recoverUnder recovers a history with a kind of tools changed, or all of them.
func recoverUnder(t *testing.T, history []journal.Entry, told map[journal.CallKey]string, of *kind, change func(*runtime.Spec)) bool {
	j := new(journal.Memory)
	require.NoError(t, j.Append(t.Context(), history))
	exec := withChange(t, j, of, change)
	ok := assert.NoError(t, exec.Recover(t.Context()))
	for key, what := range told {
		s, id := exec.Session(engine.SessionConfig{ID: key.Session, Principal: session.Principal}), key.Call
		if what == "undone" {
			_, err := s.Undo(t.Context(), action.UndoRequest{CallID: id, By: runtime.ProgramActor("ops")})
			_, code := action.ResultOf(err)
			ok = assert.Equal(t, action.CodeAlreadyUndone, code, id) && ok
		} else {
			ok = assert.Contains(t, ends[what], s.Await(t.Context(), id).Kind, fmt.Sprint(id, " ", what)) && ok
		}
	}
	return assert.NoError(t, exec.Shutdown(context.Background())) && ok
}
