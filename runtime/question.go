package runtime

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// The rules that ask when nobody gave them a name.
const (
	ruleDeclaration = "declaration"
	rulePolicy      = "policy"
)

// asked is what a call knows of the consent that it needs.
type asked struct {
	question consent.Question
	preview  *consent.Preview
	plain    bool   // the preview is that of the arguments as decoded
	grant    string // that answers the question
	id       string // of the request, once there is one
	unasked  bool   // approved, and nothing asks any more
	since    time.Time
	tell     context.CancelFunc
	late     *signal // happens when its caller has waited long enough; guarded by the call
}

// show prepares the question that is put to people, if any is, with what the
// call would do. It reports false when the call has ended.
func (c *call) show() bool {
	j := &c.worker.judge
	if j.reason != ReasonNone || !j.asks && !c.resumed() {
		return true
	}
	if c.asked == nil {
		c.mu.Lock() // whoever ends the call looks at it
		c.asked = &asked{}
		c.mu.Unlock()
	}
	if j.asks {
		q, err := c.questionOf(c.final, &j.decision)
		if err != nil {
			j.refuse(ReasonConsentUnavailable, askDetail(j.decision.Asks), fmt.Sprintf("%q needs somebody's consent: %v", c.record.tool, err))
			return true
		}
		c.asked.question = q
	}
	hook, declared := c.tool.hooks.preview, c.tool.spec.Consent
	if hook == nil || declared == nil || !declared.Preview || !c.resumed() && c.exec.desk.answers(c) {
		return true
	}
	plain := len(j.decision.Rewrites) == 0
	if c.asked.preview == nil || c.resumed() || !plain || !c.asked.plain {
		if !c.makePreview() {
			return false
		}
		c.asked.plain = plain
	}
	c.asked.question.Call.Preview = c.asked.preview
	return true
}

// makePreview asks the tool what the call would do.
func (c *call) makePreview() bool {
	due := c.now.Add(c.tool.spec.deadline())
	if ends := c.ends(); !ends.IsZero() && ends.Before(due) {
		due = ends
	}
	if !c.enter(phasePreviewing, due) {
		return false
	}
	ctx := &callContext{parent: c.work, due: due}
	p, err := c.previewOf(ctx, c.final)
	ctx.cancel(whyCanceled)
	c.now = c.clock()
	if !c.enter(phaseAdmitting, c.ends()) {
		return false
	}
	if c.asked.preview = p; err != nil {
		j := &c.worker.judge
		j.refuse(ReasonConsentUnavailable, Detail{}, "what the call would do could not be shown to whoever is asked")
		j.fault = c.faulty(ReasonConsentUnavailable, fmt.Errorf("preview: %w", err))
	}
	return true
}

// previewOf calls the preview hook of the tool, if it has one.
func (c *call) previewOf(ctx context.Context, args wire.Value) (p *consent.Preview, err error) {
	declared := c.tool.spec.Consent
	if c.tool.hooks.preview == nil || declared == nil || !declared.Preview {
		return nil, nil
	}
	err = guard(func() error {
		shown, err := c.tool.hooks.preview(ctx, args)
		p = &consent.Preview{MediaType: shown.MediaType, Text: shown.Text}
		return err
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// questionOf returns what is asked about the call with some arguments.
func (c *call) questionOf(args wire.Value, d *Decision) (q consent.Question, err error) {
	spec := c.tool.spec
	asks := make([]consent.Ask, 0, len(d.Asks)+1)
	for _, a := range d.Asks {
		if a.ID == "" {
			a.ID = rulePolicy
		}
		asks = append(asks, consent.Ask(a))
	}
	q.Requirement, err = consent.Merge(spec.requirement(), asks...)
	if err != nil {
		return q, err
	}
	if spec.Consent != nil && spec.Consent.Ask == ConsentAskAlways {
		asks = append(asks, consent.Ask{ID: ruleDeclaration, Message: spec.Consent.Message})
	}
	if len(asks) == 0 && d.Effect == EffectAsk {
		asks = append(asks, consent.Ask{ID: rulePolicy})
	}
	q.Reasons = consent.Reasons(asks)
	q.Call = c.consentCallWith(args, d.Revision)
	q.Effect, q.Undoable = spec.Effect.String(), spec.Undo != nil
	if spec.Consent != nil {
		q.Message = spec.Consent.Message
	}
	return q, nil
}

// requirement returns what the declaration wants of a consent; nil: nothing.
func (s *Spec) requirement() *consent.Requirement {
	if s.Consent == nil {
		return nil
	}
	d := s.Consent
	return &consent.Requirement{
		Approvers: d.Approvers, Quorum: d.Quorum, Timeout: d.Timeout, MaxCover: d.MaxCover,
		AllowEdit: d.AllowEdit, AllowSelf: d.AllowSelf,
	}
}

// consentCall is the call as it is about to run.
func (c *call) consentCall() consent.Call {
	out := c.consentCallWith(c.final, c.revision)
	out.Preview = c.asked.preview
	return out
}

func (c *call) consentCallWith(args wire.Value, revision string) consent.Call {
	return consent.Call{
		ID: c.id, Tool: c.record.tool, Pin: c.tool.spec.Pin,
		Session: c.run.session.id, Run: c.run.id, Principal: c.run.principal, Agent: c.run.agent,
		Args: args, Revision: revision,
	}
}

var errNobody = errors.New("there is nobody to ask")

// nobody refuses a call that needs consent when there is nobody to ask.
func (c *call) nobody() *ending {
	if c.exec.polled || len(c.exec.approvers) > 0 {
		return nil
	}
	return refusal(ReasonConsentUnavailable, askDetail(c.worker.judge.decision.Asks), fmt.Sprintf(
		"%q needs somebody's consent and %v", c.record.tool, errNobody))
}

// askDetail names the first ask.
func askDetail(asks []Ask) Detail {
	if len(asks) == 0 {
		return Detail{}
	}
	return Detail{Rule: asks[0].ID, At: asks[0].At}
}

// admitAsked admits the call if its consent has been given, and otherwise
// reserves what it needs and puts the question. The locks of the call and of
// its session are held.
func (c *call) admitAsked() (next int, held *signal, e *ending) {
	d := &c.exec.desk
	d.mu.Lock()
	defer d.mu.Unlock()
	grant, yes := d.answer(c)
	declared := c.tool.spec.Consent
	switch c.asked.grant = grant; {
	case yes:
		return c.reserve()
	case c.tool.hooks.preview != nil && declared != nil && declared.Preview && c.asked.preview == nil:
		return nextAgain, nil, nil // what answered the question a moment ago does no more
	}
	s := c.run.session
	rc := &c.worker.rule
	if e := c.nobody(); e != nil {
		if v := c.check(rc); !v.Admitted() {
			e = c.refused(v, rc, &c.worker.judge)
		}
		return nextEnd, nil, e
	}
	ev, err := d.book.Ask(c.now, rand.Text(), rand.Text(), &c.asked.question)
	if err != nil {
		e = refusal(ReasonConsentUnavailable, Detail{}, "the call cannot be shown to whoever is asked")
		e.fault = c.faulty(ReasonConsentUnavailable, err)
		return nextEnd, nil, e
	}
	v, rule := s.askByRules(c.exec.instant(c.now), rc)
	if !v.Admitted() {
		return nextEnd, nil, c.refused(v, rc, &c.worker.judge)
	}
	c.hold = holdReservation
	s.note(&rule)
	d.prune(c.now)
	d.apply(&ev)
	d.calls[ev.Request] = c
	c.asked.id, c.asked.since = ev.Request, c.now
	c.phase = phaseWaiting
	c.record.final, c.record.call, c.parks = newSignal(), c, true
	c.transition(EventApprovalRequested, StateValidated, &note{at: c.now, session: true})
	return nextWait, nil, nil
}
