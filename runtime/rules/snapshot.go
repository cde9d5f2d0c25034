package rules

import (
	"cmp"
	"maps"
	"slices"
)

// A Snapshot is what has happened in a session, by name: nothing in it was made by a
// Config. Engine.Restore makes a State of it under any Config, with the calls that
// have ended (PastCall), which the caller keeps.
type Snapshot struct {
	Now     Instant    `json:"now"`
	Events  uint64     `json:"events"`
	Order   uint64     `json:"order"` // of the latest call
	Runs    []RunFacts `json:"runs,omitempty"`
	Cooling []Cooling  `json:"cooling,omitempty"`
	Live    []LiveCall `json:"live,omitempty"` // in the order of their admission
}

// A RunFacts is what has happened in an open run.
type RunFacts struct {
	Run       string      `json:"run"`
	Began     uint64      `json:"began"`           // order of the latest call before it
	Ended     RunState    `json:"ended,omitempty"` // running until the run has finished or is incomplete
	Reminders int         `json:"reminders,omitempty"`
	Exits     int         `json:"exits,omitempty"` // successes of exit tools that began its clean-up
	Slots     []Slots     `json:"slots,omitempty"`
	Facts     []Successes `json:"facts,omitempty"`
}

// Slots are those of a tool that are in use by one agent with one principal.
type Slots struct {
	Principal string `json:"principal,omitempty"`
	Agent     string `json:"agent,omitempty"`
	Tool      string `json:"tool"`
	Used      int    `json:"used"`
}

// Successes are the calls of a tool that hold for one principal.
type Successes struct {
	Principal string `json:"principal,omitempty"`
	Tool      string `json:"tool"`
	Succeeded int    `json:"succeeded,omitempty"`
	Holding   int    `json:"holding,omitempty"` // that hold the groups of the tool
}

// A Cooling is when the latest call of a tool for one principal has ended.
type Cooling struct {
	Principal string  `json:"principal,omitempty"`
	Tool      string  `json:"tool"`
	End       Instant `json:"end"`
}

// A LiveCall has not ended, or it is not known how.
type LiveCall struct {
	Order     uint64   `json:"order"` // among all calls of the session, as it is held against equal ones
	Call      string   `json:"call"`
	Run       string   `json:"run,omitempty"` // empty: it was closed
	Agent     string   `json:"agent,omitempty"`
	Principal string   `json:"principal,omitempty"`
	Tool      string   `json:"tool"`
	Args      Digest   `json:"args,omitzero"`
	Key       Digest   `json:"key,omitzero"`
	Progress  Progress `json:"progress"`
	End       Instant  `json:"end,omitempty"` // of an unknown one
}

// A PastCall has ended with a status other than an error, and was not undone. It matters to later
// calls as long as a window of its tool lasts or it can be undone.
type PastCall struct {
	Order     uint64  `json:"order"` // as that of a LiveCall
	Call      string  `json:"call"`
	Run       string  `json:"run,omitempty"` // empty: it was closed before the call ended
	Principal string  `json:"principal,omitempty"`
	Tool      string  `json:"tool"`
	Args      Digest  `json:"args,omitzero"`
	Key       Digest  `json:"key,omitzero"`
	Status    Status  `json:"status"`
	End       Instant `json:"end"`
	Exited    bool    `json:"exited,omitempty"` // it began the clean-up of its run
}

// noteEnd notes how c has ended.
func (s *State) noteEnd(c *call, status Status) {
	s.endedAt = s.version
	s.ended = PastCall{
		Order: c.held, Call: c.id, Principal: c.owner.principal, Tool: c.tool.name, Args: c.args, Key: c.key,
		Status: status, End: c.end, Exited: c.exited,
	}
	if c.run != nil {
		s.ended.Run = c.run.id
	}
}

// Ended returns the call that the latest event has ended. It reports false when the event
// ended none, or one that changes nothing for later calls, because it failed, or one that
// is live, because it is not known how it ended. The caller keeps what Restore needs;
// EventUndone makes a call that it kept superfluous.
func (s *State) Ended() (PastCall, bool) {
	if s.endedAt != s.version || s.version == 0 || s.ended.Status != StatusOK && s.ended.Status != StatusTimeout {
		return PastCall{}, false
	}
	return s.ended, true
}

// Snapshot returns what has happened in s. Its size is that of what is open, plus a
// number for each tool that was called.
func (s *State) Snapshot() *Snapshot {
	of := &Snapshot{Now: s.now, Events: s.version, Order: s.order}
	tools := s.toolsByName()
	actors := map[*counts]actor{}
	for _, id := range slices.Sorted(maps.Keys(s.runs)) {
		r := s.runs[id]
		of.Runs = append(of.Runs, r.happened(tools))
		for a, c := range r.counts {
			actors[c] = a
		}
	}
	for _, principal := range slices.Sorted(maps.Keys(s.owners)) {
		for _, t := range tools {
			if c := at(s.owners[principal].cooling, t); c.ended {
				of.Cooling = append(of.Cooling, Cooling{principal, t.name, c.end})
			}
		}
	}
	for _, c := range s.liveCalls() {
		l := LiveCall{
			Order: c.held, Call: c.id, Principal: c.owner.principal, Tool: c.tool.name, Args: c.args, Key: c.key, Progress: c.progress, End: c.end,
		}
		if c.run != nil {
			l.Run, l.Agent = c.run.id, actors[c.counts].agent
		}
		of.Live = append(of.Live, l)
	}
	return of
}

// toolsByName returns all tools, also retired ones and those of earlier names, in an order that no Config decides on.
func (s *State) toolsByName() []*tool {
	list := slices.AppendSeq(slices.Concat(s.engine.tools, s.engine.former), maps.Values(s.retired))
	slices.SortFunc(list, func(a, b *tool) int { return cmp.Compare(a.name, b.name) })
	return list
}

// at returns the item of t in a list, which may be shorter.
func at[T any](list []T, t *tool) (item T) {
	if t.index < len(list) {
		item = list[t.index]
	}
	return item
}

// liveCalls returns the calls that have not ended, or of which it is not known how, in the
// order of their admission.
func (s *State) liveCalls() (list []*call) {
	for c := range s.calls.all() {
		if c.progress <= unknown {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b *call) int { return cmp.Compare(a.order, b.order) })
	return list
}

// happened returns what has happened in r.
func (r *run) happened(tools []*tool) RunFacts {
	of := RunFacts{Run: r.id, Began: r.began, Ended: r.ended, Reminders: r.reminders, Exits: r.exits}
	for _, a := range slices.SortedFunc(maps.Keys(r.counts), actor.compare) {
		for _, t := range tools {
			if n := at(r.counts[a].used, t); n != 0 {
				of.Slots = append(of.Slots, Slots{a.principal, a.agent, t.name, int(n)})
			}
		}
	}
	for _, principal := range slices.Sorted(maps.Keys(r.facts)) {
		f := r.facts[principal]
		for _, t := range tools {
			if n, held := at(f.successes, t), at(f.holding, t); n != 0 || held != 0 {
				of.Facts = append(of.Facts, Successes{principal, t.name, int(n), int(held)})
			}
		}
	}
	return of
}

func (a actor) compare(b actor) int {
	return cmp.Or(cmp.Compare(a.principal, b.principal), cmp.Compare(a.agent, b.agent))
}
