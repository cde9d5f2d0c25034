package rules

import (
	"container/heap"
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime"
)

// node is a state that the search has reached.
type node struct {
	made   set
	waited bool
	wait   time.Duration // that the waits must last together
	steps  int           // with the wait that a paced move needs after it
	left   int           // steps that are needed at least
	goal   bool
	from   *node
	move   int // that led here; -1: the wait, -2: the target
	order  int // in which the nodes were found
}

// frontier yields the node with the fewest steps, of several the one that waits
// least, of those the one that is nearest to the target.
type frontier []*node

func (f frontier) Len() int      { return len(f) }
func (f frontier) Swap(i, j int) { f[i], f[j] = f[j], f[i] }
func (f frontier) Less(i, j int) bool {
	a, b := f[i], f[j]
	switch {
	case a.steps+a.left != b.steps+b.left:
		return a.steps+a.left < b.steps+b.left
	case a.wait != b.wait:
		return a.wait < b.wait
	case a.goal != b.goal:
		return a.goal
	case a.left != b.left:
		return a.left < b.left
	}
	return a.order < b.order
}

// Push adds a node.
func (f *frontier) Push(x any) { *f = append(*f, x.(*node)) }

// Pop takes the last node.
func (f *frontier) Pop() any {
	last := len(*f) - 1
	n := (*f)[last]
	*f = (*f)[:last]
	return n
}

// spot of a node, for telling that the search was there before.
type spot struct {
	made   set
	waited bool
}

// search goes through sets of moves, the nearest first. What is waited for to
// finish comes before all waits: no move takes time. Where the set has no cooldown
// one wait is enough, since only ends of calls begin cooldowns that a later move
// can meet. With one there is a wait after each call that is made on the way.
func (w *wayfinder) search() Way {
	must := w.needed()
	if w.contradicts(must) {
		return Way{Outlook: OutlookNever}
	}
	open := frontier{{left: w.left(must, 0), move: -1}}
	best := map[spot]node{}
	found := 0
	push := func(n node) {
		found++
		n.order = found
		n.left = w.left(must, n.made)
		if n.goal {
			heap.Push(&open, &n)
			return
		}
		k := spot{n.made, n.waited}
		if b, ok := best[k]; ok && (b.steps < n.steps || b.steps == n.steps && b.wait <= n.wait) {
			return
		}
		best[k] = n
		heap.Push(&open, &n)
	}
	for open.Len() > 0 {
		n := heap.Pop(&open).(*node)
		if n.goal {
			return Way{Outlook: OutlookOpen, Steps: w.steps(n)}
		}
		if found > maxNodes {
			return Way{}
		}
		w.expand(n, push)
	}
	return Way{Outlook: OutlookNever}
}

// expand pushes what can come after n.
func (w *wayfinder) expand(n *node, push func(node)) {
	next := *n
	next.from = n
	wait := func(from Instant) (time.Duration, bool) {
		return max(n.wait, from.Sub(w.now)), n.waited || from == w.now
	}
	if from, ok := w.ready(n); ok {
		if d, ok := wait(from); ok {
			next.goal, next.wait, next.move = true, d, -2
			push(next)
		}
	}
	next.goal, next.steps = false, n.steps+1
	if !n.waited {
		next.waited, next.wait, next.move = true, n.wait, -1
		push(next)
	}
	for i := range w.moves {
		kind := w.moves[i].kind
		if n.made.has(i) || n.waited && (kind == runtime.StepFinish || kind == runtime.StepWait) {
			continue
		}
		from, ok := w.may(n, i)
		if !ok {
			continue
		}
		if d, ok := wait(from); ok {
			next.made, next.wait, next.move = n.made|1<<i, d, i
			next.waited, next.steps = n.waited, n.steps+1
			if kind == runtime.StepWait {
				next.steps = n.steps + len(w.unanswered(n.made, nil))
			}
			if w.paced(&w.moves[i]) {
				next.waited, next.wait, next.steps = true, w.now.Add(d).Add(w.s.engine.cooldown).Sub(w.now), n.steps+2
			}
			push(next)
		}
	}
}

// needed returns the tools without whose success there is no way.
func (w *wayfinder) needed() []*tool {
	var out []*tool
	todo := []*tool{w.scope.tool}
	add := func(list []*tool) {
		for _, t := range w.scope.facts.without(list) {
			if !slices.Contains(out, t) {
				out = append(out, t)
				todo = append(todo, t)
			}
		}
	}
	for len(todo) > 0 {
		t := todo[0]
		todo = todo[1:]
		if !t.start {
			add(w.s.engine.starts)
		}
		if !t.needsAny || len(t.needs) == 1 {
			add(t.needs)
		}
	}
	return out
}

// contradicts reports whether what is needed excludes itself: two tools of one
// group, two that must precede each other, or more calls than the run has left.
// The search would find that out too, but only by trying every order.
func (w *wayfinder) contradicts(must []*tool) bool {
	calls, drops := 1, 0
	for _, t := range must {
		if !w.pending(t) {
			calls++
		}
	}
	for i := range w.moves {
		if m := &w.moves[i]; m.kind == runtime.StepDrop && m.facts {
			drops++
		}
	}
	if b := w.s.engine.budget; b > 0 && w.scope.facts.slots()-drops+calls > b {
		return true
	}
	all := append(slices.Clone(must), w.scope.tool)
	for i, x := range all {
		for _, y := range all[i+1:] {
			rivals := slices.ContainsFunc(x.groups, func(g int) bool { return slices.Contains(y.groups, g) })
			each := slices.Contains(x.precedes, y) && slices.Contains(y.precedes, x) && !w.pending(x) && !w.pending(y)
			if rivals || each {
				return true
			}
		}
	}
	return false
}

// pending reports whether a call that has not ended may yet make t succeed.
func (w *wayfinder) pending(t *tool) bool {
	return slices.ContainsFunc(w.moves, func(m move) bool {
		return m.tool == t && m.facts && m.kind != runtime.StepCall && m.kind != runtime.StepDrop
	})
}

// left returns how many steps are needed at least after made.
func (w *wayfinder) left(must []*tool, made set) int {
	n := 0
	for _, t := range must {
		if w.succeeded(made, t) {
			continue
		}
		n++
		finishes := func(m move) bool { return m.tool == t && m.facts && m.kind == runtime.StepFinish }
		if w.s.engine.cooldown > 0 && !slices.ContainsFunc(w.moves, finishes) {
			n++ // the wait after it
		}
	}
	return n
}

// steps returns the way to n. A wait comes as late as it can: directly before the
// first step that has to be waited for.
func (w *wayfinder) steps(n *node) []runtime.Step {
	var path []*node
	for ; n.from != nil; n = n.from {
		path = append(path, n)
	}
	slices.Reverse(path)
	total := path[len(path)-1].wait
	var out []runtime.Step
	passed := time.Duration(0)
	for _, n := range path {
		if n.move == -1 {
			continue
		}
		if due := w.due(n, total); due > passed {
			out = append(out, runtime.Step{Kind: runtime.StepWait, For: due - passed})
			passed = due
		}
		if n.goal {
			continue
		}
		m := &w.moves[n.move]
		if m.kind == runtime.StepWait {
			for _, c := range w.unanswered(n.from.made, nil) {
				out = append(out, runtime.Step{Kind: runtime.StepWait, Tool: c.tool.now.name, Call: c.id})
			}
			continue
		}
		st := runtime.Step{Kind: m.kind, Tool: m.tool.name}
		if m.call != nil {
			st.Call = m.call.id
		} else {
			st.Consent = m.tool.consent
		}
		out = append(out, st)
	}
	return out
}

// due returns how long must have been waited for before the step to n. Where the
// set has no cooldown it is total for the first step that has to be waited for.
func (w *wayfinder) due(n *node, total time.Duration) time.Duration {
	if cooldown := w.s.engine.cooldown; cooldown > 0 {
		switch {
		case n.goal:
			return n.wait
		case w.paced(&w.moves[n.move]):
			return n.wait - cooldown
		}
		return 0
	}
	var from Instant
	if n.goal {
		from, _ = w.ready(n.from)
	} else {
		from, _ = w.may(n.from, n.move)
	}
	if from > w.now {
		return total
	}
	return 0
}
