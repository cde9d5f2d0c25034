package replay

import (
	"context"
	"sync"
	"time"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/simulated"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// A Candidate is what recordings are replayed against.
type Candidate struct {
	// Declaration has the tools and their rules.
	Declaration *dsl.File
	// Policy makes the policy; nil: everything is allowed that the rules allow.
	Policy func(*runtime.Registry) (runtime.Policy, error)

	// Each judges each call by itself, on the state that the recording has made before it, and goes on after a difference.
	Each bool
	// Since is the time before which calls are let do what they did, and not judged. The zero value judges all.
	Since time.Time
}

// A simulation is a recording that is being run.
type simulation struct {
	rec       *recording
	clock     *simulated.Clock
	reg       *runtime.Registry
	policy    runtime.Policy
	patient   map[string]bool // the tools that run again after a timeout
	inputs    map[string]*dynamic.Type
	each      bool
	since     time.Time
	journal   *journal.Memory         // what the replay has recorded
	artifacts runtime.MemoryArtifacts // of all processes

	process       *process            // the present one
	number        int                 // of the present process, as in the recording
	recovering    *journal.Record     // with it the present process has begun; nil: its recovery is over
	exec          *simulated.Executor // of the present process
	sessions      map[string]*engine.Session
	configs       map[string]engine.SessionConfig
	runs          map[*run]*engine.Run
	agents        map[agentKey]*engine.Run
	turns         map[turnKey]*engine.Turn
	transactional transactional
	uncertain     uncertain

	voted    map[string]int  // answers that were given, by the recorded id of the request
	barred   map[string]bool // the operator policy kept the latest actor from answering; likewise
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

	principal string // with capabilities of its own; empty: that of the session
}

func newSimulation(rec *recording, c *Candidate) (*simulation, error) {
	sim := &simulation{
		rec: rec, clock: simulated.NewClock(), each: c.Each, since: c.Since, patient: map[string]bool{}, inputs: map[string]*dynamic.Type{}, journal: &journal.Memory{},
		configs: map[string]engine.SessionConfig{}, sessions: map[string]*engine.Session{}, runs: map[*run]*engine.Run{},
		agents: map[agentKey]*engine.Run{}, turns: map[turnKey]*engine.Turn{}, voted: map[string]int{}, barred: map[string]bool{}, diverged: map[string]*run{},
	}
	if len(rec.steps) > 0 {
		sim.clock = simulated.ClockAt(rec.steps[0].r.At)
	}
	sim.transactional.sim, sim.uncertain.sim = sim, sim
	for _, run := range rec.runs {
		for _, one := range run.calls {
			one.early = one.made.Before(c.Since)
			one.repeated = c.Each || one.early
		}
	}
	var err error
	if sim.reg, err = sim.registry(c.Declaration); err != nil {
		return nil, err
	}
	var policy runtime.Policy = runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	})
	if c.Policy != nil {
		if policy, err = c.Policy(sim.reg); err != nil {
			return nil, err
		}
	}
	sim.policy = policy
	return sim, nil
}

// registry returns the tools of the candidate with stand-ins for their handlers.
// They never run an attempt again, unless it was interrupted by the end of a process:
// all other attempts of a recorded call are one here.
func (sim *simulation) registry(file *dsl.File) (*runtime.Registry, error) {
	loaded, err := dynamic.Load(file)
	if err != nil {
		return nil, err
	}
	tools := make([]*runtime.Tool, len(loaded))
	for i, t := range loaded {
		spec := *t.Spec
		if spec.Retry != nil {
			once := *spec.Retry
			once.OnTimeout = false // and the stand-ins' errors are permanent
			sim.patient[spec.Name] = spec.Retry.OnTimeout
			spec.Retry = &once
		}
		sim.inputs[spec.Name] = t.Input
		opts := append(t.StandIn(), runtime.WithDynamicUndo(t.State, t.Output, prepare, undo), runtime.WithDynamicPreview(preview))
		tools[i] = runtime.NewDynamicTool(&spec, sim.codec(t.Input), sim.handle, opts...)
	}
	return runtime.NewRegistry(tools...)
}

// A gate blocks goroutines until it is open.
type gate struct {
	ch      chan struct{}
	waiting int
	open    bool
}

func newGate() *gate { return &gate{ch: make(chan struct{})} }

// wait waits until a gate is open.
func (sim *simulation) wait(g *gate) {
	sim.mu.Lock()
	if g.open {
		sim.mu.Unlock()
		return
	}
	g.waiting++
	sim.clock.Busy(-1)
	sim.mu.Unlock()
	<-g.ch
}

// open opens gates.
func (sim *simulation) open(gates ...*gate) {
	sim.mu.Lock()
	defer sim.mu.Unlock()
	for _, g := range gates {
		if g != nil && !g.open {
			g.open = true
			sim.clock.Busy(g.waiting) // the goroutines that waited have work to do again
			close(g.ch)
		}
	}
}
