package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/simhooks"
	"github.com/ambit-tools/ambit/runtime/internal/simulated"
	"github.com/ambit-tools/ambit/runtime/internal/walk"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// mainPrincipal is the principal of calls that name none.
const mainPrincipal = "agent"

// Setup says what cases run against.
type Setup struct {
	// Declaration, when it is set, has the tools: cases then declare neither
	// tools nor a policy.
	Declaration *dsl.File
	// Policy, when it is set, makes the policy of a case instead of its
	// stand-in.
	Policy func(*runtime.Registry) (runtime.Policy, error)

	// Now is when a case begins; zero: 2000-01-01T00:00:00Z.
	Now time.Time

	options []engine.Option // more of the executor
}

// Check reports what f must not declare, since s has it. The error is of type
// [dsl.Diagnostics].
func (s *Setup) Check(f *File, src []byte) error {
	if s.Declaration == nil && s.Policy == nil {
		return nil
	}
	r := &reader{path: f.Path}
	r.load(src)
	for _, c := range f.Cases {
		if c.declared != nil {
			r.report(*c.declared, "remove it, or run the file without --declaration",
				"case %s declares tools, rules or a policy, which come from the declaration", quote(c.Name))
		}
		for _, step := range c.steps {
			if _, ok := step.do.(setPolicyStep); ok {
				r.report(step.pos, "remove it, or run the file without --declaration", "set_policy replaces a stand-in policy, and there is none")
			}
		}
	}
	return r.found.Err()
}

// A simulation is a case that is being run.
type simulation struct {
	of      *Case
	clock   *simulated.Clock
	exec    *simulated.Executor
	session *engine.Session
	run     *engine.Run
	policy  *standIn
	own     map[string]time.Duration // the deadlines that are declared
	beats   map[string]bool          // tools that take request_heartbeat

	mu       sync.Mutex
	calls    map[string]*callStep      // by id: how their handlers behave
	got      map[string][]byte         // by call id: the arguments that a handler received
	invoked  map[string]int            // by tool
	shown    map[string][]byte         // by call id: what approvers saw
	terms    map[string]consent.Digest // by call id: the terms that they saw it in
	requests map[string]string         // by call id: the id of the request
	waiting  []string                  // calls whose requests are open, in their order
	errors   map[string]string         // by call id: what the error handler was told
	broken   error
}

// failed is the error handler of the executor.
func (sim *simulation) failed(e *action.CallError) {
	sim.mu.Lock()
	defer sim.mu.Unlock()
	if e.Err != nil && sim.errors[e.CallID] == "" {
		sim.errors[e.CallID] = e.Err.Error()
	}
}

func newSimulation(c *Case, s *Setup) (*simulation, error) {
	sim := &simulation{
		of: c, clock: simulated.NewClock(), policy: &standIn{now: c.policy}, own: c.deadlines, beats: map[string]bool{},
		calls: map[string]*callStep{}, got: map[string][]byte{}, invoked: map[string]int{},
		shown: map[string][]byte{}, terms: map[string]consent.Digest{}, requests: map[string]string{}, errors: map[string]string{},
	}
	if !s.Now.IsZero() {
		sim.clock = simulated.ClockAt(s.Now)
	}
	sim.clock.Patience = patience
	tools, err := sim.tools(s)
	if err != nil {
		return nil, err
	}
	reg, err := runtime.NewRegistry(tools...)
	if err != nil {
		return nil, err
	}
	var policy runtime.Policy = sim.policy
	if s.Policy != nil {
		if policy, err = s.Policy(reg); err != nil {
			return nil, err
		}
	}
	options := []engine.Option{
		engine.WithPendingRequests(), engine.WithReminders(c.reminders), engine.WithPolicyTimeout(policyTimeout), engine.WithErrorHandler(sim.failed),
	}
	sim.exec, err = simulated.New(context.Background(), sim.clock, new(simhooks.Hooks), reg, policy, append(options, s.options...)...)
	if err != nil {
		return nil, err
	}
	sim.session = sim.exec.Session(engine.SessionConfig{ID: "session", Principal: mainPrincipal, Capabilities: capabilities(reg)})
	return sim, sim.begin()
}

const (
	policyTimeout = time.Minute      // long: only the case waits for the answer
	patience      = 30 * time.Second // with a step, in real time
)

// capabilities are all that the tools require: a case has no way to grant them.
func capabilities(reg *runtime.Registry) []string {
	var all []string
	for _, t := range reg.All() {
		all = append(all, t.Spec().Capabilities...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// tools makes the tools of the case with stand-in handlers.
func (sim *simulation) tools(s *Setup) ([]*runtime.Tool, error) {
	file := sim.of.tools
	if s.Declaration != nil {
		file = s.Declaration
		sim.own = map[string]time.Duration{}
		for _, t := range file.Tools {
			sim.own[t.Name] = t.Deadline
		}
	}
	if file == nil {
		return []*runtime.Tool{placeholderTool()}, nil
	}
	loaded, err := dynamic.Load(file)
	if err != nil {
		return nil, err
	}
	tools := make([]*runtime.Tool, len(loaded))
	for i, t := range loaded {
		sim.beats[t.Spec.Name] = t.Spec.Heartbeat
		tools[i] = sim.tool(t)
	}
	return tools, nil
}

// placeholderTool returns the tool of an executor without tools: no call can name it.
func placeholderTool() *runtime.Tool {
	return runtime.NewDynamicTool(&runtime.Spec{
		Name: "nobody_0", Version: "1.0.0", Description: "A tool that is never called.", InputSchema: new("{}"), OutputSchema: new("{}"),
	}, rawCodec{}, func(context.Context, wire.Value) (wire.Value, error) { return nil, errors.New("nobody can be called") })
}

type rawCodec struct{}

// Decode implements runtime.Codec.
func (rawCodec) Decode(b []byte, l wire.Limits) (wire.Value, []wire.Violation) {
	return wire.ParseRaw(b, l)
}

// begin starts a run.
func (sim *simulation) begin() error {
	run, err := sim.session.StartRun(context.Background(), engine.RunConfig{})
	sim.run = run
	return err
}

// as returns the run for the calls of a principal.
func (sim *simulation) as(principal string) *engine.Run {
	if principal == mainPrincipal {
		return sim.run
	}
	return sim.run.WithPrincipal(principal, capabilities(sim.exec.Registry())...)
}

// context is that of a step: attempts made with it end as the case says.
func (sim *simulation) context() context.Context {
	return simhooks.With(context.Background(), &simhooks.Hooks{Deadline: sim.deadline})
}

// deadline says when an attempt is given up. Without a deadline of its tool
// that is up to the stand-in handler alone.
func (sim *simulation) deadline(callID string) (time.Duration, bool) {
	sim.mu.Lock()
	defer sim.mu.Unlock()
	c := sim.calls[callID]
	if c == nil {
		return 0, false
	}
	declared, own := sim.own[c.tool]
	switch {
	case c.handler == "timeout" && (!own || c.lasts && c.duration < declared):
		return c.duration, true
	case own:
		return 0, false
	}
	return c.duration + time.Hour, true
}

// handle is the stand-in handler of every tool.
func (sim *simulation) handle(ctx context.Context, tool string, in wire.Value) (wire.Value, error) {
	args, _ := wire.Append(nil, walk.Unruled{Of: in}) // what was decoded can be encoded
	info, _ := runtime.FromContext(ctx)
	sim.mu.Lock()
	c := sim.calls[info.ID]
	sim.got[info.ID] = args
	sim.invoked[tool]++
	sim.mu.Unlock()
	if c == nil {
		return wire.Raw("{}"), nil
	}
	due := info.Deadline()
	if end := sim.clock.Now().Add(c.duration); c.handler != "timeout" && end.Before(due) {
		if c.duration > 0 {
			sim.clock.Sleep(c.duration)
		}
		if c.handler == "error" {
			return nil, errors.New("the stand-in handler fails, as the case says")
		}
		return wire.Raw("{}"), nil
	}
	sim.clock.Sleep(due.Sub(sim.clock.Now()) + outlives)
	if ctx.Err() == nil {
		return nil, fmt.Errorf("call %q was not given up at its deadline", info.ID)
	}
	return nil, ctx.Err()
}

// outlives is how long a stand-in handler goes on after it was given up: until
// the grace is over, after which such a call can be undone.
const outlives = 5 * time.Second
