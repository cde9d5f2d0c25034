package replay

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/processes"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// played is what came of a call so far. The simulation's lock guards it.
type played struct {
	decided *gate // its policy may answer
	begins  *gate // its handler may start
	returns *gate // its handler may return
	commits *gate // its commit may end

	cancel   context.CancelFunc
	seen     []runtime.EventKind
	request  string
	outcome  *runtime.Outcome
	failUndo bool
}

// gates returns the gates at which the call may wait.
func (p *played) gates() []*gate { return []*gate{p.decided, p.begins, p.returns, p.commits} }

// callKey is the key under which a context knows its recorded call.
type callKey struct{}

func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// A waiting policy answers when the recorded one did.
type waiting struct {
	sim    *simulation
	policy runtime.Policy
}

// Decide implements runtime.Policy.
func (p *waiting) Decide(ctx context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
	c, as := callOf(ctx), purposeOf(ctx)
	switch {
	case as == repeating:
		return c.asItWas(), nil
	case c == nil, as == judging, in.Undo: // without a call the evaluation is for an edit
		return p.policy.Decide(ctx, in)
	}
	p.sim.mu.Lock()
	g := c.play.decided
	p.sim.mu.Unlock()
	p.sim.wait(g)
	if c.carried || c.repeated {
		return c.asItWas(), nil
	}
	return p.policy.Decide(ctx, in)
}

// A purpose says what a context of a call is for, where it is not the call itself.
type purpose uint8

const (
	calling   purpose = iota
	judging           // the candidate decides, and nothing waits
	repeating         // what was recorded is done, whatever the candidate says
)

type purposeKey struct{}

func purposeOf(ctx context.Context) purpose {
	p, _ := ctx.Value(purposeKey{}).(purpose)
	return p
}

// with returns a context for a purpose that concerns the call.
func (c *call) with(ctx context.Context, as purpose) context.Context {
	return context.WithValue(context.WithValue(ctx, callKey{}, c), purposeKey{}, as)
}

// asItWas returns the decision about a call that is decided as the recording says.
func (c *call) asItWas() runtime.Decision {
	switch {
	case c.repeated && !c.admitted:
		return runtime.Decision{} // a denial
	case c.question == nil:
		return runtime.Decision{Effect: runtime.EffectAllow}
	case c.repeated:
		d := runtime.Decision{Effect: runtime.EffectAsk}
		for _, r := range c.question.Reasons {
			d.Asks = append(d.Asks, runtime.Ask{
				ID: r.Code, Message: r.Message, Approvers: r.Approvers, Quorum: r.Quorum, MaxCover: r.MaxCover, At: r.At, Bound: wire.Raw(r.Bound),
			})
		}
		return d
	}
	need := c.question.Requirement
	return runtime.Decision{Effect: runtime.EffectAsk, Asks: []runtime.Ask{{
		ID: "recorded", Approvers: need.Approvers, Quorum: need.Quorum, Timeout: need.Timeout, MaxCover: need.MaxCover,
	}}}
}

// grace is how long an attempt that will be made again may go on after its time.
const grace = 5 * time.Second

// deadline is when the handler of a call is given up: as the tool declares, but
// for calls of which the recording says when they were.
func (sim *simulation) deadline(c *call) (time.Duration, bool) {
	sim.wait(c.play.begins)
	if c.outcome == nil || !c.started {
		return policyTimeout, c.repeated
	}
	left := c.ended.Sub(sim.clock.Now())
	tool, _, known := sim.reg.Lookup(c.tool)
	switch {
	case c.outcome.Kind == runtime.TimedOut:
		return max(left, 0), true
	case c.retried > 0, c.orphaned, c.outcome.Kind == runtime.Unknown: // it had a deadline per attempt, or its process ended before
		return left + time.Hour, true
	case c.repeated:
		return left + time.Hour, true
	case known && sim.patient[c.tool]:
		return cmp.Or(tool.Spec().Deadline, runtime.DefaultDeadline) + grace, true
	}
	return 0, false
}

var (
	errRecorded  = errors.New("the handler failed, as it did when the call was recorded")
	errNoResult  = errors.New("the handler did not run when the call was recorded: what it would have done is not known")
	errGivenUp   = errors.New("the handler was given up")
	errUndoFails = errors.New("the undo failed, as it did when it was recorded")
)

// handle is the handler of all tools: it returns when the recorded one did, with
// its result. Of a call that did not run nothing is known: it fails.
func (sim *simulation) handle(ctx context.Context, _ wire.Value) (wire.Value, error) {
	c := callOf(ctx)
	if c == nil || !c.started {
		return nil, errNoResult
	}
	if c.transacts() {
		if _, err := runtime.PartOf(ctx, &sim.transactional); err != nil {
			return nil, err
		}
	}
	sim.wait(c.play.returns)
	switch {
	case c.outcome == nil:
		return nil, errGivenUp
	case c.outcome.Kind == runtime.Unknown:
		_, err := runtime.PartOf(ctx, &sim.uncertain)
		return wire.Raw("{}"), err
	case c.outcome.Kind == runtime.Completed && c.output == nil:
		return wire.Raw("{}"), nil
	case c.outcome.Kind == runtime.Completed:
		return wire.Raw(c.output), nil
	case c.outcome.Kind == runtime.Denied: // it is a command whose program did not run
		return nil, cmp.Or(processes.NotRun(c.outcome.Reason), errRecorded)
	}
	return nil, errRecorded
}

// preview shows what was shown of the call when it was recorded, or fails as then.
func preview(ctx context.Context, _ wire.Value) (p runtime.Preview, err error) {
	switch c := callOf(ctx); {
	case c == nil:
	case c.outcome != nil && c.outcome.Reason == runtime.ReasonPreviewFailed:
		return p, errRecorded
	case c.question != nil && c.question.Preview != nil:
		p = runtime.Preview{MediaType: c.question.Preview.MediaType, Text: c.question.Preview.Text}
	}
	return p, nil
}

func prepare(context.Context, wire.Value) (wire.Value, error) { return nil, nil }

// undo undoes a call as it was undone.
func undo(ctx context.Context, _ string, _, _, _ wire.Value) error {
	if c := callOf(ctx); c != nil && c.play.failUndo {
		return errUndoFails
	}
	return nil
}

var errNobody = errors.New("nobody could be asked when the call was recorded")

// notify is the approver: it is available unless none was when the call was recorded.
func (sim *simulation) notify(_ context.Context, r *consent.Notice) error {
	c := sim.rec.calls[journal.CallKey{Session: r.Session, Call: r.CallID}]
	if c != nil && c.outcome != nil && c.outcome.Reason == runtime.ReasonConsentUnavailable {
		return errNobody
	}
	return nil
}
