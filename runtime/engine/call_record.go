package engine

import (
	"bytes"
	"context"
	"strconv"
	"sync/atomic"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/wire"
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

// repeats reports whether c is the same call as an earlier one: the same tool, with
// arguments that decode to the same value.
func (c *call) repeats(earlier *callRecord) bool {
	if earlier.tool != c.record.tool {
		return false
	}
	if earlier.restored != nil && c.exec.inputs.matches(earlier.restored.mac, c.record.input) {
		return true
	}
	if earlier.digest != c.record.digest {
		return false
	}
	if bytes.Equal(earlier.input, c.record.input) {
		return true
	}
	if c.tool == nil || earlier.digest {
		return false
	}
	a, b := canonical(c.tool, earlier.input, earlier.restored), canonical(c.tool, c.record.input, nil)
	return a != nil && bytes.Equal(a, b)
}

// canonical returns the arguments in input in canonical form, which is the same for
// equal arguments. It returns nil when they are invalid.
func canonical(t *tool, input []byte, old *restoredInput) (b []byte) {
	defer func() {
		if recover() != nil { // a fault of the codec: the call itself will report it
			b = nil
		}
	}()
	v, _, heartbeat, violations := t.read(input)
	if violations != nil {
		return nil
	}
	b, err := wire.AppendCanonical(nil, v)
	if err != nil {
		return nil
	}
	return strconv.AppendBool(b, heartbeat || old != nil && old.heartbeat)
}

// await returns the outcome of a call that another caller made.
func (r *callRecord) await(ctx context.Context, s *Session) runtime.Outcome {
	e := s.exec
	if !r.first.Fired() && e.sched.Wait(&r.first, nil, ctx.Done()) == sched.Done {
		return r.now(s)
	}
	if r.final == nil {
		return r.outcome()
	}
	if out, waits := r.call.waits(); waits {
		return out
	}
	if e.sched.Wait(r.final, nil, ctx.Done()) == sched.Done {
		return r.now(s)
	}
	return r.outcome()
}

// now returns the outcome of the call as it stands, which may be pending or cancelled.
func (r *callRecord) now(*Session) runtime.Outcome {
	if r.first.Fired() {
		if r.final == nil || r.final.Fired() {
			return r.outcome()
		}
		if out, waits := r.call.waits(); waits {
			return out
		}
	}
	return runtime.Outcome{
		CallID: r.id, Tool: r.tool, Kind: runtime.Cancelled, Reason: runtime.ReasonCancelled, AllReasons: []runtime.Reason{runtime.ReasonCancelled},
		Message: "nobody waits for the call here any more; it goes on",
	}
}
