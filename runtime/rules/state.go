package rules

import (
	"slices"
	"time"
)

// A State is what has happened in one session, as far as rules look at it. It
// is not safe for concurrent use. An instant before that of the latest event is read
// as that of the latest event.
type State struct {
	engine  *Engine
	version uint64
	now     Instant // of the latest event
	runs    map[string]*run
	owners  map[string]*owner // by principal
	calls   ledger            // live, unknown and undoable ones
	strays  []*call           // started, of runs that were closed
	retired map[string]*tool  // of recorded calls, that the engine does not know
	order   uint64            // of the latest call

	expiring expiring[string] // ids of calls that can be undone
	here     here
	ended    PastCall // by the latest event that ended one
	endedAt  uint64   // the version after that event
}

// run is what all agents and principals of a run share.
type run struct {
	id        string
	began     uint64            // order of the latest call before it
	ended     RunState          // running until the run has finished or is incomplete
	waiting   int               // calls that wait for consent
	reminders int               // already given
	exits     int               // successes of exit tools
	open      int               // required tools without a success
	successes []int32           // by tool
	facts     map[string]*facts // by principal
	counts    map[actor]*counts
	live      []*call // not ended, in the order of their admission
	kept      *call   // ended, and undoable or unknown: the first of a list
}

// facts is what holds for one principal in one run.
type facts struct {
	successes []int32 // by tool, as all lists here, which are longer where a retired tool was called
	unstarted int     // start tools without a success
	holding   []int32 // calls that hold the groups of their tool, by tool
	spent     int     // slots of the limit that all tools share in use
}

// slots returns how many slots of the shared limit are in use.
func (f *facts) slots() int {
	if f == nil {
		return 0
	}
	return f.spent
}

// actor is an agent with its principal, which has counters of its own in a run.
type actor struct{ agent, principal string }

// counts are the slots that an actor has in use, by tool.
type counts struct{ used []int32 }

// owner is what a session remembers of a principal over its runs.
type owner struct {
	principal string
	cooling   []cooling // by tool
	all       cooling   // of all tools together
	equal     memory    // calls by tool and arguments
	keys      memory    // calls by tool and idempotency key
}

// cooling says when calls ended that keep later ones waiting.
type cooling struct {
	busy  int // admitted to start, or started
	ended bool
	end   Instant // the latest, when ended
}

// begin notes that a call is about to start.
func (c *cooling) begin() { c.busy++ }

// abandon reverts begin: the call never starts.
func (c *cooling) abandon() { c.busy-- }

// with returns what keeps later calls waiting of c and d together.
func (c cooling) with(d cooling) cooling {
	c.busy += d.busy
	if d.ended && (!c.ended || c.end < d.end) {
		c.ended, c.end = true, d.end
	}
	return c
}

// coolingOf returns which calls of t, under all its names, keep later ones waiting.
func (o *owner) coolingOf(t *tool) cooling {
	c := o.cooling[t.now.index]
	for _, f := range t.now.former {
		c = c.with(o.cooling[f.index])
	}
	return c
}

// finish notes that a call has ended (SEMANTICS 4.7).
func (c *cooling) finish(now Instant) {
	c.busy--
	c.ended, c.end = true, now
}

// over returns when a period after the latest end is over; forever while a call runs (SEMANTICS 4.7).
func (c *cooling) over(period time.Duration, now Instant) Instant {
	switch {
	case period <= 0:
		return now
	case c.busy > 0:
		return forever
	case !c.ended:
		return now
	}
	return max(now, c.end.Add(period))
}

// NewState returns the state of a session in which nothing has happened.
func (e *Engine) NewState() *State {
	return &State{engine: e, runs: map[string]*run{}, owners: map[string]*owner{}}
}

// Engine returns the engine that s belongs to.
func (s *State) Engine() *Engine { return s.engine }

// Version grows with every event. Between two equal versions nothing happened.
func (s *State) Version() uint64 { return s.version }

// A scope is where a call happens. What does not exist yet is nil and reads as empty.
type scope struct {
	tool   *tool
	run    *run
	facts  *facts
	counts *counts
	owner  *owner
}

// here is where the latest call happened, and most likely the next one does.
type here struct {
	agent, principal string
	scope            scope // its run is nil: it is not known
}

// scopeOf returns the scope of c.
func (s *State) scopeOf(c *Call) scope { return s.find(c.Tool, c.Run, c.Agent, c.Principal) }

// find returns the scope of a call.
func (s *State) find(tool, run, agent, principal string) scope {
	p := s.around(run, agent, principal)
	p.tool = s.toolOf(tool)
	return p
}

// around is find without a tool (SEMANTICS 1.2, 4.8 and 4.21).
func (s *State) around(run, agent, principal string) scope {
	if h := &s.here; h.scope.run != nil && h.scope.run.id == run && h.agent == agent && h.principal == principal {
		return h.scope
	}
	p := scope{run: s.runs[run], owner: s.owners[principal]}
	if p.run != nil {
		p.facts = p.run.facts[principal]
		p.counts = p.run.counts[actor{agent, principal}]
	}
	return p
}

// toolOf returns a tool, nil when there is none of that name.
func (s *State) toolOf(name string) *tool {
	if t := s.here.scope.tool; t != nil && t.name == name && !t.retired {
		return t
	}
	return s.engine.byName[name]
}

// named reports whether a call of t is one of a tool of that name, present or earlier.
func (s *State) named(t *tool, name string) bool {
	o := s.toolOf(name)
	return t.name == name || o != nil && o.now == t.now
}

// retire returns the tool of recorded calls that the engine does not know: no
// rule is about it.
func (s *State) retire(name string) *tool {
	t := s.retired[name]
	if t == nil {
		if s.retired == nil {
			s.retired = map[string]*tool{}
		}
		t = &tool{name: name, index: s.engine.width() + len(s.retired), retired: true}
		t.now = t
		s.retired[name] = t
	}
	return t
}

// runOf returns an open run, nil when there is none.
func (s *State) runOf(id string) *run {
	if r := s.here.scope.run; r != nil && r.id == id {
		return r
	}
	return s.runs[id]
}

// make adds what p lacks. Its run exists.
func (s *State) make(p *scope, principal, agent string) {
	n := s.engine.width()
	if p.owner == nil {
		p.owner = &owner{principal: principal, cooling: make([]cooling, n)}
		s.owners[principal] = p.owner
	}
	if p.facts == nil {
		both := make([]int32, 2*n)
		p.facts = &facts{successes: both[:n:n], unstarted: len(s.engine.starts), holding: both[n:]}
		p.run.facts[principal] = p.facts
	}
	if p.counts == nil {
		p.counts = &counts{used: make([]int32, n)}
		p.run.counts[actor{agent, principal}] = p.counts
	}
	if p.tool.retired {
		p.widen()
	}
	if h := &s.here; h.scope.counts != p.counts || h.scope.tool != p.tool { // counts are those of one run, agent and principal
		*h = here{agent, principal, *p}
	}
}

// widen makes room for the retired tool of p in all lists of p.
func (p *scope) widen() {
	n := p.tool.index + 1
	p.owner.cooling = widen(p.owner.cooling, n)
	p.run.successes = widen(p.run.successes, n)
	p.facts.successes, p.facts.holding = widen(p.facts.successes, n), widen(p.facts.holding, n)
	p.counts.used = widen(p.counts.used, n)
}

// widen returns list with n items at least.
func widen[T any](list []T, n int) []T {
	if len(list) < n {
		list = append(list, make([]T, n-len(list))...)
	}
	return list
}

func (f *facts) succeeded(t *tool) bool { return f != nil && t.total(f.successes) > 0 }

// holds reports whether calls that were recorded under the name of t hold its groups. A retired tool may have
// no place in the lists.
func (f *facts) holds(t *tool) bool { return f != nil && at(f.holding, t) > 0 }

func (c *counts) of(t *tool) int {
	if c == nil {
		return 0
	}
	return t.total(c.used)
}

// pending returns the required tools of r that are open.
func (e *Engine) pending(r *run) []*tool {
	var out []*tool
	for _, t := range e.required {
		if t.total(r.successes) == 0 {
			out = append(out, t)
		}
	}
	return out
}

// ToolFacts is what happened with one tool.
type ToolFacts struct {
	Used      int // slots in use: calls that wait for consent, are admitted to start, or were started
	Successes int // that were not undone
}

// Counts returns the facts of all tools as a call of the agent on behalf of the
// principal sees them: slots in use and successes, in declaration order, either
// nil when all are 0. They hold until the next event and must not be changed.
func (s *State) Counts(run, agent, principal string) (used, successes []int32) {
	p := s.around(run, agent, principal)
	if p.counts != nil {
		used = s.engine.totals(p.counts.used)
	}
	if p.facts != nil {
		successes = s.engine.totals(p.facts.successes)
	}
	return used, successes
}

// totals returns the items of a list by tool in declaration order, each under all names of the tool.
func (e *Engine) totals(list []int32) []int32 {
	if !slices.ContainsFunc(list[len(e.tools):e.width()], func(n int32) bool { return n != 0 }) {
		return list[:len(e.tools)]
	}
	out := make([]int32, len(e.tools))
	for i, t := range e.tools {
		out[i] = int32(t.total(list))
	}
	return out
}

// Facts returns the facts of one tool.
func (s *State) Facts(run, agent, principal, name string) ToolFacts {
	t := s.toolOf(name)
	if t == nil {
		return ToolFacts{}
	}
	p := s.around(run, agent, principal)
	f := ToolFacts{Used: p.counts.of(t)}
	if p.facts != nil {
		f.Successes = t.total(p.facts.successes)
	}
	return f
}

// OpenStarts returns the start tools that have not succeeded yet for a
// principal in a run. They are what start_constraint waits for. During clean-up
// it leaves out those that may not run any more.
func (s *State) OpenStarts(run, principal string) []string {
	p := s.around(run, "", principal)
	open := s.openStarts(p.facts)
	if p.run != nil && p.run.exits > 0 {
		open = slices.DeleteFunc(open, func(t *tool) bool {
			p.tool = t
			return !s.cleansUp(&p)
		})
	}
	return namesOf(open)
}

func (s *State) openStarts(f *facts) []*tool { return f.without(s.engine.starts) }

// without returns the tools of list that have not succeeded.
func (f *facts) without(list []*tool) []*tool {
	var out []*tool
	for _, t := range list {
		if !f.succeeded(t) {
			out = append(out, t)
		}
	}
	return out
}

// Size returns how many entries for calls s holds in all of its indexes. Prune removes
// expired ones.
func (s *State) Size() int {
	n := s.calls.size()
	for _, o := range s.owners {
		n += len(o.equal.entries) + len(o.keys.entries)
	}
	return n
}
