package main

import (
	"context"
	"time"

	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// patience is how long the calls that a recovery goes on with may take.
const patience = 30 * time.Second

// showRecovered prints what became of the calls of earlier starts that had no
// outcome. The host has recovered them. Those that wait for consent are answered.
func showRecovered(ctx context.Context, session func() *engine.Session, r *reviewer) error {
	if len(r.unfinished) == 0 {
		return nil
	}
	if err := r.rep.heading("left by an earlier start:"); err != nil {
		return err
	}
	for _, key := range r.unfinished {
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
