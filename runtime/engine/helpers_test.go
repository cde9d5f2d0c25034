package engine_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// journaled runs all tests once more on the path that records everything.
var journaled = flag.Bool("journaled", false, "give every executor a journal in memory")

func TestMain(m *testing.M) {
	switch kind := os.Getenv(signalled); kind {
	case "":
	case stoppedKind:
		os.Exit(beStopped())
	default:
		os.Exit(asChild(kind))
	}
	goleak.VerifyTestMain(m)
}

const goodInput = `{"path":"a.md","limit":2}`

// A rig is an executor of some tools with a record of what it reports.
type rig struct {
	t    *testing.T
	exec *engine.Executor
	sink runtime.MemorySink

	mu     sync.Mutex
	faults []*action.CallError
}

// newRig returns an executor whose policy allows every call.
func newRig(t *testing.T, tools ...*runtime.Tool) *rig {
	return newRigWith(t, runtime.PolicyFunc(allowAll), tools)
}

func newRigWith(t *testing.T, policy runtime.Policy, tools []*runtime.Tool, opts ...engine.Option) *rig {
	t.Helper()
	reg, err := runtime.NewRegistry(tools...)
	require.NoError(t, err)
	r := &rig{t: t}
	own := []engine.Option{engine.WithSink(&r.sink), engine.WithErrorHandler(r.fault)}
	if time.Now().Year() > 2000 { // outside of a bubble of synctest a busy machine may slow a policy down
		own = append(own, engine.WithPolicyTimeout(time.Minute))
	}
	if *journaled {
		own = append(own, engine.WithJournal(new(journal.Memory)))
	}
	opts = append(own, opts...)
	r.exec, err = engine.NewExecutor(reg, policy, opts...)
	require.NoError(t, err)
	if *journaled {
		require.NoError(t, r.exec.Recover(t.Context()))
	}
	return r
}

// recover reads the journal that a test has given, unless newRigWith has done so.
func (r *rig) recover() {
	r.t.Helper()
	if !*journaled {
		require.NoError(r.t, r.exec.Recover(r.t.Context()))
	}
}

func (r *rig) fault(e *action.CallError) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults = append(r.faults, e)
}

func (r *rig) allFaults() []*action.CallError {
	r.t.Helper()
	require.NoError(r.t, r.exec.Flush(r.t.Context()))
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]*action.CallError(nil), r.faults...)
}

func (r *rig) run() *engine.Run {
	r.t.Helper()
	id := "s"
	for i := 2; *journaled; i++ { // with a journal an id identifies one session
		if _, used := r.exec.Session(engine.SessionConfig{ID: id, Principal: "agent"}).Run("r"); !used {
			break
		}
		id = fmt.Sprint("s", i)
	}
	run, err := r.exec.Session(engine.SessionConfig{ID: id, Principal: "agent"}).StartRun(r.t.Context(), engine.RunConfig{ID: "r"})
	require.NoError(r.t, err)
	return run
}

func (r *rig) turn() *engine.Turn { return r.run().Turn(engine.TurnConfig{Budget: time.Hour}) }

// kinds returns the kinds of the events of a call, in order.
func (r *rig) kinds(callID string) (kinds []string) {
	for _, e := range r.sink.Events() {
		if e.CallID == callID {
			kinds = append(kinds, e.Kind.String())
		}
	}
	return kinds
}

type readFunc = func(context.Context, *readInput) (*readOutput, error)

// readTool returns a tool of the read shape.
func readTool(run readFunc, change ...func(*runtime.Spec)) *runtime.Tool {
	spec := &runtime.Spec{Name: "file_read", Version: "1.0.0", Effect: runtime.SideEffectRead, Deadline: 5 * time.Second}
	for _, f := range change {
		f(spec)
	}
	return runtime.NewTool(spec, &readInputRule, run)
}

// writes declares that a tool changes something.
func writes(s *runtime.Spec) { s.Effect = runtime.SideEffectWrite }

func named(name string) func(*runtime.Spec) { return func(s *runtime.Spec) { s.Name = name } }

func okRead(_ context.Context, in *readInput) (*readOutput, error) {
	return &readOutput{Content: in.Path, Size: in.Limit}, nil
}

func callOf(id, tool, input string) runtime.Call {
	return runtime.Call{ID: id, Tool: tool, Input: []byte(input)}
}

// decide is a policy that always answers d.
func decide(d runtime.Decision) runtime.Policy {
	return runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) { return d, nil })
}
