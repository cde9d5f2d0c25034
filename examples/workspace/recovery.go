package main

import (
	"context"
	"time"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// patience is how long the calls that a recovery goes on with may take.
const patience = 30 * time.Second

// recoverCalls recovers what earlier starts have left and prints what became of
// the calls that had no outcome. Those that wait for consent are answered.
func recoverCalls(ctx context.Context, s *stores, session func() *engine.Session, r *reviewer) error {
	unfinished, err := s.journal.Unfinished(ctx)
	if err != nil {
		return err
	}
	if err := r.exec.Recover(ctx); err != nil {
		return err
	}
	if len(unfinished) == 0 {
		return nil
	}
	if err := r.rep.heading("left by an earlier start:"); err != nil {
		return err
	}
	for _, key := range unfinished {
		if err := settled(ctx, session(), key, r); err != nil {
			return err
		}
	}
	return r.rep.heading("now:")
}

// settled prints what became of a call of an earlier start.
func settled(ctx context.Context, session *engine.Session, key journal.CallKey, r *reviewer) error {
	req := r.find(key.Call)
	switch {
	case req == nil:
		ctx, stop := context.WithTimeout(ctx, patience)
		defer stop()
		return r.rep.show(session.Await(ctx, key.Call))
	case r.says == "later": // the request stays open for another approver
		return r.rep.show(now(session, key.Call))
	}
	out, err := r.answer(ctx, req, r.says == "yes")
	if err != nil {
		return err
	}
	return r.rep.show(*out)
}
