package shadow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/facts"
	"github.com/ambit-tools/ambit/runtime/internal/tap"
	"github.com/ambit-tools/ambit/runtime/journal"
)

var (
	errArgs      = errors.New("the arguments cannot be decoded again")
	errAbandoned = errors.New("the evaluation took too long and was abandoned")
)

// compare has the shadow evaluate one call, and reports a difference.
func (f *follower) compare(t *tap.Decision) {
	is, err := f.decide(t)
	was := decisionOf(&t.Decision)
	if t.Failed != "" {
		was = Decision{Failed: t.Failed, Revision: t.Decision.Revision}
	}
	different := !was.same(&is)
	f.shadow.compared(is.Failed != "", different)
	if !different || f.isOver() {
		return
	}
	in := &t.Input
	d := Difference{
		Time: in.Now, CallID: in.CallID, Tool: in.Tool.Name, SessionID: in.SessionID, RunID: in.RunID,
		Agent: t.Agent, Principal: in.Principal, Active: was, Shadow: is, Err: err,
	}
	f.record(&d)
	if f.shadow.report == nil {
		return
	}
	if err := guard(func() error { f.shadow.report(d); return nil }); err != nil {
		f.host.Report(in, fmt.Errorf("report of the shadow policy: %w", err))
	}
}

// decide evaluates the shadow, on a copy of the arguments that no other goroutine has.
func (f *follower) decide(t *tap.Decision) (Decision, error) {
	ctx := f.evaluation()
	defer ctx.end(context.Canceled)
	var d runtime.Decision
	returned := false
	err := guard(func() error {
		args, violations := t.Tool.Decode(t.Text)
		if violations != nil {
			returned = true
			return errArgs
		}
		t.Input.Args = args
		t.Input.SetFacts((*facts.Snapshot)(t.Input.Facts()).Bare())
		var err error
		d, err = f.shadow.policy.Decide(ctx, &t.Input)
		returned = true
		return err
	})
	failed := ""
	switch {
	case !returned:
		failed = "panic"
	case ctx.Err() != nil:
		failed, err = "timeout", errAbandoned
	case err != nil:
		failed = "error"
	case d.Effect > runtime.EffectAllow:
		failed, err = "effect", fmt.Errorf("the policy answered %v", d.Effect)
	default:
		return decisionOf(&d), nil
	}
	return Decision{Failed: failed, Revision: d.Revision}, err
}

// guard calls f and returns its error. A panic becomes an error.
func guard(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return f()
}

// record records a difference.
func (f *follower) record(d *Difference) {
	both, err := json.Marshal(struct {
		Active Decision `json:"active"`
		Shadow Decision `json:"shadow"`
	}{d.Active, d.Shadow})
	if err != nil {
		return
	}
	f.host.Record(&journal.Record{
		Kind: journal.KindShadow, Session: d.SessionID, Run: d.RunID, Agent: d.Agent, Principal: d.Principal,
		Call: d.CallID, Tool: d.Tool, Revision: d.Active.Revision, Decision: both,
	})
}
