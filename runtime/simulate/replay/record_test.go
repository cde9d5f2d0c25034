package replay_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/processes"
	"github.com/ambit-tools/ambit/runtime/internal/simulated"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A recorder runs an executor with a journal on a virtual clock. What its calls
// do is in their arguments: {"ms": how long, "how": ok, error, hang, long or panic}.
type recorder struct {
	t       *testing.T
	clock   *simulated.Clock
	journal *store
	exec    *engine.Executor
	ses     *engine.Session
	run     *engine.Run
	turn    *engine.Turn
	cancels map[string]context.CancelFunc
	gone    map[string]chan struct{}
	runs    int
	effect  func(context.Context) error // of all handlers; nil: none
}

// tools is a declaration of tools that have extra members.
func tools(extra map[string]string) string {
	var b strings.Builder
	b.WriteString("ambit: v1\npackage: recorded\ntools:\n")
	for _, name := range toolNames {
		fmt.Fprintf(&b, "  %s:\n    version: 1.0.0\n    description: Does %s.\n    output: {type: object}\n", name, name)
		b.WriteString("    input: {type: object, properties: {ms: {type: integer, description: How long.}, how: {type: string, description: How.}, n: {type: integer, description: Which.}, key: {type: string, description: Secret., x-sensitive: true}}}\n")
		b.WriteString(extra[name])
	}
	return b.String()
}

var toolNames = []string{"a", "b", "c", "d"}

func parse(t *testing.T, text string) *dsl.File {
	t.Helper()
	file, err := dsl.Parse("tools.yaml", []byte(text))
	require.NoError(t, err, text)
	return file
}

func newRecorder(t *testing.T, file *dsl.File, policy runtime.Policy) *recorder {
	t.Helper()
	return newRecorderOf(t, file, policy, engine.WithPendingRequests())
}

func newRecorderOf(t *testing.T, file *dsl.File, policy runtime.Policy, opts ...engine.Option) *recorder {
	t.Helper()
	r := &recorder{
		t: t, clock: simulated.NewClock(), journal: newStore(),
		cancels: map[string]context.CancelFunc{}, gone: map[string]chan struct{}{},
	}
	r.open(file, policy, opts...)
	r.session(engine.SessionConfig{ID: "s", Principal: "agent"})
	r.newRun()
	return r
}

// open makes the executor and lets it read the journal.
func (r *recorder) open(file *dsl.File, policy runtime.Policy, opts ...engine.Option) {
	t := r.t
	t.Helper()
	loaded, err := dynamic.Load(file)
	require.NoError(t, err)
	var list []*runtime.Tool
	for _, tool := range loaded {
		list = append(list, runtime.NewDynamicTool(tool.Spec, tool.Input, r.handle, runtime.WithDynamicUndo(tool.State, tool.Output,
			func(context.Context, wire.Value) (wire.Value, error) { return nil, nil },
			func(context.Context, string, wire.Value, wire.Value, wire.Value) error { return nil }), runtime.WithDynamicPreview(preview)))
	}
	reg, err := runtime.NewRegistry(list...)
	require.NoError(t, err)
	r.exec, err = engine.NewExecutor(reg, policy, append([]engine.Option{
		engine.WithClock(r.clock), engine.WithJournal(r.journal), engine.WithReminders(1), engine.WithPolicyTimeout(time.Hour),
	}, opts...)...)
	require.NoError(t, err)
	r.do(func() { require.NoError(t, r.exec.Recover(t.Context())) })
}

// preview fails as the arguments want it.
func preview(_ context.Context, in wire.Value) (p runtime.Preview, err error) {
	text, _ := wire.Append(nil, in)
	if v, violations := wire.ParseRaw(text, wire.Limits{}); violations == nil && word(v, "how") == "blind" {
		err = errors.New("mischief")
	}
	return runtime.Preview{Text: string(text)}, err
}

func (r *recorder) handle(ctx context.Context, in wire.Value) (wire.Value, error) {
	text, _ := wire.Append(nil, in)
	ms, how := 0, "ok"
	if v, violations := wire.ParseRaw(text, wire.Limits{}); violations == nil {
		ms, how = number(v, "ms"), word(v, "how")
	}
	_ = runtime.Report(ctx, runtime.Progress{Text: "begun, "}) // it is fenced after the outcome
	if ms > 0 {
		r.clock.Sleep(time.Duration(ms) * time.Millisecond)
		_ = runtime.Report(ctx, runtime.Progress{Done: int64(ms), Text: how})
	}
	if r.effect != nil {
		if err := r.effect(ctx); err != nil {
			return nil, err
		}
	}
	switch how {
	case "error":
		return nil, errors.New("mischief")
	case "panic":
		panic("mischief")
	case "crowded": // as a command on a host without room
		return nil, processes.NotRun(runtime.ReasonAtCapacity)
	case "changed":
		return nil, processes.NotRun(runtime.ReasonProgramChanged)
	case "busy":
		return nil, runtime.Transient(errors.New("busy"))
	case "long":
		return wire.Raw(`{"done": "` + strings.Repeat("long ", 200) + `"}`), nil
	case "hang":
		info, _ := runtime.FromContext(ctx)
		r.clock.Sleep(info.Remaining() + 3*time.Second)
	}
	return wire.Raw(`{"done": true}`), nil
}

// begin lets f run as long as it can without time.
func (r *recorder) begin(f func()) chan struct{} {
	done := make(chan struct{})
	r.clock.Busy(1)
	go func() {
		defer r.clock.Busy(-1)
		defer close(done)
		f()
	}()
	require.NoError(r.t, r.clock.Advance(0))
	return done
}

func (r *recorder) do(f func()) {
	<-r.begin(f)
	require.NoError(r.t, r.clock.Advance(0))
}

func (r *recorder) advance(d time.Duration) { require.NoError(r.t, r.clock.Advance(d)) }

func (r *recorder) session(cfg engine.SessionConfig) {
	r.do(func() { r.ses = r.exec.Session(cfg) })
}

func (r *recorder) newRun() {
	if r.run != nil {
		r.do(func() { _ = r.run.Close(gone()) })
	}
	r.runs++
	r.do(func() {
		var err error
		r.run, err = r.ses.StartRun(r.t.Context(), engine.RunConfig{ID: fmt.Sprint("r", r.runs)})
		require.NoError(r.t, err)
	})
	r.newTurn(engine.TurnConfig{})
}

func (r *recorder) newTurn(cfg engine.TurnConfig) {
	r.turn = r.run.Turn(cfg)
}

// call makes a call and waits no time for it.
func (r *recorder) call(turn *engine.Turn, in runtime.Call) {
	ctx, cancel := context.WithCancel(context.Background())
	r.cancels[in.ID] = cancel
	r.gone[in.ID] = r.begin(func() { turn.Execute(ctx, in) })
}

// answer answers the request of a call, if there is one.
func (r *recorder) answer(call string, a action.Answer) {
	if id := r.requestOf(call); id != "" {
		r.begin(func() { r.exec.Decide(context.Background(), id, a) })
	}
}

func (r *recorder) requestOf(call string) (id string) {
	r.do(func() {
		for _, q := range r.exec.Requests() {
			if q.CallID == call {
				id = q.ID
			}
		}
	})
	return id
}

// cancel gives a call up.
func (r *recorder) cancel(call string) {
	if cancel := r.cancels[call]; cancel != nil {
		cancel()
		<-r.gone[call]
		r.advance(0)
	}
}

// end lets everything come to its end.
func (r *recorder) end() *store {
	r.advance(time.Minute)
	r.do(func() { _ = r.run.Close(gone()) })
	require.NoError(r.t, r.clock.Perform(func() { _ = r.exec.Shutdown(context.Background()) }))
	for _, cancel := range r.cancels {
		cancel()
	}
	return r.journal
}

func gone() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// A play is random operations, which are the same for every declaration.
type play struct {
	*recorder
	rng   *rand.Rand
	alike bool // most calls are equal
	loose bool // calls of a batch are made one by one: the rules decide which of them wait for other calls
	calls int
	turns time.Duration
}

func (p *play) some() string { return fmt.Sprint("c", 1+p.rng.IntN(max(p.calls, 1))) }

// input is random arguments.
func (p *play) input() []byte {
	how := []string{"ok", "ok", "ok", "ok", "error", "panic", "hang", "busy"}[p.rng.IntN(8)]
	ms := []int{0, 0, 700, 2500, 4000}[p.rng.IntN(5)]
	if how == "panic" {
		ms = min(ms, 700)
	}
	if p.alike {
		return fmt.Appendf(nil, `{"ms":%d,"how":%q}`, []int{0, 0, 2500}[p.rng.IntN(3)], []string{"ok", "error"}[p.rng.IntN(2)])
	}
	return fmt.Appendf(nil, `{"ms":%d,"how":%q,"n":%d}`, ms, how, p.rng.IntN(2))
}

func (p *play) next() runtime.Call {
	p.calls++
	return runtime.Call{ID: fmt.Sprint("c", p.calls), Tool: toolNames[p.rng.IntN(len(toolNames))], Input: p.input()}
}

// step does one random thing.
func (p *play) step() {
	switch n := p.rng.IntN(30); {
	case n < 9:
		p.call(p.turn, p.next())
	case n < 11:
		in, turn := p.next(), p.turn
		p.begin(func() { _, _ = turn.StartCall(in) })
	case n < 13:
		p.batch()
	case n < 14:
		in := p.next()
		in.Principal = "other"
		p.call(p.turn, in)
	case n < 15:
		in := p.next()
		p.call(p.run.Child(engine.RunConfig{ID: "helper"}).Turn(engine.TurnConfig{}), in)
	case n < 20:
		a := action.Answer{By: runtime.ProgramActor("alice"), Approve: p.rng.IntN(4) > 0, Message: "so be it"}
		if a.Grant = consent.GrantLifetime(p.rng.IntN(3)); a.Grant == consent.ForDuration {
			a.For = 5 * time.Second
		}
		if p.rng.IntN(4) == 0 {
			a.Edit = []byte(`{"ms":100,"how":"ok","n":7}`)
		}
		p.answer(p.some(), a)
	case n < 21:
		id := p.some()
		p.begin(func() {
			p.ses.Undo(context.Background(), action.UndoRequest{CallID: id, By: runtime.ProgramActor("bob")})
		})
	case n < 22:
		if id := p.some(); p.rng.IntN(2) == 0 {
			p.cancel(id)
		} else {
			p.do(func() { p.ses.Cancel(context.Background(), id, runtime.ProgramActor("bob"), "enough") })
		}
	case n < 23:
		p.turns++ // no two turns end at one instant
		p.newTurn(engine.TurnConfig{
			Budget:      []time.Duration{0, 6*time.Second + p.turns, 20*time.Second + p.turns}[p.rng.IntN(3)],
			Cap:         []time.Duration{0, 0, 1500 * time.Millisecond}[p.rng.IntN(3)],
			ConsentWait: []time.Duration{0, 0, 4 * time.Second}[p.rng.IntN(3)],
		})
	case n < 24 && p.rng.IntN(3) == 0:
		p.newRun()
	case n < 25:
		p.do(func() { p.run.ModelStopped(context.Background()) })
	case n < 26 && p.rng.IntN(3) == 0:
		p.revoke()
	case n < 27 && p.rng.IntN(6) == 0:
		until := p.clock.Now().Add(3 * time.Second)
		p.do(func() { _ = p.exec.SuspendConsent(context.Background(), until, runtime.ProgramActor("bob"), "a test") })
	default:
		p.advance(time.Duration(p.rng.IntN(3000)) * time.Millisecond)
	}
}

// revoke takes a grant back.
func (p *play) revoke() {
	n := p.rng.IntN(4)
	p.do(func() {
		for i, g := range p.exec.Grants(action.GrantFilter{}) {
			if i%4 == n {
				p.exec.Revoke(context.Background(), g.ID, runtime.ProgramActor("bob"), "enough")
			}
		}
	})
}

// batch makes calls at once.
func (p *play) batch() {
	var calls []runtime.Call
	for range 2 + p.rng.IntN(2) {
		calls = append(calls, p.next())
	}
	turn := p.turn
	if p.loose {
		for _, in := range calls {
			p.call(turn, in)
		}
		return
	}
	p.begin(func() { turn.ExecuteBatch(context.Background(), calls, engine.Parallel) })
}
