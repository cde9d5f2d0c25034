package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"
	"sync"
	"time"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// maxShadowed is how many calls wait for the shadow policy at most.
const maxShadowed = 256

// WithShadow lets a second policy judge what the policy judges, to see what it
// would change before it decides anything. Where the two differ report is told,
// which may be nil, and the journal has a record, policy.shadow. No decision is
// ever the shadow's.
//
// It judges in a goroutine of its own, on the same facts and on arguments of its
// own, after the call was judged: its errors, its panics and the time that it takes
// mean nothing to calls. While it is so slow that 256 calls wait for it, others
// are not compared; ShadowStats counts them. Undos and edited arguments are not
// compared either. It has the policy's time limit.
//
// report is called by the same goroutine, one difference after the other.
func WithShadow(p Policy, report func(ShadowDifference)) Option {
	return func(e *Executor) {
		if p != nil {
			e.shadow = &shadow{exec: e, policy: p, report: report, idle: newSignal()}
		}
	}
}

// A ShadowDifference is a call that the shadow policy would decide otherwise.
type ShadowDifference struct {
	Time             time.Time // when the policy was asked
	CallID, Tool     string
	SessionID, RunID string
	Agent, Principal string

	Active, Shadow ShadowDecision
	Err            error // of the shadow; for operators only
}

// A ShadowDecision is of a decision what is compared. Of a denial only the
// denials are, and of what is no question no asks.
type ShadowDecision struct {
	Effect      Effect   `json:"effect"`
	Denials     []string `json:"deny,omitempty"`        // codes, sorted
	Asks        []string `json:"ask,omitempty"`         // ids, sorted
	Rewrites    []string `json:"modify,omitempty"`      // pointers, sorted
	Obligations []string `json:"obligations,omitempty"` // codes, sorted
	Failed      string   `json:"failed,omitempty"`      // why there is no decision: error, timeout, panic, ...
	Revision    string   `json:"policy_revision,omitempty"`
}

// ShadowStats counts calls that were judged while there was a shadow policy.
type ShadowStats struct {
	Compared  uint64
	Different uint64 // of these
	Failed    uint64 // of these: the shadow had no decision
	Dropped   uint64 // not compared: the shadow was too slow
}

// ShadowStats tells how many calls were compared with a shadow policy.
func (e *Executor) ShadowStats() ShadowStats {
	if e == nil || e.shadow == nil {
		return ShadowStats{}
	}
	e.shadow.mu.Lock()
	defer e.shadow.mu.Unlock()
	return e.shadow.stats
}

// A shadow judges calls after the policy. Its goroutine ends when it has nothing
// to do.
type shadow struct {
	exec   *Executor
	policy Policy
	report func(ShadowDifference)

	mu      sync.Mutex
	waiting []*shadowed
	spare   []*shadowed
	running bool
	closed  bool    // no call comes any more
	over    bool    // nobody is told any more
	idle    *signal // happens when it is closed and nothing runs
	stats   ShadowStats
}

// A shadowed call is what the shadow is told of one. Its input is the policy's
// own, but for what others may change or remember something in.
type shadowed struct {
	in     PolicyInput
	tool   *Tool
	text   []byte // the arguments; never changed
	agent  string
	active Decision
	failed string
}

// shadowed returns what the shadow policy is told of the call, which was judged
// just now; nil when there is none.
func (c *call) shadowed() *shadowed {
	if c.exec.shadow == nil || c.dry {
		return nil
	}
	w := c.worker
	if w.judge.detail.Rule == ruleBreaker { // the policy was not asked
		return nil
	}
	t := &shadowed{in: w.input, tool: c.tool, text: c.finalText, agent: c.run.agent, active: w.judge.decision}
	if w.judge.reason == ReasonPolicyError {
		t.failed = w.judge.detail.Rule
	}
	return t
}

// compare lets the shadow judge a call, some time.
func (s *shadow) compare(t *shadowed) {
	if t == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.waiting) >= maxShadowed {
		s.stats.Dropped++
		return
	}
	s.waiting = append(s.waiting, t)
	if !s.running {
		s.start()
	}
}

// start starts the goroutine. s.mu is held.
func (s *shadow) start() {
	s.running = true
	s.exec.busy(1)
	go s.run()
}

// run judges calls until there are none. A policy that leaves the goroutine is
// replaced by another goroutine.
func (s *shadow) run() {
	left := true
	var batch []*shadowed
	next := 0
	defer func() {
		s.mu.Lock()
		if left {
			s.stats.Compared++
			s.stats.Failed++
			s.waiting = append(batch[next:], s.waiting...)
			s.start()
		}
		s.mu.Unlock()
		s.exec.busy(-1)
	}()
	for {
		if batch = s.take(batch); batch == nil {
			left = false
			return
		}
		for next = 0; next < len(batch); {
			t := batch[next]
			batch[next] = nil
			next++
			s.judge(t)
		}
	}
}

// take returns the calls that wait, for a slice that is not needed any more; nil
// when none came soon.
func (s *shadow) take(done []*shadowed) []*shadowed {
	for i := range linger {
		if i > 0 {
			goruntime.Gosched()
		}
		s.mu.Lock()
		if done != nil {
			s.spare = done[:0]
			done = nil
		}
		if len(s.waiting) > 0 {
			batch := s.waiting
			s.waiting, s.spare = s.spare, nil
			s.mu.Unlock()
			return batch
		}
		if i == linger-1 {
			s.rest()
		}
		s.mu.Unlock()
	}
	return nil
}

// rest notes that nothing runs any more. s.mu is held.
func (s *shadow) rest() {
	s.running = false
	if s.closed {
		s.exec.fire(s.idle)
	}
}

// judge lets the shadow judge one call, and tells where it differs.
func (s *shadow) judge(t *shadowed) {
	is, err := s.decide(t)
	was := shadowDecision(&t.active)
	if t.failed != "" {
		was = ShadowDecision{Failed: t.failed, Revision: t.active.Revision}
	}
	different := !was.same(&is)
	s.mu.Lock()
	s.stats.Compared++
	if is.Failed != "" {
		s.stats.Failed++
	}
	if different {
		s.stats.Different++
	}
	told := different && !s.over
	s.mu.Unlock()
	if !told {
		return
	}
	in := &t.in
	d := ShadowDifference{
		Time: in.Now, CallID: in.CallID, Tool: in.Tool.Name, SessionID: in.SessionID, RunID: in.RunID,
		Agent: t.agent, Principal: in.Principal, Active: was, Shadow: is, Err: err,
	}
	s.exec.recordShadow(&d)
	if s.report == nil {
		return
	}
	if err := guard(func() error { s.report(d); return nil }); err != nil {
		s.exec.report(&CallError{Tool: d.Tool, CallID: d.CallID, SessionID: d.SessionID, RunID: d.RunID, Err: fmt.Errorf("report of the shadow policy: %w", err)})
	}
}

var errShadowArgs = errors.New("the arguments cannot be decoded again")

// decide asks the shadow, about arguments that nobody else has.
func (s *shadow) decide(t *shadowed) (ShadowDecision, error) {
	ctx := &callContext{parent: context.Background(), due: s.exec.now().Add(s.exec.patience)}
	timer := s.exec.after(s.exec.patience, func() { ctx.cancel(whyDeadline) })
	defer timer.Stop()
	var d Decision
	returned := false
	err := guard(func() error {
		args, violations := t.tool.Decode(t.text)
		if violations != nil {
			returned = true
			return errShadowArgs
		}
		t.in.Args, t.in.Facts = args, t.in.Facts.bare()
		var err error
		d, err = s.policy.Decide(ctx, &t.in)
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
	case d.Effect > EffectAllow:
		failed, err = "effect", fmt.Errorf("the policy answered %v", d.Effect)
	default:
		return shadowDecision(&d), nil
	}
	return ShadowDecision{Failed: failed, Revision: d.Revision}, err
}

// bare returns f without what a policy remembers in it.
func (f *Facts) bare() *Facts {
	if f == nil {
		return nil
	}
	return &Facts{version: f.version, tools: f.tools}
}

// shadowDecision returns of a decision what is compared.
func shadowDecision(d *Decision) ShadowDecision {
	out := ShadowDecision{Effect: d.Effect, Revision: d.Revision}
	if len(d.Denials) > 0 || d.Effect == EffectDeny {
		out.Effect = EffectDeny
		out.Denials = sorted(d.Denials, func(x Denial) string { return x.Code })
		return out
	}
	if len(d.Asks) > 0 {
		out.Effect = EffectAsk
	}
	out.Asks = sorted(d.Asks, func(x Ask) string { return x.ID })
	out.Rewrites = sorted(d.Rewrites, func(x Rewrite) string { return x.Pointer })
	out.Obligations = sorted(d.Obligations, func(x Obligation) string { return x.Code })
	return out
}

// sorted returns the names of a list, each once.
func sorted[T any](list []T, name func(T) string) (names []string) {
	for _, x := range list {
		names = append(names, name(x))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// recordShadow records a difference.
func (e *Executor) recordShadow(d *ShadowDifference) {
	if !e.ledger.on() {
		return
	}
	both, err := json.Marshal(struct {
		Active ShadowDecision `json:"active"`
		Shadow ShadowDecision `json:"shadow"`
	}{d.Active, d.Shadow})
	if err != nil {
		return
	}
	e.ledger.note(&journal.Record{
		Kind: journal.KindShadow, At: plain(e.now()), Session: d.SessionID, Run: d.RunID, Agent: d.Agent, Principal: d.Principal,
		Call: d.CallID, Tool: d.Tool, Revision: d.Active.Revision, Decision: both,
	})
}

// close lets the shadow judge what waits, for as long as one evaluation may take:
// of what comes later nothing is recorded.
func (s *shadow) close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.closed = true
	running := s.running
	s.mu.Unlock()
	if running {
		s.exec.waitFor(s.idle, s.exec.patience)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	s.stats.Dropped += uint64(len(s.waiting))
	s.waiting = nil
}

// same reports whether two decisions come to the same.
func (d *ShadowDecision) same(o *ShadowDecision) bool {
	return d.Effect == o.Effect && (d.Failed == "") == (o.Failed == "") &&
		slices.Equal(d.Denials, o.Denials) && slices.Equal(d.Asks, o.Asks) &&
		slices.Equal(d.Rewrites, o.Rewrites) && slices.Equal(d.Obligations, o.Obligations)
}
