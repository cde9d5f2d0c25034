package engine

import (
	"sync/atomic"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
)

// A callRecord is what a session keeps of a call.
type callRecord struct {
	id       string
	tool     string
	input    []byte
	digest   bool         // input is a digest: the input is larger than the tool allows
	room     [160]byte    // for a short input and, behind it, a short output
	first    sched.Event  // happens when there is a first answer: the outcome, or that the call waits for consent
	final    *sched.Event // happens when the call that waited has its outcome; nil: first was the outcome
	stored   storedOutcome
	later    atomic.Pointer[runtime.Outcome] // replaces an outcome that was unknown or not recorded in time; nil: nothing does
	call     *call                           // as long as the call can change, or when it waited for consent
	run      *runCalls
	number   int            // in the session
	undo     undoable       // guarded by the session
	restored *restoredInput // of a call of an earlier process; nil: it was made in this one
	hash     uint64         // of the id, in callIndex
	next     *callRecord    // in the chain of callIndex
	before   *callRecord    // the previous call of the same run; nil: this is the first
}

// A restoredInput identifies the input of a call of an earlier process by what the
// journal holds of it.
type restoredInput struct {
	mac       string // of the input
	heartbeat bool   // which read removes from the arguments
}

// spare returns the part of room that the input does not use, to append the output to.
// Only the goroutine that works on the call uses it.
func (r *callRecord) spare() []byte {
	n := 0
	if len(r.input) <= len(r.room) {
		n = len(r.input)
	}
	return r.room[n:n]
}
