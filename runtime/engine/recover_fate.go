package engine

// Recovery decides the fate of calls and undos that had no result when the former owner of the journal stopped
// (docs/semantics.md section 6.7). It rolls back what can be rolled back and finishes decided commits; callFateOf says which
// calls continue. A fate follows from the journal, the participants and a few facts.

import (
	"errors"
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/outcomes"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// A callFate is what recovery does with a call that had no outcome.
type callFate uint8

// The fates. The zero value is that of a call whose handler was started.
const (
	fateInterrupted callFate = iota // its parts are rolled back; then it runs again, or ends
	fateApproved                    // its request was approved: it continues
	fateReadmitted                  // it was admitted, and its handler not started: it is evaluated once more
	fateNotStarted                  // it ends without effect
	fateCommitted                   // its commit was decided: it is finished
)

// fateFacts are what recovery knows of a call that had no outcome.
type fateFacts struct {
	Approved bool // it waited for consent, and its request was approved
	Admitted bool // it has to be evaluated once more
	State    runtime.State
	Decided  bool // to commit
}

// callFateOf returns what recovery does with a call.
func callFateOf(f fateFacts) callFate {
	switch {
	case f.Approved:
		return fateApproved
	case f.Admitted:
		return fateReadmitted
	case f.State != runtime.StateExecuting:
		return fateNotStarted
	case f.Decided:
		return fateCommitted
	}
	return fateInterrupted
}

// recoveredOutcome returns the outcome of a call whose handler was started, and whose parts have been settled as its fate
// says: all of them if settled is true. parts says that there were some. Of a call that runs again it is the outcome
// unless it runs (SEMANTICS 6.7). command says that its tool is one.
func recoveredOutcome(fate callFate, of *history.Call, command, parts, settled bool) runtime.Outcome {
	reads, ran := of.Effects == journal.EffectsNone, outcomes.Ran(command || len(of.Processes) > 0)
	switch name, foreign := partElsewhere(of.Sealed); {
	case fate == fateCommitted && foreign && !reads: // whether it stands depends on a foreign transaction
		return outcomes.EffectUnknown(ran, fmt.Sprintf("it is not known whether participant %q has committed", name))
	case fate == fateCommitted && !settled && !reads:
		return outcomes.EffectUnknown(ran, "what it did could not be committed")
	case fate == fateCommitted:
		return *of.Decided
	case of.Runs && !reads:
		return outcomes.EffectUnknown(ran, "its process may still run")
	case !settled && !reads:
		return outcomes.EffectUnknown(ran, "what it did could not be taken back")
	}
	return outcomes.Interrupted(ran, of.Effects, parts)
}

// partElsewhere returns the participant of a part that another transaction decides about, if there is one.
func partElsewhere(seals []journal.Seal) (name string, ok bool) {
	for _, s := range seals {
		if s.Foreign {
			return s.Participant, true
		}
	}
	return "", false
}

var errUndoStopped = errors.New("the executor stopped while the undo handler ran: it may have taken effect outside of participants")

// recoveredUndo returns what became of an undo that the former owner had begun, after its parts were committed if that
// was decided, and rolled back otherwise: all of them if settled is true. A fault ends the undo. Without one it is
// done, or, if done is false, left to the next recovery.
func recoveredUndo(of *history.Undo, settled bool) (done bool, fault *undoFault) {
	if of.Sealed == nil {
		return false, &undoFault{Code: action.CodeInterrupted, Err: errUndoStopped, NotRolledBack: !settled}
	}
	if name, foreign := partElsewhere(of.Sealed); foreign {
		return false, &undoFault{Code: action.CodeUnknown, Err: fmt.Errorf("it is not known whether participant %q has committed", name)}
	}
	return settled, nil
}
