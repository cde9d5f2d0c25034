package engine

import (
	"context"
	"crypto/hmac"
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// restore adds the calls of m to their sessions. It settles their remaining parts at participants,
// and the calls that have no outcome.
func (e *Executor) restore(ctx context.Context, m *fold) error {
	left, err := e.leftovers(ctx)
	if err != nil {
		return err
	}
	type open struct {
		call *call
		of   *foldedCall
		left []*participant
	}
	var unfinished, undos []open
	for _, r := range m.order {
		key := runtime.CallKey{Session: r.session.id, Call: r.id}
		of := left[key]
		delete(left, key)
		c := e.restoreCall(r)
		if r.redeclared {
			e.tellRedeclared(r)
		}
		if c != nil {
			unfinished = append(unfinished, open{c, r, of})
		} else if out := r.outcome; out != nil { // an earlier process, or recovery, could not settle it
			e.settle(ctx, key, of, out.Kind == runtime.Completed || out.Kind == runtime.Unknown && r.sealed != nil)
		}
		key.Undo = true
		of = left[key]
		delete(left, key)
		if r.undo != nil {
			undos = append(undos, open{e.undoneCall(r), r, of})
		} else {
			e.settle(ctx, key, of, r.undone)
		}
	}
	if err := e.settleUnknownCalls(ctx, left); err != nil { // before the first call runs again
		return err
	}
	e.approvals.mu.Lock()
	e.approvals.arm()
	e.approvals.mu.Unlock()
	stale := e.sched.Now().Sub(m.beat) > DefaultStale
	for _, o := range undos {
		o.call.settleInterruptedUndo(ctx, o.of.undo, o.left)
	}
	for _, o := range unfinished {
		if e.hooks != nil && e.hooks.Passes != nil && e.hooks.Passes(o.of.session.id, o.of.id) {
			continue
		}
		o.call.settleInterrupted(ctx, o.of, o.left, stale)
	}
	return nil
}

// restoreCall adds a call to its session. It returns the call when recovery has to settle it.
func (e *Executor) restoreCall(r *foldedCall) *call {
	s := r.session
	s.mu.Lock()
	defer s.mu.Unlock()
	s.number++
	rec := &callRecord{id: r.id, tool: r.tool, number: s.number, input: r.args, restored: &restoredInput{r.mac, r.heartbeat}}
	s.calls.put(rec)
	s.callsOf(r.run).add(rec)
	rec.undo.done = r.undone
	if r.outcome != nil {
		rec.keep(r.outcome)
		e.sched.Fire(&rec.first)
		if r.attempt > 0 && !r.undone && !r.outcome.RolledBack {
			rec.undo.ended = r.ended
			c := e.callOf(r, rec)
			if rec.undo.possible = c.undoable(); rec.undo.possible || r.outcome.Kind == runtime.Unknown {
				rec.call = c
			}
		}
		return nil
	}
	c := e.callOf(r, rec)
	rec.call = c
	p := c.run.part
	p.active = append(p.active, c)
	c.position = len(p.active)
	req, waits := r.asked(e.approvals.book)
	if waits {
		c.asked = &asked{id: req.ID, preview: req.Preview, since: req.Created}
	}
	switch {
	case waits && (c.final != nil || c.redeclared(&req)):
		r.redeclared = c.redeclared(&req)
		c.unfit = r.redeclared
		c.reservation, c.readmits = reserved, c.state == runtime.StateAuthorized
		c.wait(&req)
		return c.approvedBefore(&req)
	case c.state == runtime.StateExecuting:
		c.reservation = reservedAndInvoked
	case c.state == runtime.StateAuthorized || r.request != "":
		c.reservation = reserved
		c.readmits = r.triggered && c.state == runtime.StateAuthorized && c.args != nil
	}
	return c
}

// callOf returns the call of r. No caller waits for it, and it is not part of a turn. Its arguments
// are nil when they are not known any more, or not valid for the present declaration of the tool.
func (e *Executor) callOf(r *foldedCall, rec *callRecord) *call {
	s := r.session
	p := s.parts[r.run]
	if p == nil { // the run is closed and has no part any more
		p = &part{}
	}
	run := &Run{session: s, id: r.run, agent: r.agent, principal: r.principal, part: p}
	ctx := e.contextOf(s.id, r.id)
	c := &call{
		exec: e, run: run, turn: &Turn{run: run, ends: r.turnEnds, limit: r.turnCap, minimum: e.minimum}, ctx: ctx, work: ctx,
		record: rec, id: r.id, began: r.began, now: e.sched.Now(), size: len(r.args), heartbeat: r.heartbeat,
		revision: r.revision, metadata: r.metadata, epoch: r.epoch, obligations: r.obligations, state: r.state, invoked: true,
	}
	c.life.Restore(r.attempt, r.request != "")
	c.running = &c.handlerCtx
	c.running.parent, c.running.call, c.running.attempt = c.work, c, r.attempt
	c.left.Store(true)
	c.tool, c.index = e.lookup(r.tool)
	if c.tool != nil {
		c.args, c.text = c.recallArgs(r.args)
		c.final, c.finalText = c.args, c.text
		if r.rewritten {
			c.final, c.finalText = c.recallArgs(r.final)
		}
	}
	c.recallUndo(r)
	c.recallKey()
	return c
}

// recallArgs decodes recorded arguments. They were valid when they were recorded, but the tool may
// have changed since.
func (c *call) recallArgs(text []byte) (wire.Value, []byte) {
	v, err := recallValue(c.tool.hooks.Decode, text)
	if err != nil {
		return nil, nil
	}
	return v, text
}

// wait lets a call continue to wait for consent. The lock of its session is held.
func (c *call) wait(req *consent.Request) {
	q := &c.asked.question
	q.Requirement, q.Reasons, q.Obligations = req.Requirement, req.Reasons, req.Obligations
	c.life.Rewait(false)
	c.record.final, c.record.call = sched.NewEvent(), c
	d := &c.exec.approvals
	d.mu.Lock()
	d.calls[req.ID] = c
	d.mu.Unlock()
	c.exec.sched.Fire(&c.record.first)
}

// redeclared reports whether the declaration of the tool of a waiting call has changed since the
// request for consent. The lock of the call's session is held.
func (c *call) redeclared(req *consent.Request) bool {
	return c.tool == nil || c.tool.spec.Pin != req.Pin
}

// tellRedeclared reports, to the sinks and the error handler, a request that stays open and that no
// approval under the present declaration can satisfy.
func (e *Executor) tellRedeclared(r *foldedCall) {
	err := fmt.Errorf("the declaration of tool %q has changed since consent was asked for: request %s stays open, and an approval under this declaration is refused (%s); under the former one it counts", r.tool, r.request, runtime.ReasonBindingMismatch)
	e.emit(&runtime.Event{
		Time: e.sched.Now(), Kind: runtime.EventStale, From: r.state, To: r.state, Tool: r.tool, CallID: r.id, SessionID: r.session.id, RunID: r.run,
		Agent: r.agent, Principal: r.principal, RequestID: r.request, Err: err.Error(),
	})
	e.report(&CallError{Tool: r.tool, CallID: r.id, SessionID: r.session.id, RunID: r.run, Err: err})
}

// approvedBefore returns c when its request was approved and its handler was not started: c
// continues. Otherwise it returns nil.
func (c *call) approvedBefore(req *consent.Request) *call {
	if req.Status == consent.StatusApproved {
		c.life.Approve()
		return c
	}
	return nil
}

// remembers reports whether mac is the digest of input.
func (l *commitLog) remembers(mac string, input []byte) bool {
	return mac != "" && hmac.Equal([]byte(mac), []byte(l.mac(input)))
}
