package replay

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// Run runs a recording against a candidate and says where that decides otherwise.
// The error says that the recording cannot be read, that the candidate makes no
// executor, or that ctx has ended. Run has no effect outside of the process, and does
// not wait for recorded time in real time.
func Run(ctx context.Context, src Source, c *Candidate) (*Report, error) {
	if c == nil || c.Declaration == nil {
		return nil, errors.New("a replay needs a declaration: set Candidate.Declaration")
	}
	rec, err := read(ctx, src)
	if err != nil {
		return nil, err
	}
	sim, err := newSimulation(rec, c)
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, sim.clock.GiveUp)()
	if rec.settings() != nil {
		sim.number = 1
	}
	if err = sim.beginProcess(ctx, rec.settings()); err == nil {
		err = sim.all(ctx)
		sim.finish()
	}
	if why := context.Cause(ctx); why != nil {
		return nil, why
	}
	if err != nil {
		return nil, err
	}
	reports := make([]*RunReport, 0, len(rec.runs))
	for _, r := range rec.runs {
		if one := sim.report(r); one != nil {
			reports = append(reports, one)
		}
	}
	return newReport(reports), nil
}

// all plays all records.
func (sim *simulation) all(ctx context.Context) error {
	for i := range sim.rec.steps {
		s := &sim.rec.steps[i]
		err := context.Cause(ctx)
		if err == nil && sim.recovering != nil && s.external(sim.recovering) {
			sim.recovering = nil
			err = sim.judgeAgain(sim.rec.steps[i:], nil)
		}
		if err == nil && sim.recovering != nil && s.r.Kind == runtime.EventAuthorized.String() {
			err = sim.judgeAgain(sim.rec.steps[i+1:], s.call)
		}
		if err == nil && s.r.Kind != journal.KindOwner { // until then no process ran
			err = sim.clock.Reach(s.r.At) // a recorded time before the present one does not move the clock
		}
		if err == nil {
			err = sim.play(ctx, s)
		}
		if err != nil {
			return fmt.Errorf("entry %d of the recording: %w", s.seq, err)
		}
	}
	return nil
}

// finish releases all goroutines that still wait, and shuts the executor down.
func (sim *simulation) finish() {
	for _, c := range sim.rec.calls {
		if p := &c.play; p.cancel != nil {
			p.cancel()
			sim.open(p.gates()...)
		}
	}
	_, _ = sim.exec.End()
}

// done returns a context that has ended: a method that takes it waits for nothing.
func done() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// play repeats the operation that a record is of.
func (sim *simulation) play(ctx context.Context, s *step) error {
	if s.r.Kind == journal.KindSessionEnded {
		return sim.endSession(ctx, s.r.Session)
	}
	if err := sim.consents(ctx, s.r.Consent); err != nil {
		return err
	}
	switch r := s.r; r.Kind {
	case journal.KindSessionOpened:
		sim.configs[r.Session] = configOf(r)
		return sim.exec.Do(ctx, func() { sim.sessions[r.Session] = sim.exec.Session(configOf(r)) })
	case journal.KindRunStarted:
		return sim.start(ctx, s)
	case journal.KindOwner:
		if s == &sim.rec.steps[0] { // the process has begun
			return nil
		}
		return sim.restart(ctx, r)
	case journal.KindRunStopped:
		if run := sim.runs[s.run]; run != nil {
			return sim.exec.Do(ctx, func() { run.ModelStopped(ctx) })
		}
		return nil
	case journal.KindRunClosed:
		return sim.closeRun(ctx, s.run, "")
	case journal.KindOperator:
		sim.noteAct(r)
		return nil
	}
	if s.call == nil || s.call.skip != "" || sim.runs[s.call.run] == nil {
		return sim.missed(s)
	}
	return sim.playCall(ctx, s)
}

// missed notes that a call of the run cannot be made: the decisions about later calls
// would be those of another run.
func (sim *simulation) missed(s *step) error {
	if c := s.call; c != nil && c.admitted && c.run.stop == "" {
		c.run.stop = fmt.Sprintf("it comes after call %q, which cannot be made again", c.key.Call)
	}
	return nil
}

// playCall repeats the operation on a call that a record is of.
func (sim *simulation) playCall(ctx context.Context, s *step) error {
	c := s.call
	switch r := s.r; r.Kind {
	case runtime.EventInvoked.String():
		if err := sim.invoke(ctx, c); err != nil {
			return err
		}
		return sim.judgeRepeat(ctx, c)
	case runtime.EventApprovalRequested.String(), runtime.EventAuthorized.String():
		return sim.decide(ctx, s)
	case runtime.EventStarted.String():
		sim.open(c.play.begins)
	case runtime.EventRetrying.String():
		sim.open(c.play.decided) // by another process, which has judged it once more
	case journal.KindCommitting:
		if o := c.outcome; o != nil && (o.Kind == runtime.Completed || o.Kind == runtime.Unknown) {
			sim.open(c.play.returns)
		}
	case runtime.EventReconciled.String():
		return sim.resolve(ctx, s)
	case runtime.EventApprovalDecided.String():
		return sim.answer(s)
	case runtime.EventLateResult.String():
		sim.open(c.play.returns)
	case runtime.EventUndone.String(), runtime.EventUndoFailed.String():
		return sim.undo(ctx, s)
	default:
		if r.Mark == journal.MarkEnded && c.outcome != nil && r.At.Equal(c.ended) {
			return sim.end(ctx, s)
		}
	}
	return sim.clock.Rest()
}

// configOf returns the configuration of a session.
func configOf(r *journal.Record) engine.SessionConfig {
	cfg := engine.SessionConfig{ID: r.Session, Principal: r.Principal, Rebind: true}
	if r.Setup != nil {
		cfg.Behavior, cfg.Modes, cfg.Capabilities = r.Setup.Behavior, r.Setup.Modes, r.Setup.Capabilities
	}
	return cfg
}

// start starts a run.
func (sim *simulation) start(ctx context.Context, s *step) (err error) {
	session := sim.sessions[s.r.Session]
	if session == nil {
		s.run.stop = "the recording does not have the beginning of its session"
		return nil
	}
	var started *engine.Run
	if e := sim.exec.Do(ctx, func() { started, err = session.StartRun(ctx, engine.RunConfig{ID: s.r.Run}) }); e != nil {
		return e
	}
	if err != nil {
		s.run.stop = "it cannot be started: " + err.Error()
		return nil
	}
	sim.runs[s.run] = started
	return nil
}

// agent returns the run as a sub-agent has it.
func (sim *simulation) agent(r *run, name string) *engine.Run {
	if name == "" {
		return sim.runs[r]
	}
	key := agentKey{r, name}
	if sim.agents[key] == nil {
		sim.agents[key] = sim.runs[r].Child(engine.RunConfig{ID: name})
	}
	return sim.agents[key]
}

// closeRun closes a run, or the part of a sub-agent.
func (sim *simulation) closeRun(ctx context.Context, r *run, agent string) error {
	if r == nil || sim.runs[r] == nil || r.closed {
		return nil
	}
	r.closed = agent == ""
	part := sim.agent(r, agent)
	return sim.exec.Do(ctx, func() { _ = part.Close(done()) })
}

// endSession ends a session, with its requests and grants.
func (sim *simulation) endSession(ctx context.Context, id string) error {
	s := sim.sessions[id]
	if s == nil { // the recording does not have its beginning
		return nil
	}
	return sim.exec.Do(ctx, func() { _ = s.End(done()) })
}

// invoke makes a call. It does not come further than its policy before the
// recorded one had answered.
func (sim *simulation) invoke(ctx context.Context, c *call) error {
	o := c.outcome
	orphaned := c.agent != "" && !c.admitted && o != nil && o.Reason == runtime.ReasonRunFinished && o.Run <= runtime.RunCleanup
	if orphaned { // that its sub-agent had been closed is not recorded otherwise
		if err := sim.closeRun(ctx, c.run, c.agent); err != nil {
			return err
		}
	}
	if _, _, known := sim.exec.Registry().Lookup(c.tool); known && !c.validated {
		c.skip = "its input is not recorded, since there was no such tool"
		return nil
	}
	p := &c.play
	p.decided, p.begins, p.returns, p.commits = newGate(), newGate(), newGate(), newGate()
	turn := sim.turnOf(c)
	callCtx, cancel := context.WithCancel(sim.contextOf(c.key.Session, c.key.Call))
	p.cancel = cancel
	in := c.request(c.args)
	if c.repeated && c.rewritten != nil {
		in = c.request(c.rewritten)
	}
	_, err := sim.exec.Begin(func() {
		if c.triggered {
			_, _ = turn.StartCall(in)
			return
		}
		turn.Execute(callCtx, in)
	})
	return err
}

// request is what the model sent, with some arguments.
func (c *call) request(args []byte) runtime.Call {
	return runtime.Call{ID: c.key.Call, Tool: c.tool, Input: c.input(args), Metadata: c.metadata, Principal: c.principal}
}

// input is the input of the call with some arguments.
func (c *call) input(args []byte) []byte {
	trimmed := bytes.TrimSpace(args)
	if !c.heartbeat || len(trimmed) == 0 || trimmed[0] != '{' {
		return args
	}
	member := `{"request_heartbeat":true`
	if rest := bytes.TrimSpace(trimmed[1:]); len(rest) > 0 && rest[0] != '}' {
		member += ","
	}
	return append([]byte(member), trimmed[1:]...)
}

// turnOf returns the turn of a call. The recording tells when a turn ends and not
// which calls were of it, which matters for one thing: a call that was blocked was
// of the turn in which its tool had timed out.
func (sim *simulation) turnOf(c *call) *engine.Turn {
	of := turnKey{c.run, c.agent, c.turnEnds, cmp.Or(c.blockedBy, c), ""}
	run := sim.agent(c.run, c.agent)
	if len(c.capabilities) > 0 {
		run, of.principal = run.WithPrincipal(c.principal, c.capabilities...), c.principal
	}
	if sim.turns[of] == nil {
		cfg, ends := engine.TurnConfig{Cap: c.turnCap, ConsentWait: c.patience}, c.turnEnds
		if !ends.IsZero() {
			if c.started && c.ended.After(ends) { // it had a grace, or was no part of the turn any more
				ends = c.ended.Add(time.Hour)
			}
			if cfg.Budget = ends.Sub(sim.clock.Now()); cfg.Budget == 0 {
				cfg.Budget = -1
			}
		}
		sim.turns[of] = run.Turn(cfg)
	}
	return sim.turns[of]
}

// consents repeats the consent events that concern no call: grants that were revoked,
// and consent that was switched off. It skips what a reload retired, which depends on
// the recorded policies.
func (sim *simulation) consents(ctx context.Context, events []consent.Event) error {
	for i := range events {
		switch ev := &events[i]; ev.Kind {
		case consent.EventRevoked:
			c := sim.rec.requests[ev.Grant]
			if c == nil || c.play.request == "" || ev.Result != nil && ev.Result.Resolution == runtime.ResolutionRejected {
				continue
			}
			if err := sim.exec.Do(ctx, func() { sim.exec.Revoke(ctx, c.play.request, recorded(ev.By), ev.Message) }); err != nil {
				return err
			}
		case consent.EventOff:
			if err := sim.exec.Do(ctx, func() { _ = sim.exec.SuspendConsent(ctx, ev.Until, recorded(ev.By), ev.Message) }); err != nil {
				return err
			}
		}
	}
	return nil
}
