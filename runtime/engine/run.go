package engine

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// A RunConfig describes a Run, or a part of one.
type RunConfig struct {
	ID string // empty: one is made
}

// A Run is one request of a user, handled to its end: the calls of all turns that it took.
// WithPrincipal and Child return other views of the same run.
type Run struct {
	session   *Session
	id        string
	agent     string // the sub-agent that calls; empty: the run itself
	principal string
	facts     factView
	part      *part
}

// A part is the unit of a run that can be closed: the whole run, or that of a sub-agent.
type part struct {
	above   *part // nil: the whole run
	calls   *runCalls
	workers sched.Gate // calls whose goroutines have not ended

	active  []*call // without an outcome; guarded by the session, as are the fields below
	parts   []*part // of sub-agents
	agents  int     // ids of sub-agents made by Child
	closing bool
	over    *sched.Event // fires when the part is closed; nil: no goroutine waits for that
	final   *RunStatus   // set when the run is closed
}

// ID returns the id of r.
func (r *Run) ID() string {
	if r == nil {
		return ""
	}
	return r.id
}

// Agent returns the name of the sub-agent that r belongs to, empty for none.
func (r *Run) Agent() string {
	if r == nil {
		return ""
	}
	return r.agent
}

// WithPrincipal returns r for calls that are made on behalf of another principal. The principal has
// its own counters, order, groups and grants. The run, its phase and the limit that all its tools
// share are the same.
func (r *Run) WithPrincipal(principal string) *Run {
	if r == nil || r.session == nil {
		return r
	}
	return &Run{session: r.session, id: r.id, agent: r.agent, principal: readable(principal), part: r.part}
}

// Child returns r for the calls of a sub-agent, which has the id of cfg. The sub-agent has its own
// counters, and shares the run, the successes in it and the limit that all tools share. A call of
// it is denied, or needs consent, wherever a call of its parent would; it has none of the grants of
// its parent. Closing the child ends only its own calls.
func (r *Run) Child(cfg RunConfig) *Run {
	if r == nil || r.session == nil {
		return r
	}
	s := r.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if cfg.ID = readable(cfg.ID); cfg.ID == "" {
		r.part.agents++
		cfg.ID = "agent-" + strconv.Itoa(r.part.agents)
	}
	if r.agent != "" {
		cfg.ID = r.agent + "/" + cfg.ID
	}
	p := &part{above: r.part, calls: r.part.calls, closing: r.part.closing}
	if p.closing {
		p.workers.Shut()
	}
	r.part.parts = append(r.part.parts, p)
	return &Run{session: s, id: r.id, agent: cfg.ID, principal: r.principal, part: p}
}

// runState returns the RunState for the state s of the rules.
func runState(s rules.RunState) runtime.RunState {
	if s >= rules.RunClosed {
		return runtime.RunFinished
	}
	return runtime.RunState(s)
}

// A RunStatus describes the state of a run.
type RunStatus struct {
	ID          string           `json:"run"`
	State       runtime.RunState `json:"state"`
	Invocations map[string]int   `json:"invocations"`            // by tool: slots in use, of this agent and principal; tools with none are omitted
	Succeeded   []string         `json:"succeeded"`              // tools with a success that was not undone, in registration order
	Active      int              `json:"active"`                 // calls without an outcome
	Waiting     []string         `json:"waiting,omitempty"`      // calls that wait for consent
	PendingExit []string         `json:"pending_exit,omitempty"` // required tools that are open, in registration order
	Reminders   int              `json:"reminders,omitempty"`    // given to a model that stopped
	Reminder    string           `json:"reminder,omitempty"`     // for the model, from ModelStopped
}

// Status returns the status of r. For a closed run it is the status at the time of closing.
func (r *Run) Status() RunStatus {
	if r == nil || r.session == nil {
		return RunStatus{ID: r.ID(), State: runtime.RunFinished, Invocations: map[string]int{}}
	}
	r.session.mu.Lock()
	defer r.session.mu.Unlock()
	return r.status()
}

// status is Status. The session's lock is held.
func (r *Run) status() RunStatus {
	if r.part.final != nil {
		return *r.part.final
	}
	st := RunStatus{ID: r.id, Invocations: map[string]int{}}
	in := r.session.state.Status(r.id)
	st.State, st.Waiting, st.PendingExit, st.Reminders = runState(in.State), in.Waiting, in.PendingExit, in.Reminders
	if r.part.workers.IsShut() {
		st.State = runtime.RunFinished
	}
	st.Active = len(r.part.active)
	facts := r.look()
	for i, t := range r.session.exec.tools {
		f := facts.Tool(i)
		if f.Invocations > 0 {
			st.Invocations[t.spec.Name] = int(f.Invocations)
		}
		if f.Successes > 0 {
			st.Succeeded = append(st.Succeeded, t.spec.Name)
		}
	}
	return st
}

// ModelStopped records that the model answered without a call, and returns the status of the run.
// While required tools are open, the status has a Reminder for the model, until the reminders are
// used up and the run is incomplete. While a call waits for consent, ModelStopped changes nothing.
func (r *Run) ModelStopped(_ context.Context) RunStatus {
	if r == nil || r.session == nil {
		return r.Status()
	}
	s := r.session
	s.exec.approvals.tick()
	s.mu.Lock()
	defer s.mu.Unlock()
	if ev, err := s.state.Stop(s.exec.instant(s.exec.sched.Now()), r.id); err == nil {
		s.note(&ev)
		s.recordRun(journal.KindRunStopped, r.id)
	}
	st := r.status()
	if st.State == runtime.RunRunning || st.State == runtime.RunCleanup {
		st.Reminder = "the run cannot end yet: call " + strings.Join(st.PendingExit, ", ") + " first"
	}
	return st
}

// Close ends r: it cancels the calls without an outcome (run_closed); later calls are denied
// run_finished. It waits for the handlers. When ctx ends first, the error says how many handlers
// still run.
func (r *Run) Close(ctx context.Context) error {
	ctx = orBackground(ctx)
	if r == nil || r.session == nil {
		return nil
	}
	s := r.session
	s.mu.Lock()
	parts := r.part.shut(s.exec, nil)
	var active []*call
	for _, p := range parts {
		active = append(active, p.active...)
	}
	s.mu.Unlock()
	slices.SortFunc(active, func(a, b *call) int { return a.record.number - b.record.number })
	s.exec.all(active, func(c *call) {
		c.cancel(runtime.ReasonRunClosed)
		c.mu.Lock()
		over := c.over() // another goroutine may be about to end the call
		c.mu.Unlock()
		s.exec.sched.Wait(over, nil, nil)
	})
	if r.part.above == nil {
		r.end()
	}
	var left int64
	for _, p := range parts {
		left += p.workers.Wait(&s.exec.sched, nil, ctx.Done())
	}
	if err := s.exec.log.FlushAll(); err != nil {
		return fmt.Errorf("run %q: %w", r.id, err)
	}
	if left > 0 {
		return fmt.Errorf("run %q: %d handlers are still running: %w", r.id, left, context.Cause(ctx))
	}
	return nil
}

// end closes the run in the rules and retains its final status.
func (r *Run) end() {
	s := r.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.part.final != nil {
		return
	}
	st := r.status()
	st.State = runtime.RunFinished
	if s.state.RunState(r.id) == rules.RunIncomplete {
		st.State = runtime.RunIncomplete
	}
	r.part.final = &st
	if _, ev, err := s.state.CloseRun(s.exec.instant(s.exec.sched.Now()), r.id); err == nil {
		s.note(&ev)
		s.recordRun(journal.KindRunClosed, r.id)
	}
	s.closePart(r.id)
}

// shut closes p and its parts for new calls, and returns them appended to list. The session's lock
// is held.
func (p *part) shut(e *Executor, list []*part) []*part {
	p.workers.Shut()
	if p.over != nil && !p.closing {
		e.sched.Fire(p.over)
	}
	p.closing = true
	list = append(list, p)
	for _, q := range p.parts {
		list = q.shut(e, list)
	}
	return list
}

// all calls f for every call, concurrently, because each may have to wait for a write under its
// fence. In a simulation, or for a single call, it runs them one after the other.
func (e *Executor) all(calls []*call, f func(*call)) {
	if e.sched.Counts() || len(calls) < 2 {
		for _, c := range calls {
			f(c)
		}
		return
	}
	var done sync.WaitGroup
	for _, c := range calls {
		done.Go(func() { f(c) })
	}
	done.Wait()
}
