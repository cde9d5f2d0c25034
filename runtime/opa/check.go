package opa

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/runtime"
)

// DefaultCheck says how many decisions of the plan there are for each one that OPA's
// evaluator makes, too.
const DefaultCheck = 1024

// WithCheck sets that OPA's evaluator also makes one in n decisions of the plan, by
// default one in DefaultCheck; 0 is never. It evaluates beside the call, in one
// goroutine at most, and is skipped while that one is busy, so that no call waits. After
// a difference the policies that decide do so by OPA's evaluator until the next reload;
// the functions of OnDifference are called.
func WithCheck(n int) Option {
	return func(p *Policy) { p.checkEvery = uint64(max(0, n)) }
}

// A Difference is a decision that the two evaluators made differently. It has nothing
// of the call's arguments.
type Difference struct {
	Time     time.Time
	Revision string // of the policies
	Tool     string
	CallID   string
	RunID    string
	Session  string
	Failed   bool // OPA's evaluator refused to decide, and the plan decided
}

// OnDifference has f called after every difference, in the goroutine of the check.
func (p *Policy) OnDifference(f func(Difference)) {
	p.reload.Lock()
	defer p.reload.Unlock()
	p.different = append(p.different, f)
}

// counters are the counters of a Policy.
type counters struct {
	planned, noAnswer, checked, skipped, different atomic.Uint64
}

// count counts a decision.
func (p *Policy) count(g *generation, by Evaluator) {
	switch {
	case by == Plan:
		p.stats.planned.Add(1)
	case g.asksPlan():
		p.stats.noAnswer.Add(1)
	}
}

// check has OPA's evaluator make a decision of the plan again, beside the call, when
// it is the turn of the decision. It reports whether it does; the check then calls release, when
// nothing reads the input any more.
func (p *Policy) check(ctx context.Context, d *decider, in *runtime.PolicyInput, input ast.Value, planned *ast.Term, release func()) bool {
	if p.checkEvery == 0 || p.turn.Add(1)%p.checkEvery != 0 {
		return false
	}
	if !p.checking.CompareAndSwap(false, true) {
		p.stats.skipped.Add(1)
		return false
	}
	about := Difference{Time: in.Now, Revision: d.Src.Revision, Tool: in.Tool.Name, CallID: in.CallID, RunID: in.RunID, Session: in.SessionID}
	go func() {
		defer p.checking.Store(false)
		defer release()
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), runtime.DefaultPolicyTimeout)
		defer stop()
		p.compare(ctx, d.generation, input, planned, about)
	}()
	return true
}

// compare compares a decision of the plan with that of OPA's evaluator.
func (p *Policy) compare(ctx context.Context, g *generation, input ast.Value, planned *ast.Term, about Difference) {
	t, err := g.eval(ctx, input)
	if ctx.Err() != nil {
		p.stats.skipped.Add(1)
		return
	}
	p.stats.checked.Add(1)
	if err == nil && t.Value.Compare(planned.Value) == 0 {
		return
	}
	g.distrusted.Store(true)
	p.stats.different.Add(1)
	about.Failed = err != nil
	p.reload.Lock()
	report := p.different[:len(p.different):len(p.different)]
	p.reload.Unlock()
	for _, f := range report {
		f(about)
	}
}
