package engine_test

import (
	"context"
	"encoding/json"
	"math"
	goruntime "runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/internal/lockorder"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// All benchmarks use the same tool: {path, limit} -> {content, size}.

type plainInput struct {
	Path  string `json:"path"`
	Limit int64  `json:"limit"`
}

type plainOutput struct {
	Content string `json:"content"`
	Size    int64  `json:"size"`
}

const benchContent = "The quick brown fox jumps over the lazy dog, and the dog does not mind at all."

var benchInput = []byte(`{"path":"docs/guide/getting-started.md","limit":200}`)

func plainRead(_ context.Context, in *plainInput) (*plainOutput, error) {
	return &plainOutput{Content: benchContent, Size: in.Limit}, nil
}

func benchRead(_ context.Context, in *readInput) (*readOutput, error) {
	return &readOutput{Content: benchContent, Size: in.Limit}, nil
}

type nopSink struct{}

func (*nopSink) Emit(*runtime.Event) error { return nil }

func allowAll(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
	return runtime.Decision{Effect: runtime.EffectAllow}, nil
}

// plainCall is what a program does without this module.
func plainCall(ctx context.Context) ([]byte, error) {
	var in plainInput
	if err := json.Unmarshal(benchInput, &in); err != nil {
		return nil, err
	}
	out, err := plainRead(ctx, &in)
	if err != nil {
		return nil, err
	}
	return json.Marshal(out)
}

// checkedCall decodes, checks, runs, checks and encodes, and guards nothing.
func checkedCall(ctx context.Context) ([]byte, []wire.Violation) {
	in, violations := wire.Decode[readInput](benchInput, wire.Limits{}, &readInputRule)
	if violations != nil {
		return nil, violations
	}
	out, err := benchRead(ctx, in)
	if err != nil {
		return nil, nil
	}
	return wire.Append(nil, out)
}

// A bencher makes guarded calls. It changes to a new session now and then, because a
// session keeps its calls.
type bencher struct {
	exec *engine.Executor
	ids  [512]string
	turn *engine.Turn
	next int
}

func newBencher(b testing.TB, opts ...engine.Option) *bencher {
	spec := &runtime.Spec{Name: "file_read", Version: "1.0.0", Effect: runtime.SideEffectRead, Deadline: 5 * time.Second}
	reg, err := runtime.NewRegistry(runtime.NewTool(spec, &readInputRule, benchRead))
	if err != nil {
		b.Fatal(err)
	}
	g := &bencher{}
	g.exec, err = engine.NewExecutor(reg, runtime.PolicyFunc(allowAll), opts...)
	if err != nil {
		b.Fatal(err)
	}
	for i := range g.ids {
		g.ids[i] = "c" + strconv.Itoa(i)
	}
	return g
}

func (g *bencher) call(ctx context.Context) runtime.OutcomeKind {
	if g.next%len(g.ids) == 0 {
		run, err := g.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).StartRun(ctx, engine.RunConfig{})
		if err != nil {
			return runtime.Denied
		}
		g.turn = run.Turn(engine.TurnConfig{Budget: time.Hour})
	}
	id := g.ids[g.next%len(g.ids)]
	g.next++
	return g.turn.Execute(ctx, runtime.Call{ID: id, Tool: "file_read", Input: benchInput}).Kind
}

func BenchmarkPlainJSON(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if out, err := plainCall(b.Context()); err != nil || len(out) == 0 {
			b.Fatal(err)
		}
	}
}

func BenchmarkChecked(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if out, violations := checkedCall(b.Context()); violations != nil || len(out) == 0 {
			b.Fatal(violations)
		}
	}
}

func BenchmarkExecute(b *testing.B) {
	g := newBencher(b, engine.WithSink(&nopSink{}))
	b.ReportAllocs()
	for b.Loop() {
		if kind := g.call(b.Context()); kind != runtime.Completed {
			b.Fatal(kind)
		}
	}
}

// TestAllowedCallAllocates: an allowed call makes at most twelve allocations.
func TestAllowedCallAllocates(t *testing.T) {
	if battery.Race || lockorder.Checked {
		t.Skip("the race detector and the check of the locks' order allocate, too")
	}
	g := newBencher(t, engine.WithSink(&nopSink{}))
	fewest := math.Inf(1)
	for range 3 { // what the Go runtime does beside the calls is counted, too
		fewest = min(fewest, testing.AllocsPerRun(200, func() {
			if kind := g.call(t.Context()); kind != runtime.Completed {
				t.Fatal(kind)
			}
		}))
	}
	t.Logf("%v allocations", fewest)
	assert.LessOrEqual(t, fewest, 12.0)
}

// BenchmarkRatios measures the three in turn, many times, so that the load of the
// machine affects all of them, and reports the medians of the ratios.
func BenchmarkRatios(b *testing.B) {
	// With an almost empty heap the collector runs after every thousand calls;
	// that of a program that keeps something does not.
	keep := make([]byte, 32<<20)
	defer goruntime.KeepAlive(keep)
	g := newBencher(b, engine.WithSink(&nopSink{}))
	ctx := b.Context()
	const round = 500
	timed := func(f func()) float64 {
		start := time.Now()
		for range round {
			f()
		}
		return float64(time.Since(start)) / round
	}
	var checked, guarded []float64
	for b.Loop() {
		plain := timed(func() { _, _ = plainCall(ctx) })
		checked = append(checked, timed(func() { _, _ = checkedCall(ctx) })/plain)
		guarded = append(guarded, timed(func() { g.call(ctx) })/plain)
	}
	slices.Sort(checked)
	slices.Sort(guarded)
	b.ReportMetric(checked[len(checked)/2], "checked/plain")
	b.ReportMetric(guarded[len(guarded)/2], "guarded/plain")
}

// ruledTurns returns one turn in which file_read has no rules, and one in which it has
// all of them.
func ruledTurns(b *testing.B) map[string]*engine.Turn {
	turns, ctx := map[string]*engine.Turn{}, b.Context()
	tool := readTool(benchRead, func(s *runtime.Spec) {
		s.Set = &runtime.Rules{MaxCalls: 1 << 30, Cooldown: time.Nanosecond}
		s.Rules = runtime.Rules{
			RequiresPreceding: []string{"init"}, MustPrecede: []string{"publish"}, ExclusiveGroups: []string{"g", "h"},
			RequiredBeforeExit: true, MaxCalls: 1 << 30, Cooldown: time.Nanosecond, ContinueLoop: true,
			AllowedOperations: &runtime.AllowedOperations{Arg: "path", Values: []string{"docs/guide/getting-started.md"}},
		}
	})
	for name, tools := range map[string][]*runtime.Tool{
		"bare": {readTool(benchRead)},
		"ruled": {
			tool, readTool(benchRead, named("init"), ruled(func(r *runtime.Rules) { r.StartConstraint = true })),
			readTool(benchRead, named("publish"), ruled(func(r *runtime.Rules) { r.ExitLoop = true })),
		},
	} {
		reg, err := runtime.NewRegistry(tools...)
		if err != nil {
			b.Fatal(err)
		}
		exec, err := engine.NewExecutor(reg, runtime.PolicyFunc(allowAll), engine.WithSink(&nopSink{}))
		if err != nil {
			b.Fatal(err)
		}
		run, err := exec.Session(engine.SessionConfig{Principal: "agent"}).StartRun(ctx, engine.RunConfig{})
		if err != nil {
			b.Fatal(err)
		}
		turns[name] = run.Turn(engine.TurnConfig{})
		turns[name].Execute(ctx, runtime.Call{Tool: "init", Input: benchInput})
	}
	return turns
}

// BenchmarkRules measures guarded calls of a tool with every type of rule, after a
// thousand other calls in its run, beside calls without rules, and reports the median
// ratio.
func BenchmarkRules(b *testing.B) {
	keep := make([]byte, 32<<20)
	defer goruntime.KeepAlive(keep)
	ctx := b.Context()
	turns := ruledTurns(b)
	timed := func(name string) float64 {
		start := time.Now()
		for range 500 {
			if out := turns[name].Execute(ctx, runtime.Call{Tool: "file_read", Input: benchInput}); out.Kind != runtime.Completed {
				b.Fatal(out.Message)
			}
		}
		return float64(time.Since(start))
	}
	for range 2 {
		timed("bare")
		timed("ruled")
	}
	var ratios []float64
	for b.Loop() {
		bare := timed("bare")
		ratios = append(ratios, timed("ruled")/bare)
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "ruled/bare")
}

// BenchmarkOvershoot reports how long after the deadline the caller has the outcome of
// a handler that ignores the deadline, beside a bare context and select.
func BenchmarkOvershoot(b *testing.B) {
	const deadline = 2 * time.Millisecond
	overshoot := func(b *testing.B, call func(ctx context.Context)) {
		var over []float64
		for b.Loop() {
			start := time.Now()
			call(b.Context())
			over = append(over, float64(time.Since(start)-deadline))
		}
		slices.Sort(over)
		b.ReportMetric(over[len(over)/2]/1000, "µs-over(p50)")
		b.ReportMetric(over[len(over)*99/100]/1000, "µs-over(p99)")
	}
	hang := func() { time.Sleep(200 * deadline) }
	b.Run("bare", func(b *testing.B) {
		overshoot(b, func(ctx context.Context) {
			ctx, cancel := context.WithTimeout(ctx, deadline)
			defer cancel()
			done := make(chan struct{})
			go func() { hang(); close(done) }()
			select {
			case <-ctx.Done():
			case <-done:
			}
		})
	})
	b.Run("Execute", func(b *testing.B) {
		tool := readTool(func(context.Context, *readInput) (*readOutput, error) { hang(); return nil, nil },
			func(s *runtime.Spec) {
				s.Deadline, s.Idempotent, s.Retry = deadline, true, &runtime.Retry{OnTimeout: true}
			})
		reg, err := runtime.NewRegistry(tool)
		if err != nil {
			b.Fatal(err)
		}
		exec, err := engine.NewExecutor(reg, runtime.PolicyFunc(allowAll), engine.WithSink(&nopSink{}))
		if err != nil {
			b.Fatal(err)
		}
		run, err := exec.Session(engine.SessionConfig{}).StartRun(b.Context(), engine.RunConfig{})
		if err != nil {
			b.Fatal(err)
		}
		turn := run.Turn(engine.TurnConfig{})
		overshoot(b, func(ctx context.Context) {
			if out := turn.Execute(ctx, runtime.Call{Tool: "file_read", Input: benchInput}); out.Kind != runtime.TimedOut {
				b.Fatal(out.Kind)
			}
		})
		if err := exec.Shutdown(context.Background()); err != nil {
			b.Fatal(err)
		}
	})
}
