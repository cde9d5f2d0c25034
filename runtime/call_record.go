package runtime

import (
	"bytes"
	"context"
	"strconv"
	"sync/atomic"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// A callRecord is what a session remembers of a call.
type callRecord struct {
	id       string
	tool     string
	input    []byte
	digest   bool      // input is a digest: the input is larger than the tool allows
	room     [160]byte // for a short input and, behind it, a short output
	first    signal    // the first answer is there: the outcome, or that the call waits for consent
	final    *signal   // then: the outcome is there; nil when it was the first answer
	stored   storedOutcome
	later    atomic.Pointer[Outcome] // what an unknown call, or one that was not recorded in time, turned out to be; nil: that is not known, or it was neither
	call     *call                   // as long as something can become of it, or it waited for consent
	run      *runCalls
	number   int            // in the session
	undo     undoable       // guarded by the session
	restored *restoredInput // of an earlier process; nil: of this one
	hash     uint64         // of the id, in the index of the session
	next     *callRecord    // there
	before   *callRecord    // the call of the same run that was made before; nil: this is the first
}

// A restoredInput call is known by what an earlier process has recorded of its input.
type restoredInput struct {
	mac       string // of the input
	heartbeat bool   // which is taken out of the arguments
}

// spare returns what the input has left of the room, to append the output to. It is
// used by the one goroutine that works on the call.
func (r *callRecord) spare() []byte {
	n := 0
	if len(r.input) <= len(r.room) {
		n = len(r.input)
	}
	return r.room[n:n]
}

// repeats reports whether c is the same call as an earlier one: the same tool
// with arguments that decode to the same value.
func (c *call) repeats(earlier *callRecord) bool {
	if earlier.tool != c.record.tool {
		return false
	}
	if earlier.restored != nil && c.exec.log.remembers(earlier.restored.mac, c.record.input) {
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

// canonical returns the arguments in input in the one form that equal arguments
// share, nil when they are invalid.
func canonical(t *Tool, input []byte, old *restoredInput) (b []byte) {
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

// await returns the outcome of a call that somebody else waits for.
func (r *callRecord) await(ctx context.Context, s *Session) Outcome {
	e := s.exec
	if !r.first.happened() && e.wait(&r.first, nil, ctx.Done()) == sawDone {
		return r.now(s)
	}
	if r.final == nil {
		return r.outcome()
	}
	if out, waits := r.call.waits(); waits {
		return out
	}
	if e.wait(r.final, nil, ctx.Done()) == sawDone {
		return r.now(s)
	}
	return r.outcome()
}

// now returns what there is to say of a call before it has its outcome.
func (r *callRecord) now(*Session) Outcome {
	if r.first.happened() {
		if r.final == nil || r.final.happened() {
			return r.outcome()
		}
		if out, waits := r.call.waits(); waits {
			return out
		}
	}
	return Outcome{
		CallID: r.id, Tool: r.tool, Kind: Cancelled, Reason: ReasonCancelled, AllReasons: []Reason{ReasonCancelled},
		Message: "nobody waits for the call here any more; it goes on",
	}
}
