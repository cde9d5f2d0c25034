package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/simhooks"
	"github.com/ambit-tools/ambit/runtime/internal/simulated"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// A process is one of those that have made the recording: an executor on the journal
// of the replay. After it was killed, nothing that its executor still does is recorded.
type process struct {
	*journal.Memory // of all processes
	sim             *simulation
	killed          atomic.Bool
}

// Append implements journal.Journal.
func (p *process) Append(ctx context.Context, entries []journal.Entry) error {
	if p.killed.Load() {
		return nil
	}
	return p.Memory.Append(ctx, entries)
}

// Emit implements runtime.Sink.
func (p *process) Emit(ev *runtime.Event) error {
	c := p.sim.rec.calls[journal.CallKey{Session: ev.SessionID, Call: ev.CallID}]
	if c == nil || p.killed.Load() {
		return nil
	}
	p.sim.mu.Lock()
	defer p.sim.mu.Unlock()
	c.play.seen = append(c.play.seen, ev.Kind)
	if ev.RequestID != "" {
		c.play.request = ev.RequestID
	}
	return nil
}

// observe is told of outcomes.
func (p *process) observe(info runtime.CallInfo, out runtime.Outcome) {
	c := p.sim.rec.calls[journal.CallKey{Session: info.Session, Call: info.ID}]
	if c == nil || p.killed.Load() {
		return
	}
	p.sim.mu.Lock()
	defer p.sim.mu.Unlock()
	c.play.outcome = &out
}

// policyTimeout is as good as for ever: an evaluation waits here for the time at
// which it was made.
const policyTimeout = 1_000_000 * time.Hour

// beginProcess starts a process: an executor with the settings of the recorded one, nil
// when they are not recorded, which recovers what the processes before have left.
func (sim *simulation) beginProcess(ctx context.Context, settings *journal.Settings) error {
	sim.process = &process{Memory: sim.journal, sim: sim}
	hooks := &simhooks.Hooks{Context: sim.contextOf, Skip: sim.passes, Evaluations: math.MaxInt32} // which wait here
	options := []engine.Option{
		engine.WithJournal(sim.process), engine.WithParticipant("recorded", &sim.transactional),
		engine.WithParticipant("unknown", &sim.uncertain), engine.WithSink(sim.process), engine.WithMaxInFlight(math.MaxInt32),
		engine.WithObserver(sim.process.observe), engine.WithApprover(consent.ApproverFunc(sim.notify)),
		engine.WithPolicyTimeout(policyTimeout), engine.WithArtifacts(&sim.artifacts), engine.WithOperators(admits{}),
	}
	if settings != nil {
		options = append(options, engine.WithReminders(settings.Reminders), engine.WithMinimumBudget(settings.MinimumBudget))
	}
	exec, err := simulated.New(ctx, sim.clock, hooks, sim.reg, &waiting{sim, sim.policy}, options...)
	if exec != nil {
		sim.exec = exec
	}
	return err
}

// contextOf returns the context of a call: that of no caller.
func (sim *simulation) contextOf(session, id string) context.Context {
	c := sim.rec.calls[journal.CallKey{Session: session, Call: id}]
	ctx := context.WithValue(context.Background(), callKey{}, c)
	return simhooks.With(ctx, &simhooks.Hooks{
		Deadline: func(string) (time.Duration, bool) { return sim.deadline(c) }, Recorded: func(string) (*runtime.Consent, bool) { return c.recorded() },
	})
}

// restart kills the process that made the records so far, and starts another one that
// takes the journal over.
func (sim *simulation) restart(ctx context.Context, r *journal.Record) error {
	at, err := sim.kill(ctx)
	if err != nil {
		return err
	}
	if r.At.After(at) {
		at = r.At
	}
	sim.clock.Restart(at)
	sim.number++
	sim.recovering = r
	clear(sim.turns)
	clear(sim.agents)
	if err := sim.beginProcess(ctx, r.Settings); err != nil {
		return err
	}
	for id, cfg := range sim.configs {
		sim.sessions[id] = sim.exec.Session(cfg)
	}
	for of := range sim.runs {
		if run, open := sim.sessions[of.key.session].Run(of.key.run); open {
			sim.runs[of] = run
		}
	}
	return nil
}

// external reports whether a record is not, or need not be, one of the recovery that
// an owner of the journal began with.
func (s *step) external(owner *journal.Record) bool {
	switch s.r.Kind {
	case journal.KindSessionOpened, journal.KindSessionEnded, journal.KindRunStarted, journal.KindRunStopped, journal.KindRunClosed,
		runtime.EventInvoked.String(), runtime.EventApprovalDecided.String():
		return true
	}
	return s.r.At.After(owner.At)
}

// judgeAgain lets the calls be judged whose handlers a recovery runs again, and which
// have to wait for that: each takes its place among those that want a slot of its
// tool, in the order in which the records to come tell how they came out of it. With
// a call it is about those only that have their places before that call.
func (sim *simulation) judgeAgain(next []step, before *call) error {
	waiting := map[*call]bool{}
	for _, c := range sim.rec.calls {
		p := &c.play
		if p.decided != nil && !p.decided.open && p.outcome == nil && slices.Contains(p.seen, runtime.EventStarted) {
			waiting[c] = before == nil || c.tool == before.tool
		}
	}
	for i := range next {
		s := &next[i]
		ended := s.r.Mark == journal.MarkEnded
		switch {
		case len(waiting) == 0, s.r.Kind == journal.KindOwner, before != nil && s.call == before && (ended || s.r.Kind == runtime.EventStarted.String()):
			return nil
		case waiting[s.call] && (ended || s.r.Kind == runtime.EventRetrying.String()):
			delete(waiting, s.call)
			sim.open(s.call.play.decided)
			if err := sim.clock.Rest(); err != nil {
				return err
			}
		}
	}
	return nil
}

// passes reports whether the present process was killed before it has done anything
// about a call: perhaps in the middle of its recovery.
func (sim *simulation) passes(session, id string) bool {
	c := sim.rec.calls[journal.CallKey{Session: session, Call: id}]
	return c != nil && sim.number < sim.rec.process && !slices.Contains(c.touched, sim.number)
}

// kill ends the present process: what it has recorded is all that is left of it. It
// returns when that was.
func (sim *simulation) kill(ctx context.Context) (at time.Time, err error) {
	at = sim.clock.Now()
	if e := sim.exec.Do(ctx, func() { err = sim.exec.Hooks.Sync() }); e != nil {
		err = e
	}
	if err != nil {
		return at, err
	}
	sim.process.killed.Store(true)
	for _, c := range sim.rec.calls {
		sim.open(c.play.gates()...)
	}
	if _, err := sim.exec.End(); err != nil {
		return at, err
	}
	for _, c := range sim.rec.calls {
		c.play.survive()
	}
	return at, nil
}

// survive makes a call ready to go on in another process, when it has no outcome.
func (p *played) survive() {
	if p.cancel == nil {
		return
	}
	p.cancel()
	p.cancel = func() {} // its caller has ended
	if p.outcome != nil && p.outcome.Kind != runtime.Pending {
		return
	}
	p.decided, p.returns, p.commits = newGate(), newGate(), newGate()
	if !slices.Contains(p.seen, runtime.EventStarted) {
		p.begins = newGate()
		p.seen = slices.DeleteFunc(p.seen, func(k runtime.EventKind) bool { return k == runtime.EventAuthorized }) // it is judged again
	}
}

// resolve repeats the resolution of an unknown call.
func (sim *simulation) resolve(ctx context.Context, s *step) error {
	var o outcome
	if err := json.Unmarshal(s.r.Outcome, &o); err != nil {
		return fmt.Errorf("the outcome of call %q: %w", s.r.Call, err)
	}
	found := action.ResolveRequest{TookEffect: o.Kind == runtime.Completed, By: recorded(s.r.By)}
	return sim.exec.Do(ctx, func() { sim.exec.Resolve(ctx, s.r.Session, s.r.Call, found) })
}
