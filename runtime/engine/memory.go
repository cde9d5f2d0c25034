package engine

// A memory is what one session remembers between calls: the state of its rules, the records of its calls and of the calls of
// each run, the tree of the parts of a run, and the changes that the next entry of the session takes along. It has no lock,
// clock, goroutine or I/O: the lock of the session guards it.

import (
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// A memory is what one session remembers. The zero value has no rules: only New and Restored make one
// that a call can use.
type memory struct {
	Undos *sched.Gate // undos that have not returned; it is shut when the session is
	Work  *sched.Gate // goroutines that work on a call or run a handler; each is counted, whether it is shut or not

	engine  *rules.Engine
	rules   *rules.State
	calls   callIndex
	ended   calls         // of the other calls, by reference
	recent  []*callRecord // ended and in calls: the next ones to be held by reference
	byRun   map[string]*runCalls
	nodes   map[string]*runNode // of open runs
	made    int                 // the number of the last id of a call that Add made, or an earlier process
	number  int                 // calls of the session
	runs    int                 // ids of runs that NextRun made
	past    uint64              // events of states that were dropped
	changes []rules.Event       // for the next entry of the session
	queues  bool                // there is a journal, which takes the changes
	observe func(rules.Event)   // gets every change; nil: none is set
	forgot  bool                // Forget was called, or the session was restored as one that has ended
}

// newMemory returns the memory of a new session. queues says that changes are queued for entries. observe,
// unless it is nil, gets every change of the state.
func newMemory(e *rules.Engine, queues bool, observe func(rules.Event)) memory {
	m := memory{Undos: new(sched.Gate), Work: new(sched.Gate), engine: e, queues: queues, observe: observe}
	m.byRun, m.nodes = map[string]*runCalls{}, map[string]*runNode{}
	if e != nil {
		m.rules = e.NewState()
	}
	return m
}

// Restore replaces the state of the rules by that of a journal, and opens the runs that are open. A session that has
// ended is shut (SEMANTICS 1.4.5).
func (m *memory) Restore(of *history.Session) {
	m.rules, m.runs, m.forgot = of.State, max(m.runs, of.Runs), of.Over
	for i := range of.ByReference {
		m.addEnded(&of.ByReference[i])
	}
	for run, metadata := range of.Open {
		if m.nodes[run] == nil { // a caller may hold those that were open when the session left memory
			m.OpenNode(run, metadata)
		}
	}
	if of.Over {
		m.Undos.Shut()
	}
}

// Drop drops the state of the rules and the records of the calls, which a journal has. What Restore and Add then add is
// that of the same session: ids that were made are not made again, and the list of calls of a run that is open stays
// the one that its parts have. It reports false, and drops nothing, when no entry has taken the latest changes.
func (m *memory) Drop() bool {
	if len(m.changes) > 0 {
		return false
	}
	m.past += m.rules.Version() + 1
	m.rules, m.calls, m.number = nil, callIndex{}, 0
	m.ended, m.recent = calls{}, nil
	for run, x := range m.byRun {
		if x.last = nil; m.nodes[run] == nil {
			delete(m.byRun, run)
		}
	}
	return true
}

// Clear sets the state of the rules to that of a new session.
func (m *memory) Clear(e *rules.Engine) { m.rules = e.NewState() }

// Rules returns the state of the rules, to read.
func (m *memory) Rules() *rules.State { return m.rules }

// Version grows with every event of the rules. Between two equal versions nothing happened.
func (m *memory) Version() uint64 { return m.past + m.rules.Version() }

// Add adds the record of a new call to its run and returns nothing, or the record, or the reference, that has the same
// id already. It makes the id of a record that has none.
func (m *memory) Add(r *callRecord, run *runCalls) (earlier *callRecord, was *endedCall) {
	m.Name(r)
	if was = m.Reference(r.ID); was != nil {
		return nil, was
	}
	if r.restored != nil {
		m.made = max(m.made, madeNumber(callPrefix, r.ID))
	}
	if r.Number == 0 {
		r.Number = m.number + 1
	}
	m.number = max(m.number, r.Number)
	if earlier = m.calls.putIfAbsent(r); earlier == nil {
		run.add(r)
	}
	return earlier, nil
}

// Name makes the id of a record that has none.
func (m *memory) Name(r *callRecord) {
	for r.ID == "" {
		m.made++
		if id := madeID(callPrefix, m.made); m.calls.find(id) == nil && m.Reference(id) == nil {
			r.ID = id
		}
	}
}

// Find returns the record of a call, nil when there is none or the call is held by reference.
func (m *memory) Find(id string) *callRecord { return m.calls.find(id) }

// Live returns the call with an id, zero when there is none or it can change no more.
func (m *memory) Live(id string) (live *call) {
	if r := m.Find(id); r != nil {
		live = r.Live
	}
	return live
}

// runCalls returns the calls of a run, an empty list when the run is not known.
func (m *memory) Calls(run string) *runCalls {
	x := m.byRun[run]
	if x == nil {
		x = &runCalls{run: run}
		m.byRun[run] = x
	}
	return x
}

// FillDuplicate sets the outcome of a call that repeats an earlier one, with the output of that call
// if there is one and it is in memory: the caller reads that of a Reference (SEMANTICS 4.8 and 4.9).
func (m *memory) FillDuplicate(out *runtime.Outcome, of string) {
	out.Kind, out.Of = runtime.Duplicate, of
	out.Message = "an equal call was made before: " + wording.Quote(of)
	kind := runtime.Completed
	switch r, was := m.Find(of), m.Reference(of); {
	case r != nil && !r.Ended():
		out.Message = "an equal call was made before, and has no outcome yet: " + wording.Quote(of) + " may still fail. Do not take it for done"
		return
	case r != nil:
		earlier := r.Outcome()
		out.Output, out.Artifact = earlier.Output, earlier.Artifact
		kind = earlier.Kind
	case was != nil:
		kind = was.Kind
	}
	if kind != runtime.Completed {
		out.Message += " ended as " + kind.String() + ". Do not take it for done"
	}
}

// Artifact returns the artifact of the session that has a hash.
func (m *memory) Artifact(sha256 string) (ref runtime.ArtifactRef, ok bool) {
	for r := range m.calls.all() {
		if a := r.Artifact(); a != nil && a.SHA256 == sha256 {
			return a.ArtifactRef, true
		}
	}
	return m.ended.ByArtifact(sha256)
}

// WithArtifact returns the artifact that has a hash of a call in memory whose outcome is told to a caller, and otherwise the
// other calls that have it.
func (m *memory) WithArtifact(sha256 string, to *callOrigin) (ref *runtime.ArtifactRef, others []endedCall) {
	for r := range m.calls.all() {
		if a := r.Artifact(); a != nil && a.SHA256 == sha256 && r.By.Answers(to) {
			return &a.ArtifactRef, nil
		}
	}
	return nil, m.ended.WithArtifact(sha256)
}

// Take returns the queued changes, for an entry, and empties the queue.
func (m *memory) Take() []rules.Event {
	list := m.changes
	m.changes = nil
	return list
}

// changed queues a change of the rules. Every change passes through it, in order.
func (m *memory) changed(ev *rules.Event) {
	if m.observe != nil || m.queues {
		m.changedSlow(ev)
	}
}

// changedSlow is changed when the change is observed or queued.
func (m *memory) changedSlow(ev *rules.Event) {
	if m.observe != nil {
		m.observe(*ev)
	}
	if m.queues {
		m.changes = append(m.changes, *ev)
	}
}
