package engine

import (
	"iter"
	"strings"
)

// A runCalls links the records of the calls of one run, in a list through the records. All parts of
// a run share it, and so do consecutive runs of one session with the same id.
type runCalls struct {
	Turns int // that were begun

	run    string
	last   *callRecord    // nil: there is none in memory
	some   bool           // a call was made
	agents map[string]int // by sub-agent, empty for the run: the number of the last id made for a part of it
}

// add adds the record of the last call of the run.
func (x *runCalls) add(r *callRecord) {
	r.run, r.before, r.after = x, x.last, nil
	if x.last != nil {
		x.last.after = r
	}
	x.last, x.some = r, true
}

// remove takes a record out of the list.
func (x *runCalls) remove(r *callRecord) {
	if r.before != nil {
		r.before.after = r.after
	}
	if r.after != nil {
		r.after.before = r.before
	} else {
		x.last = r.before
	}
	r.before, r.after = nil, nil
}

// all yields the records, that of the last call first. The zero pointer has none.
func (x *runCalls) all() iter.Seq[*callRecord] {
	return func(yield func(*callRecord) bool) {
		if x == nil {
			return
		}
		for r := x.last; r != nil; r = r.before {
			if !yield(r) {
				return
			}
		}
	}
}

// Child returns the name of the sub-agent id of the agent parent, which is empty for the run itself. It
// makes an id for an empty one, which no sub-agent of parent has had (SEMANTICS 1.4.6).
func (x *runCalls) Child(parent, id string) string {
	if id == "" {
		id = x.nextAgent(parent)
	}
	if parent != "" {
		id = parent + "/" + id
	}
	x.sawAgent(id)
	return id
}

// Restore takes account of a call of an earlier process: of its turn, and of the sub-agent that made it.
func (x *runCalls) Restore(turn int, agent string) {
	x.Turns = max(x.Turns, turn)
	x.sawAgent(agent)
}

// nextAgent makes the id of a sub-agent of parent.
func (x *runCalls) nextAgent(parent string) string { return madeID(agentPrefix, x.agents[parent]+1) }

// sawAgent takes account of the ids in the name of a sub-agent.
func (x *runCalls) sawAgent(name string) {
	for from := 0; from < len(name); {
		end := strings.IndexByte(name[from:], '/') + from
		if end < from {
			end = len(name)
		}
		parent := strings.TrimSuffix(name[:from], "/")
		if n := madeNumber(agentPrefix, name[from:end]); n > x.agents[parent] {
			if x.agents == nil {
				x.agents = map[string]int{}
			}
			x.agents[parent] = n
		}
		from = end + 1
	}
}
