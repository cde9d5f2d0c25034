// Package outcomes makes the outcomes that the executor itself decides on: refusals, ends from outside,
// and what is known after a restart. It is the page to read for what a model is told by them. The
// outcomes of rules and policies are those of package refusal.
package outcomes

import (
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/wire"
)

func denied(r runtime.Reason, detail runtime.Detail, message string) runtime.Outcome {
	return runtime.Outcome{Kind: runtime.Denied, Reason: r, Detail: detail, Message: message}
}

// Passes reports whether a reason of a denial is one of the process that the call has met, and not of the call: its end, its load, its
// journal, or the program that it has found. The same call may be made again under its id (SEMANTICS 1.4.10).
func Passes(r runtime.Reason) bool {
	switch r {
	case runtime.ReasonShuttingDown, runtime.ReasonAtCapacity, runtime.ReasonTooManyPending, runtime.ReasonJournalUnavailable, runtime.ReasonProgramChanged:
		return true
	}
	return false
}

// NoRun is for a call in a turn that belongs to no run.
func NoRun(in runtime.Call) runtime.Outcome {
	return runtime.Outcome{
		CallID: in.ID, Tool: in.Tool, Kind: runtime.Denied,
		Reason: runtime.ReasonShuttingDown, AllReasons: []runtime.Reason{runtime.ReasonShuttingDown},
		Message: "no executor is running: calls are made in a turn of a run",
	}
}

// TooLong is for a call whose id, principal or agent is longer than an entry of the journal takes.
func TooLong(in runtime.Call, why error) runtime.Outcome {
	out := denied(runtime.ReasonInvalidInput, runtime.Detail{}, why.Error())
	out.CallID, out.Tool, out.AllReasons = in.ID, in.Tool, []runtime.Reason{out.Reason}
	return out
}

// UnknownTool is for a call of a tool that is none of names.
func UnknownTool(name string, names []string) runtime.Outcome {
	return denied(runtime.ReasonUnknownTool, runtime.Detail{Available: names},
		fmt.Sprintf("there is no tool %s; there are: %s", wording.Quote(name), wording.Names(names)))
}

// InvalidInput is for an input that breaks its schema. Without violations it could not be read.
func InvalidInput(violations []wire.Violation) runtime.Outcome {
	out := denied(runtime.ReasonInvalidInput, runtime.Detail{}, wording.InvalidInput(violations))
	out.Violations = violations
	return out
}

// IDReused is for a call under the id of another call.
func IDReused(id string) runtime.Outcome {
	return denied(runtime.ReasonCallIDReused, runtime.Detail{}, "the call id "+wording.Quote(id)+
		" was used for another call: give this one an id of its own")
}

// Archived is for a call whose id is that of a call that has ended, and of which entries are in an archive. Its outcome is the entry
// at a position.
func Archived(id string, position uint64) runtime.Outcome {
	out := denied(runtime.ReasonCallIDReused, runtime.Detail{}, fmt.Sprintf("the call id %s was used before, and entries of that call are archived: its outcome is entry %d. Give a new call an id of its own", wording.Quote(id), position))
	out.CallID = id
	return out
}

// Unreadable is for a call that has ended and whose outcome cannot be read from the journal.
func Unreadable(id string) runtime.Outcome {
	out := denied(runtime.ReasonJournalUnavailable, runtime.Detail{}, "the call "+wording.Quote(id)+" has ended, and the journal cannot be read for its outcome: nothing is carried out")
	out.CallID = id
	return out
}

// ExecutorBusy is for a call beyond the most calls that an executor works on.
func ExecutorBusy(tool string, most int64, retry time.Duration) runtime.Outcome {
	return atCapacity(tool, retry, "the executor is busy: "+wording.Plural(most, "1 call is", "%d calls are")+" in flight")
}

// ToolBusy is for a call beyond the most calls of its tool that run or wait.
func ToolBusy(tool string, most int64, retry time.Duration) runtime.Outcome {
	return atCapacity(tool, retry, fmt.Sprintf("%q is busy: %d of its calls run or wait", tool, most))
}

// atCapacity is complete, because no transition of such a call completes it (SEMANTICS 6.3).
func atCapacity(tool string, retry time.Duration, why string) runtime.Outcome {
	out := denied(runtime.ReasonAtCapacity, runtime.Detail{RetryAfter: retry}, fmt.Sprintf("%s; make the call again in %s", why, wording.Wait(retry)))
	out.Tool, out.AllReasons = tool, []runtime.Reason{runtime.ReasonAtCapacity}
	return out
}

// NoSlot is for a call that got none of the slots of its tool in time (SEMANTICS 6.3).
func NoSlot(tool string, slots int, retry time.Duration) runtime.Outcome {
	return denied(runtime.ReasonAtCapacity, runtime.Detail{RetryAfter: retry}, fmt.Sprintf("%q is busy: %s in time",
		tool, wording.Plural(slots, "its only slot did not get free", "none of its %d slots got free")))
}

// EqualWaits is for a call that is equal to another one, of, which was neither begun nor refused in time (SEMANTICS 4.8.11).
func EqualWaits(tool, of string, retry time.Duration) runtime.Outcome {
	out := denied(runtime.ReasonAtCapacity, runtime.Detail{RetryAfter: retry}, fmt.Sprintf(
		"the equal call %s of %q has not begun, and may still be refused: this one was not carried out", wording.Quote(of), tool))
	out.Of = of
	return out
}

// NoProcess is for a call that got none of the processes that may run at once in time (SEMANTICS 6.3).
func NoProcess(tool string, retry time.Duration) runtime.Outcome {
	return denied(runtime.ReasonAtCapacity, runtime.Detail{RetryAfter: retry}, fmt.Sprintf(
		"%q is a command, and other commands ran all the time: as many processes run as may at once", tool))
}

// NoRoom is for a call of a command for which the host had not enough of something in time (SEMANTICS 6.3).
func NoRoom(tool, what string, retry time.Duration) runtime.Outcome {
	return denied(runtime.ReasonAtCapacity, runtime.Detail{RetryAfter: retry}, fmt.Sprintf(
		"%q is a command, and the host had not enough left for its limit of %s", tool, what))
}

// ProgramChanged is for a call of a command whose program is not the one that the executor found.
func ProgramChanged(tool string) runtime.Outcome {
	return denied(runtime.ReasonProgramChanged, runtime.Detail{}, fmt.Sprintf(
		"the program of %q has changed since the executor started: nothing is run", tool))
}

// ShuttingDown is for a call of an executor that shuts down.
func ShuttingDown() runtime.Outcome {
	return denied(runtime.ReasonShuttingDown, runtime.Detail{}, "the executor is shutting down")
}

// SessionEnded is for a call in a session that has ended, also for one that was made there before.
func SessionEnded(id, tool string) runtime.Outcome {
	out := denied(runtime.ReasonRunFinished, runtime.Detail{}, "the session has ended: it takes no more calls")
	out.CallID, out.Tool, out.AllReasons = id, tool, []runtime.Reason{out.Reason}
	return out
}

// NoCall is for a goroutine that waits for a call which its session does not know. ended says that the session has
// ended.
func NoCall(id string, ended bool) runtime.Outcome {
	if ended {
		return SessionEnded(id, "")
	}
	return runtime.Outcome{CallID: id, Message: "there is no such call in this session"}
}

// RunFinished is for a call in a run that was closed before.
func RunFinished() runtime.Outcome {
	return denied(runtime.ReasonRunFinished, runtime.Detail{}, "the run is finished: it takes no more calls")
}

// JournalUnavailable is for a call that cannot be recorded and does not run.
func JournalUnavailable() runtime.Outcome {
	return denied(runtime.ReasonJournalUnavailable, runtime.Detail{}, "the journal cannot be written: nothing is carried out")
}

// NotRecorded is for a call whose handler ran and whose outcome cannot be recorded. stalled says that the
// journal may be written again.
func NotRecorded(stalled bool) runtime.Outcome {
	out := runtime.Outcome{
		Kind: runtime.Unknown, Reason: runtime.ReasonJournalUnavailable,
		Message: "the journal cannot be written: the call may have taken effect, and its outcome is lost",
	}
	if stalled {
		out.Message = "the journal cannot be written: the call may have taken effect, and its outcome is known when it can be written again"
	}
	return out
}

// BudgetLeft is for a call in a turn that has left of its time, where a call needs least.
func BudgetLeft(left, least time.Duration) runtime.Outcome {
	left = max(left, 0)
	return denied(runtime.ReasonDeadline, runtime.Detail{Deadline: left}, fmt.Sprintf(
		"%s of the turn's time is left, a call needs at least %s: it may be made in the next turn", wording.Limit(left), wording.Limit(least)))
}

// TurnOver is for a call that came too late in its turn.
func TurnOver() runtime.Outcome {
	return denied(runtime.ReasonDeadline, runtime.Detail{}, "the turn's time was over before the call could start")
}

// Blocked is for a call of a tool that timed out in the turn.
func Blocked(tool string) runtime.Outcome {
	return denied(runtime.ReasonBlockedAfterTimeout, runtime.Detail{}, fmt.Sprintf(
		"%q timed out in this turn and is not retryable: it may be called again in the next turn", tool))
}

// PreviewLate is for a call whose preview took too long.
func PreviewLate(tool string) runtime.Outcome {
	return runtime.Outcome{
		Kind: runtime.Failed, Reason: runtime.ReasonPreviewFailed, Message: fmt.Sprintf("%q could not show in time what the call would do", tool),
	}
}

// TimedOut is for a call whose handler ran past the deadline.
func TimedOut(tool string, deadline time.Duration, retryable bool) runtime.Outcome {
	return runtime.Outcome{
		Kind: runtime.TimedOut, Reason: runtime.ReasonDeadline, Detail: runtime.Detail{Deadline: deadline}, Retryable: retryable,
		Message: fmt.Sprintf("%q did not finish within %s", tool, wording.Limit(deadline)),
	}
}

// AddEffect adds to the message of a call whose handler was ended what is known of its effect. reads says that the
// tool only reads (SEMANTICS 6.1).
func AddEffect(out *runtime.Outcome, reads bool) {
	switch {
	case out.Kind != runtime.TimedOut && out.Kind != runtime.Cancelled && !out.Detail.Killed:
	case out.RolledBack:
		out.Message += "; what it did was taken back"
	case out.Detail.Writing:
		out.Message += "; a write that it had begun has not ended"
	case !reads:
		out.Message += "; it may still have taken effect"
	}
}

func cancelled(r runtime.Reason, message string) runtime.Outcome {
	return runtime.Outcome{Kind: runtime.Cancelled, Reason: r, Message: message}
}

// Cancelled is for a call that its caller or an operator cancelled.
func Cancelled() runtime.Outcome {
	return cancelled(runtime.ReasonCancelled, "the call was cancelled")
}

// RunClosed is for a call whose run was closed.
func RunClosed() runtime.Outcome { return cancelled(runtime.ReasonRunClosed, "the run was closed") }

// ShutDown is for a call whose handler stopped because of a shutdown.
func ShutDown() runtime.Outcome {
	return cancelled(runtime.ReasonCancelled, "the executor was shut down")
}

// LeaseLost is for a call whose executor lost the journal.
func LeaseLost() runtime.Outcome {
	return cancelled(runtime.ReasonLeaseLost, "the executor does not own the journal any more: what became of the call, the next owner will say")
}

// StillRuns is for a caller that stops waiting for a call of another caller.
func StillRuns(id, tool string) runtime.Outcome {
	out := cancelled(runtime.ReasonCancelled, "nobody waits for the call here any more; it goes on")
	out.CallID, out.Tool, out.AllReasons = id, tool, []runtime.Reason{runtime.ReasonCancelled}
	return out
}

// Ran names what runs for a call.
func Ran(command bool) string {
	if command {
		return "the command"
	}
	return "the handler"
}

// Abandoned is for a call for which something, as Ran names it, still runs in a shutdown. lasting says that what it
// does may last.
func Abandoned(ran string, lasting bool) runtime.Outcome {
	if !lasting {
		return interrupted(runtime.Failed, "the executor was shut down while "+ran+" ran: nothing that it did stands")
	}
	return interrupted(runtime.Unknown, "the executor was shut down while "+ran+" ran: the call may have taken effect")
}

func interrupted(kind runtime.OutcomeKind, message string) runtime.Outcome {
	return runtime.Outcome{Kind: kind, Reason: runtime.ReasonInterrupted, Message: message}
}

// NotStarted is for a call whose executor stopped before its handler or its command was started, as Ran names it.
func NotStarted(ran string) runtime.Outcome {
	return interrupted(runtime.Failed, "the executor stopped before "+ran+" was started: nothing was done")
}

// Interrupted is for a call whose executor stopped while its handler or its command was running, as Ran names it, with no commit
// decided (SEMANTICS section 6.7). The call failed if it has no lasting effect, as its declaration said when it started or as
// its participants say. Otherwise it is unknown.
func Interrupted(ran, effects string, atParticipants bool) runtime.Outcome {
	switch {
	case effects == journal.EffectsNone:
		return interrupted(runtime.Failed, "the executor stopped while "+ran+" ran, which only reads: nothing was changed")
	case effects == journal.EffectsInParts || atParticipants:
		out := interrupted(runtime.Failed, "the executor stopped while "+ran+" ran: what it did was taken back")
		out.RolledBack = true
		return out
	}
	return EffectUnknown(ran, "the call may have taken effect")
}

// EffectUnknown is for a call whose executor stopped while its handler or command was running, and whose effects are not known.
func EffectUnknown(ran, why string) runtime.Outcome {
	return interrupted(runtime.Unknown, "the executor stopped while "+ran+" ran: "+why)
}

// CommitUnknown is for a call that may have been committed.
func CommitUnknown(r runtime.Reason) runtime.Outcome {
	return runtime.Outcome{Kind: runtime.Unknown, Reason: r, Message: "it is not known whether the call was committed: it may have taken effect"}
}

// NoEffect is for an unknown call that is known to have had no effect. who begins the message and names the source,
// such as "the tool found".
func NoEffect(who string) runtime.Outcome {
	return interrupted(runtime.Failed, who+" that the interrupted call had no effect")
}

// Found is for an unknown call of which a person has found out whether it took effect, with the reason, if one was given.
func Found(tookEffect bool, reason string) runtime.Outcome {
	out := NoEffect("a person found")
	if tookEffect {
		out = runtime.Outcome{Kind: runtime.Completed, Message: "a person found that the interrupted call took effect"}
	}
	if reason != "" {
		out.Message += ": " + reason
	}
	return out
}
