package engine

import (
	"context"
	"fmt"
	"sync"

	"github.com/ambit-tools/ambit/runtime"
)

// Periodic makes a call of each tool that declares every, with the arguments that it declares, once
// per period, until ctx ends or r is closed. Each call has a turn of its own. The first call is
// made when the first period is over; a call that takes longer than a period delays the next one.
// The calls are admitted like all other calls; observers and sinks get their outcomes.
func (r *Run) Periodic(ctx context.Context) error {
	ctx = orBackground(ctx)
	if r == nil || r.session == nil {
		return nil
	}
	e := r.session.exec
	var tools []*runtime.Spec
	for _, t := range e.tools {
		if t.spec.Every <= 0 {
			continue
		}
		if t.spec.Args == "" {
			return fmt.Errorf("tool %q is periodic and declares no args: add the arguments of its calls", t.spec.Name)
		}
		tools = append(tools, t.spec)
	}
	closed := r.part.ended(r.session)
	e.busy(len(tools))
	all := newSignal()
	var running sync.WaitGroup
	running.Add(len(tools))
	for _, spec := range tools {
		go func() {
			defer e.busy(-1)
			defer running.Done()
			r.repeat(ctx, spec, closed)
		}()
	}
	go func() { running.Wait(); e.fire(all) }()
	e.wait(all, nil, nil)
	return nil
}

// repeat makes the calls of one periodic tool.
func (r *Run) repeat(ctx context.Context, spec *runtime.Spec, closed *signal) {
	e := r.session.exec
	next := e.now().Add(spec.Every)
	for {
		due := newSignal()
		timer := e.after(e.until(next), func() { e.fire(due) })
		if e.wait(due, closed, ctx.Done()) != sawA {
			timer.Stop()
			return
		}
		r.Turn(TurnConfig{}).Execute(ctx, runtime.Call{Tool: spec.Name, Input: []byte(spec.Args)})
		for now := e.now(); !next.After(now); {
			next = next.Add(max(spec.Every, now.Sub(next)/spec.Every*spec.Every))
		}
	}
}

// ended returns a signal that fires when p is closed.
func (p *part) ended(s *Session) *signal {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.over == nil {
		p.over = newSignal()
		if p.closing {
			s.exec.fire(p.over)
		}
	}
	return p.over
}
