package engine

import (
	"bytes"
	"crypto/sha256"
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/outcomes"
	"github.com/ambit-tools/ambit/runtime/internal/ruleinput"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A callRecord is what a session retains of a call. It must not be copied once it has an input.
type callRecord struct {
	ID          string
	Tool        string
	By          *callOrigin  // who made the call
	Input       []byte       // nil: not known
	Digest      bool         // Input is a digest: the input is larger than the tool allows
	Reservation reservation  // what the call holds in the state of the rules
	room        [160]byte    // for a short input and, behind it, a short output
	First       sched.Event  // fires when there is a first answer: the outcome, or that the call waits for consent
	Final       *sched.Event // fires when the call that waited has its outcome; nil: First was the outcome
	stored      outcome
	later       atomic.Pointer[runtime.Outcome] // replaces an outcome that was unknown or not recorded in time; nil: nothing does
	unwritten   atomic.Bool                     // the outcome is on its way to the journal, and not stored
	ran         bool                            // its handler ran; set with the outcome
	Live        *call                           // as long as the call can change, or when it waited for consent
	run         *runCalls
	Number      int         // in the session
	Undo        undoState   // guarded by the session
	restored    *restored   // of a call of an earlier process; nil: it was made in this one
	hash        uint64      // of the id, in the index
	next        *callRecord // in the chain of the index
	before      *callRecord // the previous call of the same run; nil: this is the first
	after       *callRecord // the next call of the same run; nil: this is the last
	place       entryPlaces
}

// A restored identifies the input of a call of an earlier process by what the journal holds of it.
type restored struct {
	mac       string // of the input
	heartbeat bool   // which is not in the recorded arguments
}

// An outcome is an outcome as a session retains it, for as long as the session exists. Most
// outcomes have only these members.
type outcome struct {
	kind     runtime.OutcomeKind
	loop     runtime.Loop
	run      runtime.RunState
	duration time.Duration
	times    runtime.Times
	output   wire.Raw
	revision string
	more     *runtime.Outcome // the whole outcome, when it has other members
}

// An undoState is the state of a call with respect to undo.
type undoState struct {
	Possible bool // its handler was started, and its tool declares undo
	Done     bool // it was undone
	Busy     bool // it is being undone, or resolved
	Ended    time.Time
	Asked    time.Time // for the present undo, or the latest one
	Lost     error     // why the journal no longer has what the undo needs
}

// Since returns for how long the undo had been asked for at now, 0 when an earlier process was asked.
func (u *undoState) Since(now time.Time) time.Duration {
	if u.Asked.IsZero() {
		return 0
	}
	return now.Sub(u.Asked)
}

// restoredRecord returns the record of a call of an earlier process.
func restoredRecord(of *history.Call) *callRecord {
	r := &callRecord{ID: of.ID, Tool: of.Tool, Number: of.Number, Input: of.Args, restored: &restored{of.InputMAC, of.Heartbeat}}
	r.By = &callOrigin{Run: of.Run, Agent: of.Agent, Principal: of.Principal}
	r.place.opened, r.place.outcome, r.place.input = of.Opened, of.Concluded, callDigestOf(of.InputMAC)
	return r
}

// SetInput stores an input, or its digest when it is longer than limit.
func (r *callRecord) SetInput(input []byte, limit int) {
	if len(input) > limit {
		sum := sha256.Sum256(input)
		r.Input, r.Digest = append(r.room[:0], sum[:]...), true
	} else {
		r.Input = append(r.room[:0], input...)
	}
}

// Run returns the id of the run of the call.
func (r *callRecord) Run() string { return r.run.run }

// Done returns the event that fires when the call has its outcome.
func (r *callRecord) Done() *sched.Event {
	if r.Final != nil {
		return r.Final
	}
	return &r.First
}

// Ended reports whether the call has its outcome.
func (r *callRecord) Ended() bool { return r.First.Fired() && (r.Final == nil || r.Final.Fired()) }

// Repeats reports whether the call is the same as an earlier one: the same tool, t, with arguments that
// decode to the same value, by a caller that may have the outcome of the earlier one. t is nil for a tool that is not declared.
// key is that of the recorded inputs.
func (r *callRecord) Repeats(earlier *callRecord, t *tools.Tool, key ruleinput.Key) bool {
	switch {
	case earlier.Tool != r.Tool && !t.Is(earlier.Tool), !earlier.By.Answers(r.By):
		return false
	case earlier.restored != nil && key.Matches(earlier.restored.mac, r.Input):
		return true
	case earlier.Digest != r.Digest:
		return false
	case bytes.Equal(earlier.Input, r.Input):
		return true
	case t == nil || earlier.Digest:
		return false
	}
	heartbeat := earlier.restored != nil && earlier.restored.heartbeat
	a, b := t.Canonical(earlier.Input, heartbeat), t.Canonical(r.Input, false)
	return a != nil && bytes.Equal(a, b)
}

// Spare returns the room that the input does not use, to append the output to.
// Only the goroutine that works on the call uses it.
func (r *callRecord) Spare() []byte {
	n := 0
	if len(r.Input) <= len(r.room) {
		n = len(r.Input)
	}
	return r.room[n:n]
}

// Store stores out as the outcome of the call.
func (r *callRecord) Store(out *runtime.Outcome) {
	r.stored = outcome{
		kind: out.Kind, loop: out.Loop, run: out.Run, duration: out.Duration, times: out.Times, output: out.Output, revision: out.Revision,
	}
	if out.CallID != r.ID || out.Tool != r.Tool || !history.Plain(out) {
		more := *out
		r.stored.more = &more
	}
}

// Replace replaces an outcome that was unknown.
func (r *callRecord) Replace(out *runtime.Outcome) { r.later.Store(out) }

// Unwritten says that the outcome of the call was not recorded in time, and that ReplaceOnce will replace what is stored instead.
func (r *callRecord) Unwritten() { r.unwritten.Store(true) }

// ReplaceOnce replaces an outcome that was not recorded in time, unless it was replaced before.
func (r *callRecord) ReplaceOnce(out *runtime.Outcome) { r.later.CompareAndSwap(nil, out) }

// Artifact returns the artifact that replaces a long output in the answer, nil if there is none.
func (r *callRecord) Artifact() *runtime.StoredOutput {
	if later := r.later.Load(); later != nil {
		return later.Artifact
	}
	if r.stored.more == nil {
		return nil
	}
	return r.stored.more.Artifact
}

// Obliges reports whether the outcome has obligations.
func (r *callRecord) Obliges() bool {
	return r.stored.more != nil && len(r.Outcome().Obligations) > 0
}

// Outcome returns the outcome of a call that has ended.
func (r *callRecord) Outcome() (out runtime.Outcome) {
	r.Fill(&out)
	return out
}

// Fill is Outcome for a zero Outcome that the caller provides, because an Outcome is large.
func (r *callRecord) Fill(out *runtime.Outcome) {
	k := &r.stored
	if later := r.replaced(); later != nil {
		*out = *later
		return
	}
	if k.more != nil {
		*out = *k.more
		return
	}
	out.CallID, out.Tool, out.Kind, out.Output, out.Duration = r.ID, r.Tool, k.kind, k.output, k.duration
	out.Times, out.Revision, out.Loop, out.Run = k.times, k.revision, k.loop, k.run
}

// Kind returns the kind of the outcome.
func (r *callRecord) Kind() runtime.OutcomeKind {
	if later := r.replaced(); later != nil {
		return later.Kind
	}
	return r.stored.kind
}

// RolledBack reports whether what the handler did was rolled back.
func (r *callRecord) RolledBack() bool {
	if later := r.replaced(); later != nil {
		return later.RolledBack
	}
	return r.stored.more != nil && r.stored.more.RolledBack
}

// Refused returns the reason and the message of a call that was refused, ReasonNone for another one.
func (r *callRecord) Refused() (runtime.Reason, string) {
	if r.stored.more == nil {
		return runtime.ReasonNone, ""
	}
	return r.stored.more.Reason, r.stored.more.Message
}

// same reports whether two records are of one call: one that is held by reference is read each time.
func (r *callRecord) same(as *callRecord) bool {
	return r == as || as != nil && r.place.opened != 0 && r.place.opened == as.place.opened
}

// Vain reports whether the call was denied for a reason that passes, so that the same call may be made again under its
// id (SEMANTICS 1.4.10). It is not as long as its own outcome is on its way to the journal.
func (r *callRecord) Vain() bool {
	if !r.Ended() || r.Kind() != runtime.Denied || r.ran {
		return false
	}
	reason := r.Outcome().Reason
	return outcomes.Passes(reason) && (reason != runtime.ReasonJournalUnavailable || !r.unwritten.Load() || r.later.Load() != nil)
}

// replaced returns the outcome that replaces the stored one, nil when none does.
func (r *callRecord) replaced() *runtime.Outcome {
	k := &r.stored
	if k.kind == runtime.Unknown || k.more != nil && k.more.Reason == runtime.ReasonJournalUnavailable {
		return r.later.Load()
	}
	return nil
}
