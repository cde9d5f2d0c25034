package crashtest

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/runtime"
)

// A model is what is known outside of the machine.
type model struct {
	calls   []*known
	files   map[string]string // as they have to be
	run     string            // the open one; empty: none
	runs    int
	closing bool     // a caller waits for the run to be closed
	ending  bool     // a caller waits for the session to be ended
	ended   int      // sessions, before the present one
	late    bool     // there was an effect of a call whose outcome had been told
	low     uint64   // the last entry that was archived
	anchors [][]byte // notes that were anchored
	grants  []string // ids of those that an approver was told of
	procs   []*proc  // programs that ran

	forgotten time.Time         // calls that ended before that may be forgotten
	erased    time.Time         // segments that ended before that may be deleted
	copies    map[string][]byte // of segments, by name
}

// known is what is known of a call.
type known struct {
	id, run string
	kind    *kind
	plan    plan
	input   []byte

	flying    bool              // a caller waits for its outcome
	outcome   *runtime.Outcome  // as it was told; nil: it was not
	request   string            // which an approver or the caller was told of
	yes, no   bool              // the answer to it that was accepted
	gone      bool              // it was cancelled, as the caller was told
	withdrawn bool              // it was cancelled, and its caller was told that this is not recorded: it may be when there is room
	refused   bool              // the caller was told that the journal cannot be written
	before    map[string]string // the files that it writes, before
	effects   int
	finding   *bool // what a person says of the unknown call, who waits for the answer
	found     bool  // what that person said counts
	undoing   bool  // a caller waits for its undo
	undone    bool  // as it was told
	over      bool  // its session has ended, as it was told

	began     time.Time // at the earliest
	mayForget bool      // an archive was to forget it, whether or not it came to its end
	forgot    bool      // it is forgotten, as was told: its id is free
}

func newModel() *model { return &model{files: map[string]string{}, copies: map[string][]byte{}} }

// clone returns a copy that shares no state with m.
func (m *model) clone() *model {
	c := *m
	c.files, c.copies = maps.Clone(m.files), maps.Clone(m.copies)
	c.calls = make([]*known, len(m.calls))
	for i, k := range m.calls {
		twin := *k
		c.calls[i] = &twin
	}
	c.procs = make([]*proc, len(m.procs))
	for i, p := range m.procs {
		twin := *p
		c.procs[i] = &twin
	}
	c.anchors, c.grants = slices.Clone(m.anchors), slices.Clone(m.grants)
	return &c
}

// call returns what is known of the last call that was given an id, nil when there was none.
func (m *model) call(id string) *known {
	for _, k := range slices.Backward(m.calls) {
		if k.id == id {
			return k
		}
	}
	return nil
}

// takeoff notes that a caller waits for a call that may run.
func (m *model) takeoff(k *known) {
	k.flying, k.before = true, map[string]string{}
	for _, p := range k.plan.Paths {
		k.before[p] = m.files[p]
	}
}

// told notes how a call has ended.
func (m *model) told(k *known, out *runtime.Outcome) {
	k.flying, k.outcome = false, out
	if out.Kind == runtime.Completed && !k.found {
		for _, p := range k.plan.Paths {
			m.files[p] = k.plan.Text
		}
	}
}

// reverted notes that a call was undone.
func (m *model) reverted(k *known) {
	k.undoing, k.undone = false, true
	maps.Copy(m.files, k.before)
}

// intact reports whether all that a call has written is as it has left it.
func (m *model) intact(k *known) bool {
	return !slices.ContainsFunc(k.plan.Paths, func(p string) bool { return m.files[p] != k.plan.Text })
}

// started reports whether a call with this outcome counts as invoked.
func started(out *runtime.Outcome) bool {
	switch out.Kind {
	case runtime.Completed, runtime.TimedOut, runtime.Unknown:
		return true
	case runtime.Failed:
		return out.Reason != runtime.ReasonInterrupted || out.RolledBack || strings.Contains(out.Message, "had no effect")
	}
	return false
}

// invocations returns how many slots of each tool the calls of the open run hold.
func (m *model) invocations() map[string]int {
	n := map[string]int{}
	for _, k := range m.calls {
		if k.run == m.run && (k.outcome == nil && k.request != "" && !k.refused || k.outcome != nil && started(k.outcome)) {
			n[k.kind.name]++
		}
	}
	return n
}

// opened reports whether a call of a tool has succeeded in the open run, and was
// not undone.
func (m *model) opened(tool string) bool {
	return slices.ContainsFunc(m.calls, func(k *known) bool {
		return k.run == m.run && k.kind.name == tool && !k.undone && k.outcome != nil && k.outcome.Kind == runtime.Completed
	})
}
