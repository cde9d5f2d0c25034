package recovery

import (
	"errors"
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/outcomes"
	"github.com/ambit-tools/ambit/runtime/internal/undo"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// A Fate is what recovery does with a call that had no outcome.
type Fate uint8

// The fates. The zero value is that of a call whose handler was started.
const (
	Interrupted Fate = iota // its parts are rolled back; then it runs again, or ends
	Approved                // its request was approved: it continues
	Readmitted              // it was admitted, and its handler not started: it is evaluated once more
	NotStarted              // it ends without effect
	Committed               // its commit was decided: it is finished
)

// Facts are what recovery knows of a call that had no outcome.
type Facts struct {
	Approved bool // it waited for consent, and its request was approved
	Admitted bool // it has to be evaluated once more
	State    runtime.State
	Decided  bool // to commit
}

// FateOf returns what recovery does with a call.
func FateOf(f Facts) Fate {
	switch {
	case f.Approved:
		return Approved
	case f.Admitted:
		return Readmitted
	case f.State != runtime.StateExecuting:
		return NotStarted
	case f.Decided:
		return Committed
	}
	return Interrupted
}

// Outcome returns the outcome of a call whose handler was started, and whose parts have been settled as its fate
// says: all of them if settled is true. parts says that there were some. Of a call that runs again it is the outcome
// unless it runs (SEMANTICS 6.7). command says that its tool is one.
func Outcome(fate Fate, of *history.Call, command, parts, settled bool) runtime.Outcome {
	reads, ran := of.Effects == journal.EffectsNone, outcomes.Ran(command || len(of.Processes) > 0)
	switch name, foreign := foreignPart(of.Sealed); {
	case fate == Committed && foreign && !reads: // whether it stands depends on a foreign transaction
		return outcomes.EffectUnknown(ran, fmt.Sprintf("it is not known whether participant %q has committed", name))
	case fate == Committed && !settled && !reads:
		return outcomes.EffectUnknown(ran, "what it did could not be committed")
	case fate == Committed:
		return *of.Decided
	case of.Runs && !reads:
		return outcomes.EffectUnknown(ran, "its process may still run")
	case !settled && !reads:
		return outcomes.EffectUnknown(ran, "what it did could not be taken back")
	}
	return outcomes.Interrupted(ran, of.Effects, parts)
}

// foreignPart returns the participant of a part that another transaction decides about, if there is one.
func foreignPart(seals []journal.Seal) (name string, ok bool) {
	for _, s := range seals {
		if s.Foreign {
			return s.Participant, true
		}
	}
	return "", false
}

var errUndoStopped = errors.New("the executor stopped while the undo handler ran: it may have taken effect outside of participants")

// UndoOutcome returns what became of an undo that the former owner had begun, after its parts were committed if that
// was decided, and rolled back otherwise: all of them if settled is true. A fault ends the undo. Without one it is
// done, or, if done is false, left to the next recovery.
func UndoOutcome(of *history.Undo, settled bool) (done bool, fault *undo.Fault) {
	if of.Sealed == nil {
		return false, &undo.Fault{Code: action.CodeInterrupted, Err: errUndoStopped, NotRolledBack: !settled}
	}
	if name, foreign := foreignPart(of.Sealed); foreign {
		return false, &undo.Fault{Code: action.CodeUnknown, Err: fmt.Errorf("it is not known whether participant %q has committed", name)}
	}
	return settled, nil
}
