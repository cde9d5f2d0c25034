package replay

import (
	"context"
	"sync"
	"time"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/virtual"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// A Candidate is what recordings are held against.
type Candidate struct {
	// Declaration has the tools and their rules.
	Declaration *dsl.File
	// Policy makes the policy; nil: everything is allowed that the rules allow.
	Policy func(*runtime.Registry) (runtime.Policy, error)
	// MinimumBudget is that of the recorded executor (runtime.WithMinimumBudget); 0:
	// the default. It is not recorded.
	MinimumBudget time.Duration
	// Reminders are those of the recorded executor (runtime.WithReminders).
	Reminders int
}

// A world is a recording that is being run.
type world struct {
	rec      *recording
	clock    *virtual.Clock
	exec     *runtime.Executor
	sessions map[string]*runtime.Session
	runs     map[*run]*runtime.Run
	agents   map[agentKey]*runtime.Run
	turns    map[turnKey]*runtime.Turn
	part     part
	voted    map[string]int // answers that were given, by the recorded id of the request
	diverged map[string]*run

	mu sync.Mutex // of what is played of calls
}

type agentKey struct {
	run   *run
	agent string
}

type turnKey struct {
	run   *run
	agent string
	ends  time.Time
	first *call
}

// policyTimeout is as good as for ever: an evaluation waits here for the time at
// which it was made.
const policyTimeout = 1_000_000 * time.Hour

func newWorld(rec *recording, c *Candidate) (*world, error) {
	w := &world{
		rec: rec, clock: virtual.New(), sessions: map[string]*runtime.Session{}, runs: map[*run]*runtime.Run{},
		agents: map[agentKey]*runtime.Run{}, turns: map[turnKey]*runtime.Turn{}, voted: map[string]int{}, diverged: map[string]*run{},
	}
	if len(rec.steps) > 0 {
		w.clock = virtual.At(rec.steps[0].r.At)
	}
	reg, err := w.registry(c.Declaration)
	if err != nil {
		return nil, err
	}
	var policy runtime.Policy = runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	})
	if c.Policy != nil {
		if policy, err = c.Policy(reg); err != nil {
			return nil, err
		}
	}
	options := []runtime.Option{
		runtime.WithClock(w.clock), runtime.WithJournal(nowhere{}), runtime.WithParticipant("recorded", &w.part), runtime.WithSink(w),
		runtime.WithObserver(w.observe), runtime.WithApprover(runtime.ApproverFunc(w.notify)), runtime.WithPolicyTimeout(policyTimeout),
		runtime.WithReminders(c.Reminders), runtime.WithArtifacts(new(runtime.MemoryArtifacts)),
	}
	if c.MinimumBudget > 0 {
		options = append(options, runtime.WithMinimumBudget(c.MinimumBudget))
	}
	if w.exec, err = runtime.NewExecutor(reg, &waiting{w, policy}, options...); err != nil {
		return nil, err
	}
	return w, w.exec.Recover(context.Background())
}

// registry returns the tools of the candidate with stand-ins for their handlers.
// They never run an attempt again: all attempts of a recorded call are one here.
func (w *world) registry(file *dsl.File) (*runtime.Registry, error) {
	loaded, err := dynamic.Load(file)
	if err != nil {
		return nil, err
	}
	tools := make([]*runtime.Tool, len(loaded))
	for i, t := range loaded {
		spec := *t.Spec
		if spec.Retry != nil {
			once := *spec.Retry
			once.Max = 0
			spec.Retry = &once
		}
		tools[i] = runtime.NewDynamicTool(&spec, t.Input, w.handle, runtime.WithDynamicUndo(t.State, t.Output, prepare, undo))
	}
	return runtime.NewRegistry(tools...)
}

// begin lets somebody do something that may take recorded time. It returns when
// nobody has anything to do but to wait; done is closed when f has returned.
func (w *world) begin(f func()) (done chan struct{}, err error) {
	done = make(chan struct{})
	w.clock.Busy(1)
	go func() {
		defer w.clock.Busy(-1)
		defer close(done)
		f()
	}()
	return done, w.clock.Rest()
}

// do is begin for what takes no recorded time: it returns when f has returned.
func (w *world) do(ctx context.Context, f func()) error {
	done, err := w.begin(f)
	if err != nil {
		return err
	}
	select {
	case <-done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return w.clock.Rest()
}

// A gate lets nobody through before it is open.
type gate struct {
	ch      chan struct{}
	waiting int
	open    bool
}

func newGate() *gate { return &gate{ch: make(chan struct{})} }

// wait waits until a gate is open.
func (w *world) wait(g *gate) {
	w.mu.Lock()
	if g.open {
		w.mu.Unlock()
		return
	}
	g.waiting++
	w.clock.Busy(-1)
	w.mu.Unlock()
	<-g.ch
}

// open opens gates.
func (w *world) open(gates ...*gate) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, g := range gates {
		if g != nil && !g.open {
			g.open = true
			w.clock.Busy(g.waiting) // they have something to do again
			close(g.ch)
		}
	}
}

// nowhere is a journal that keeps nothing: with it sessions can be configured
// anew and continued.
type nowhere struct{}

// Append implements journal.Journal.
func (nowhere) Append(context.Context, []journal.Entry) error { return nil }

// Read implements journal.Journal.
func (nowhere) Read(context.Context, uint64, int) ([]journal.Entry, error) { return nil, nil }

// Call implements journal.Journal.
func (nowhere) Call(context.Context, journal.CallKey) ([]journal.Entry, error) { return nil, nil }

// Unfinished implements journal.Journal.
func (nowhere) Unfinished(context.Context) ([]journal.CallKey, error) { return nil, nil }
