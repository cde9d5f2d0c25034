package shadow_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const goodInput = `{"path":"a.md","limit":2}`

// A readInput has the shape of generated code.
type readInput struct {
	Path  string
	Limit int64
}

var (
	readInputRule  = wire.ObjectRule{Names: []string{"path", "limit"}, Required: 2}
	readInputPath  = wire.StringRule{}
	readInputLimit = wire.IntRule{}
)

func (v *readInput) ReadMember(r *wire.Reader, name string) {
	switch name {
	case "path":
		wire.ReadString(r, &v.Path, &readInputPath)
	case "limit":
		wire.ReadInt(r, &v.Limit, &readInputLimit)
	}
}

func (v *readInput) Walk(w wire.Visitor) {
	wire.BeginObject(w, &readInputRule)
	wire.Member(w, "path", &v.Path, wire.WalkString, &readInputPath)
	wire.Member(w, "limit", &v.Limit, wire.WalkInt, &readInputLimit)
	wire.End(w)
}

// readTool returns a tool of the read shape.
func readTool(run func(context.Context, *readInput) (*readInput, error)) *runtime.Tool {
	spec := &runtime.Spec{Name: "file_read", Version: "1.0.0", Effect: runtime.SideEffectRead, Deadline: 5 * time.Second}
	return runtime.NewTool(spec, &readInputRule, run)
}

func okRead(_ context.Context, in *readInput) (*readInput, error) { return in, nil }

func allowAll(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
	return runtime.Decision{Effect: runtime.EffectAllow}, nil
}

// decide is a policy that always answers d.
func decide(d runtime.Decision) runtime.Policy {
	return runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) { return d, nil })
}

func callOf(id, input string) runtime.Call {
	return runtime.Call{ID: id, Tool: "file_read", Input: []byte(input)}
}

// A rig is an executor of one tool with a record of the faults that it reports.
type rig struct {
	t    *testing.T
	exec *engine.Executor

	mu     sync.Mutex
	faults []*action.CallError
}

func newRig(t *testing.T, policy runtime.Policy, tool *runtime.Tool, opts ...engine.Option) *rig {
	t.Helper()
	reg, err := runtime.NewRegistry(tool)
	require.NoError(t, err)
	r := &rig{t: t}
	opts = append(opts, engine.WithErrorHandler(r.fault))
	if time.Now().Year() > 2000 { // outside of a bubble of synctest a busy machine may slow a policy down
		opts = append(opts, engine.WithPolicyTimeout(time.Minute))
	}
	r.exec, err = engine.NewExecutor(reg, policy, opts...)
	require.NoError(t, err)
	require.NoError(t, r.exec.Recover(t.Context()))
	return r
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
	run, err := r.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).StartRun(r.t.Context(), engine.RunConfig{ID: "r"})
	require.NoError(r.t, err)
	return run
}

func (r *rig) turn() *engine.Turn { return r.run().Turn(engine.TurnConfig{Budget: time.Hour}) }
