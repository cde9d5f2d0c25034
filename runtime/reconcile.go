package runtime

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// ErrNothingHappened is what a reconcile handler returns when it knows that the
// call had no effect and will have none.
var ErrNothingHappened = errors.New("the call had no effect")

var errNoAnswer = errors.New("the reconcile handler returned neither an output nor an error: return ErrNothingHappened when nothing happened")

// A ResolveRequest says what a person has found out about an unknown call.
type ResolveRequest struct {
	TookEffect bool   // it took effect
	By         string // who says so
	Reason     string // for the model, too; may be empty
}

// A ResolveResult says what became of an attempt to resolve an unknown call.
type ResolveResult uint8

// The results of Resolve.
const (
	ResolveUnknownCall ResolveResult = iota // there is no such call
	ResolveOK
	ResolveNotUnknown // what became of the call is known, or it is still running
	ResolveBusy       // it is just being undone, or its tool is asked
	ResolveUnrecorded // the journal cannot be written
)

var resolveNames = [...]string{"unknown_call", "ok", "not_unknown", "busy", "journal_unavailable"}

// String returns the name of r, such as not_unknown.
func (r ResolveResult) String() string { return nameOf("resolve", resolveNames[:], r) }

// MarshalText returns the name of r.
func (r ResolveResult) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// Resolve says, on the word of a person, what became of a call whose outcome is
// unknown: it completed, without an output, or it failed (interrupted). No policy
// is asked. When Resolve returns ResolveOK that is durable.
func (s *Session) Resolve(ctx context.Context, callID string, f ResolveRequest) ResolveResult {
	if s == nil || s.exec == nil {
		return ResolveUnknownCall
	}
	if s.exec.log.health() != nil {
		return ResolveUnrecorded
	}
	r := s.find(callID)
	if res := s.claim(r); res != ResolveOK {
		return res
	}
	out, to := nothing("a person found"), StateFailed
	if f.TookEffect {
		out, to = Outcome{Kind: Completed, Message: "a person found that the interrupted call took effect"}, StateCompleted
	}
	if f.Reason != "" {
		out.Message += ": " + f.Reason
	}
	r.call.known(&out, to, f.By)
	if r.call.durable() != nil {
		return ResolveUnrecorded
	}
	return ResolveOK
}

// Resolve is Session.Resolve for who knows the session by its id only.
func (e *Executor) Resolve(ctx context.Context, sessionID, callID string, f ResolveRequest) ResolveResult {
	return e.sessionOf(sessionID).Resolve(ctx, callID, f)
}

// nothing is the outcome of a call of which somebody knows that it did nothing.
func nothing(who string) Outcome {
	return Outcome{Kind: Failed, Reason: ReasonInterrupted, Message: who + " that the interrupted call had no effect"}
}

// claim keeps others from undoing or resolving an unknown call, until it is known
// or let go of.
func (s *Session) claim(r *callRecord) ResolveResult {
	if r == nil {
		return ResolveUnknownCall
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !r.ended() || r.outcome().Kind != Unknown || r.undo.done || r.call == nil:
		return ResolveNotUnknown
	case r.undo.busy:
		return ResolveBusy
	}
	r.undo.busy = true
	return ResolveOK
}

// known gives an unknown call its outcome: one step of its session.
func (c *call) known(out *Outcome, to State, by string) {
	s := c.run.session
	c.mu.Lock()
	defer c.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.exec.now()
	was := c.record.outcome()
	c.complete(out, now, true)
	out.Duration, out.RequestID = now.Sub(c.began), was.RequestID
	if ev, err := s.state.Finish(s.exec.instant(now), c.id, statusOf(out)); err == nil {
		s.note(&ev)
	}
	c.fillRunStatus(out)
	c.record.later.Store(out)
	c.record.undo.busy, c.record.undo.ended = false, now
	c.transition(EventReconciled, to, &note{
		at: now, by: by, kind: out.Kind, reason: out.Reason, reasons: out.AllReasons, session: true, output: len(out.Output),
	})
}

// letGoOf lets others undo or resolve the call again.
func (c *call) letGoOf() {
	s := c.run.session
	s.mu.Lock()
	defer s.mu.Unlock()
	c.record.undo.busy = false
}

// reconcile asks the tools of unknown calls what became of these. Each tool is
// asked about one call after the other, and no more when it did not answer in
// time: it would keep the executor from starting.
func (e *Executor) reconcile(ctx context.Context, m *fold) {
	byTool := map[int][]*call{}
	for _, r := range m.order {
		r.session.mu.Lock()
		c := r.session.calls.find(r.id).call
		r.session.mu.Unlock()
		if c != nil && c.tool != nil && c.tool.hooks.reconcile != nil && c.final != nil {
			byTool[c.index] = append(byTool[c.index], c)
		}
	}
	var done sync.WaitGroup
	for _, calls := range byTool {
		work := func() {
			for _, c := range calls {
				if c.run.session.claim(c.record) == ResolveOK && !c.reconcile(ctx) {
					return
				}
			}
		}
		if e.waiter != nil { // it counts who waits
			work()
			continue
		}
		done.Go(work)
	}
	done.Wait()
}

// An answer is what a reconcile handler found.
type answer struct {
	value  wire.Value
	text   wire.Raw // of value, as the model may see it
	stored *StoredOutput
}

// reconcile asks the tool what became of the call, which is claimed. It reports
// false when the tool did not answer.
func (c *call) reconcile(ctx context.Context) bool {
	var a answer // of a handler that returns in time
	err := c.exec.within(ctx, c.tool.spec.deadline(), func(ctx context.Context) (err error) {
		a, err = c.findOut(ctx)
		return err
	})
	switch {
	case errors.Is(err, ErrNothingHappened):
		out := nothing("the tool found")
		c.known(&out, StateFailed, "")
	case err != nil:
		c.exec.report(c.faulty(ReasonNone, fmt.Errorf("what became of the call is still unknown: reconcile: %w", err)))
		c.letGoOf()
	default:
		c.outputs = a.value
		out := Outcome{Kind: Completed, Output: a.text, Artifact: a.stored, Obligations: c.obligations}
		c.known(&out, StateCompleted, "")
	}
	var late overdueError
	return !errors.As(err, &late)
}

// findOut calls the reconcile handler and checks what it returns as any output.
func (c *call) findOut(ctx context.Context) (a answer, err error) {
	info := c.info()
	a.value, err = c.tool.hooks.reconcile(ctx, &info, c.final)
	if err != nil {
		return a, err
	}
	if a.value == nil {
		return a, errNoAnswer
	}
	text, violations, err := wire.AppendWithin(nil, a.value, int(min(c.tool.spec.outputLimit(), math.MaxInt)), maxDepth)
	if err != nil {
		return a, fmt.Errorf("the output of the reconcile handler is too large or too deep: %w", err)
	}
	if violations != nil {
		return a, fmt.Errorf("the output of the reconcile handler is invalid: %s", violationList(violations))
	}
	if a.text, err = c.redact(text); err != nil || !c.tooLong(a.text) {
		return a, err
	}
	a.stored, err = c.store(ctx, a.value, a.text)
	a.text = nil
	return a, err
}
