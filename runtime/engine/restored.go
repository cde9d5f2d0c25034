package engine

import (
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/history"
)

// revive adds the call to the record of one that has ended, if it can be undone or resolved.
func (s *Session) revive(r *history.Call, rec *callRecord) {
	s.mu.Lock()
	p := s.memory.Node(r.Run)
	s.mu.Unlock()
	s.reviveIn(p, r, rec)
}

// reviveIn is revive for a call of a run whose node is p.
func (s *Session) reviveIn(p *runNode, r *history.Call, rec *callRecord) {
	if !rec.Undo.Possible {
		return
	}
	c := s.callOf(p, r, rec)
	if rec.Undo.Possible = c.tool.Undoable(); rec.Undo.Possible || r.Outcome.Kind == runtime.Unknown {
		rec.Live = c
	}
}

// callOf returns the call of r, which was made in s. No caller waits for it, and its turn is over.
// Its arguments are nil when they are no longer known, or not valid under the present declaration
// of the tool. p is the node of its run.
func (s *Session) callOf(p *runNode, r *history.Call, rec *callRecord) *call {
	if p == nil { // the run is closed and has no part any more
		p = &runNode{}
	}
	e := s.exec
	run := &Run{session: s, id: r.Run, by: rec.By, granted: r.Capabilities, node: p}
	ctx := e.hooks.ContextOf(s.id, r.ID)
	c := &call{
		work: work{
			ident: ident{
				exec: e, run: run, turn: &Turn{run: run, number: r.Turn, budgetEnds: r.TurnEnds, limit: r.TurnCap, minimum: e.minimum}, ctx: ctx,
				record: rec, id: r.ID, began: r.Began, size: len(r.Args), metadata: r.Metadata, epoch: r.Epoch,
			},
			workCtx: ctx, now: e.sched.Now(), heartbeat: r.Heartbeat, obligations: r.Obligations,
		},
	}
	c.progress.Restore(r.Attempts, r.Request != "", r.State, r.Revision)
	c.trail.Open(c.exec.log)
	c.progress.Open(c, &e.attempts, c.began, c.turn.budgetEnds)
	if r.Attempts > 0 {
		c.progress.Scope.Begin(c.workCtx, time.Time{})
	}
	c.tool = e.toolOf(ctx, r.ID, e.lookup(r.Tool))
	c.place = e.capacity.Place(c.tool)
	if c.tool != nil {
		c.notes = c.tool.Spec.Migration(r.Tool)
	}
	v := c.tool.Restore(r, e.inputs, c.now)
	c.values.Args, c.values.Text, c.values.Final, c.values.FinalText = v.Args, v.ArgsText, v.Final, v.FinalText
	c.prepared, c.isPrepared, c.values.Outputs, rec.Undo.Lost = v.State, r.Prepared, v.Output, v.Lost
	if v.Keyed {
		c.progress.Scope.SetEffect(v.Effect)
	}
	return c
}
