package engine

import (
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A storedOutcome is an outcome as a session retains it, for as long as the session exists. Most
// outcomes have only these members.
type storedOutcome struct {
	kind     runtime.OutcomeKind
	loop     runtime.Loop
	run      runtime.RunState
	duration time.Duration
	output   wire.Raw
	revision string
	more     *runtime.Outcome // the whole outcome, when it has other members
}

// keep stores out as the outcome of r.
func (r *callRecord) keep(out *runtime.Outcome) {
	r.stored = storedOutcome{
		kind: out.Kind, loop: out.Loop, run: out.Run, duration: out.Duration, output: out.Output, revision: out.Revision,
	}
	if out.CallID != r.id || out.Tool != r.tool || !history.Plain(out) {
		more := *out
		r.stored.more = &more
	}
}

// artifact returns the artifact that replaces a long output in the answer, nil if there is none.
func (r *callRecord) artifact() *runtime.StoredOutput {
	if later := r.later.Load(); later != nil {
		return later.Artifact
	}
	if r.stored.more == nil {
		return nil
	}
	return r.stored.more.Artifact
}

// outcome returns the outcome of r. r has ended.
func (r *callRecord) outcome() (out runtime.Outcome) {
	r.tell(&out)
	return out
}

// tell is outcome for a zero Outcome that the caller provides, because an Outcome is large.
func (r *callRecord) tell(out *runtime.Outcome) {
	k := &r.stored
	if k.kind == runtime.Unknown || k.more != nil && k.more.Reason == runtime.ReasonJournalUnavailable {
		if later := r.later.Load(); later != nil {
			*out = *later
			return
		}
	}
	if k.more != nil {
		*out = *k.more
		return
	}
	out.CallID, out.Tool, out.Kind, out.Output, out.Duration = r.id, r.tool, k.kind, k.output, k.duration
	out.Revision, out.Loop, out.Run = k.revision, k.loop, k.run
}
