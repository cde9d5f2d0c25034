package opa

import (
	"sync"

	"github.com/ambit-tools/ambit/runtime/internal/facts"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/runtime"
)

// Facts are counts and successes per tool: two objects with one member for each
// tool of the registry. To build them for every call would make a decision
// slower with every tool that is declared, so each run has one pair of objects,
// in which the few facts that changed between two calls are changed in place.
//
// A pair belongs to one version of the facts. It is changed only under its
// lock, and evaluations hold the lock for reading. A call that has an older
// version than its pair, or that cannot take the lock since evaluations of other
// calls hold it, builds its own pair.
//
// An object of OPA computes its hash when it is built. Changes in place make the
// hash wrong. A policy observes that only when it uses an object as a whole, as
// an element of a set or an argument of a function. A generation whose policies
// do that (reads.wholeFacts) gets new objects for every version.

// pair is the facts of a run as OPA reads them.
type pair struct {
	names *names

	mu                sync.RWMutex
	version           uint64
	patched           bool // changed since it was built: the hashes are wrong
	counts, succeeded *ast.Term
	terms             []ast.Term // the values: of counts, then of succeeded
}

// A memo is what one snapshot of the facts remembers: a pair and the version
// that the pair must have to be right for the snapshot.
type memo struct {
	pair    *pair
	version uint64
}

// newPair builds the facts of one snapshot.
func newPair(n *names, f *runtime.Facts) *pair {
	tools := len(n.tools)
	p := &pair{names: n, version: f.Version(), terms: make([]ast.Term, 2*tools)}
	items := make([][2]*ast.Term, 2*tools)
	for i, name := range n.tools {
		p.set(i, f.Tool(i))
		items[i] = ast.Item(name, &p.terms[i])
		items[tools+i] = ast.Item(name, &p.terms[tools+i])
	}
	p.counts, p.succeeded = ast.ObjectTerm(items[:tools]...), ast.ObjectTerm(items[tools:]...)
	return p
}

// set writes the facts of the tool at position i.
func (p *pair) set(i int, f runtime.ToolFacts) {
	p.terms[i].Value = intValue(int64(f.Invocations))
	p.terms[len(p.names.tools)+i].Value = ast.InternedValue(f.Successes > 0)
}

// facts returns the facts of a call. release must be called when the evaluation
// has ended and its result is read.
func (g *generation) facts(n *names, f *runtime.Facts) (p *pair, release func()) {
	if f == nil {
		return n.none, func() {}
	}
	m, ok := (*facts.Snapshot)(f).Memo(func(base any, changed []int) any { return g.remember(n, f, base, changed) }).(*memo)
	if ok && m.pair.names == n && m.pair.mu.TryRLock() {
		if m.pair.version == m.version && !(m.pair.patched && g.reads.wholeFacts) {
			return m.pair, m.pair.mu.RUnlock
		}
		m.pair.mu.RUnlock()
	}
	return newPair(n, f), func() {}
}

// remember returns the memo of a snapshot: the pair of an earlier one, brought
// up to date, or a new pair.
func (g *generation) remember(n *names, f *runtime.Facts, base any, changed []int) *memo {
	m, ok := base.(*memo)
	if !ok || g.reads.wholeFacts || m.pair.names != n || !m.pair.mu.TryLock() {
		return &memo{newPair(n, f), f.Version()}
	}
	defer m.pair.mu.Unlock()
	if m.pair.version != m.version {
		return &memo{newPair(n, f), f.Version()}
	}
	for _, i := range changed {
		if i >= 0 && i < len(n.tools) {
			m.pair.set(i, f.Tool(i))
		}
	}
	m.pair.version, m.pair.patched = f.Version(), true
	return &memo{m.pair, f.Version()}
}
