package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/transaction"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// TestFates: of all combinations of facts, each has the fate of the first that applies.
func TestFates(t *testing.T) {
	states := []runtime.State{runtime.StateDeclared, runtime.StateValidated, runtime.StateAuthorized, runtime.StateExecuting}
	for n := range 8 * len(states) {
		f := fateFacts{Approved: n&1 != 0, Admitted: n&2 != 0, Decided: n&4 != 0, State: states[n/8]}
		var fate callFate
		switch {
		case f.Approved:
			fate = fateApproved
		case f.Admitted:
			fate = fateReadmitted
		case f.State == runtime.StateExecuting && f.Decided:
			fate = fateCommitted
		case f.State == runtime.StateExecuting:
			fate = fateInterrupted
		default:
			fate = fateNotStarted
		}
		assert.Equal(t, fate, callFateOf(f), "%+v", f)
	}
}

// TestOutcomes: a call that only reads has failed, or is completed where that was decided, whatever its participants
// say. Any other call is unknown where something could not be settled, or where a foreign transaction decides.
func TestOutcomes(t *testing.T) {
	const foreign, own = true, false
	decided := &runtime.Outcome{Kind: runtime.Completed, Message: "as decided"}
	for _, row := range []struct {
		fate           callFate
		effects        string
		seals          []bool // foreign ones
		parts, settled bool
		kind           runtime.OutcomeKind
		rolledBack     bool
		says           string
	}{
		{fateCommitted, "", []bool{own}, true, true, runtime.Completed, false, "as decided"},
		{fateCommitted, "", []bool{own}, true, false, runtime.Unknown, false, "what it did could not be committed"},
		{fateCommitted, "", []bool{own, foreign}, true, true, runtime.Unknown, false, `participant "p1" has committed`},
		{fateCommitted, "", []bool{foreign}, true, false, runtime.Unknown, false, `participant "p0" has committed`},
		{fateCommitted, journal.EffectsInParts, []bool{own}, true, false, runtime.Unknown, false, "could not be committed"},
		{fateCommitted, journal.EffectsNone, []bool{foreign}, true, false, runtime.Completed, false, "as decided"},
		{fateInterrupted, "", nil, false, true, runtime.Unknown, false, "may have taken effect"},
		{fateInterrupted, "", nil, true, true, runtime.Failed, true, "was taken back"},
		{fateInterrupted, "", nil, true, false, runtime.Unknown, false, "could not be taken back"},
		{fateInterrupted, journal.EffectsInParts, nil, false, true, runtime.Failed, true, "was taken back"},
		{fateInterrupted, journal.EffectsInParts, nil, true, false, runtime.Unknown, false, "could not be taken back"},
		{fateInterrupted, journal.EffectsNone, nil, true, false, runtime.Failed, false, "only reads"},
	} {
		of := &history.Call{Effects: row.effects, Decided: decided}
		for i, foreign := range row.seals {
			of.Sealed = append(of.Sealed, journal.Seal{Participant: fmt.Sprint("p", i), Foreign: foreign})
		}
		out := recoveredOutcome(row.fate, of, false, row.parts, row.settled)
		assert.Equal(t, row.kind, out.Kind, "%+v", row)
		assert.Equal(t, row.rolledBack, out.RolledBack, "%+v", row)
		assert.Contains(t, out.Message, row.says, "%+v", row)
	}
}

// TestUndoOutcomes: an undo that was not decided is interrupted, one with a foreign transaction is unknown, and a
// decided one is done or left to the next recovery.
func TestUndoOutcomes(t *testing.T) {
	for _, settled := range []bool{true, false} {
		done, fault := recoveredUndo(&history.Undo{}, settled)
		require.False(t, done)
		assert.Equal(t, action.CodeInterrupted, fault.Code)
		assert.Equal(t, !settled, fault.NotRolledBack)

		done, fault = recoveredUndo(&history.Undo{Sealed: []journal.Seal{{Participant: "own"}}}, settled)
		assert.Equal(t, settled, done)
		assert.Nil(t, fault)

		done, fault = recoveredUndo(&history.Undo{Sealed: []journal.Seal{{Participant: "own"}, {Participant: "other", Foreign: true}}}, settled)
		require.False(t, done)
		assert.Equal(t, action.CodeUnknown, fault.Code)
		assert.ErrorContains(t, fault.Err, `"other"`)
	}
}

// A recoveryShelf is a participant with parts of calls.
type recoveryShelf struct {
	runtime.Participant
	keys []runtime.CallKey
	did  []string
	bad  error
}

func (s *recoveryShelf) Unsettled(context.Context) ([]runtime.CallKey, error) { return s.keys, s.bad }

func (s *recoveryShelf) Settle(_ context.Context, key runtime.CallKey, commit bool) error {
	s.did = append(s.did, fmt.Sprint(key.Call, " ", commit))
	return s.bad
}

// TestParts: parts are taken once, those of ended calls follow their outcome, and the rest is rolled back.
func TestParts(t *testing.T) {
	key := func(id string) runtime.CallKey { return runtime.CallKey{Session: "s", Call: id} }
	s := &recoveryShelf{keys: []runtime.CallKey{key("done"), key("decided"), key("unknown"), key("failed"), key("nobody")}}
	var told []string
	parts, err := findParts(t.Context(), transaction.Participants{{Name: "shelf", Participant: s}}, func(k runtime.CallKey, err error) {
		told = append(told, fmt.Sprint(k.Call, ": ", err))
	})
	require.NoError(t, err)
	for id, of := range map[string]*history.Call{
		"done":    {Outcome: &runtime.Outcome{Kind: runtime.Completed}},
		"decided": {Outcome: &runtime.Outcome{Kind: runtime.Unknown}, Sealed: []journal.Seal{{}}},
		"unknown": {Outcome: &runtime.Outcome{Kind: runtime.Unknown}},
		"failed":  {Outcome: &runtime.Outcome{Kind: runtime.Failed}, Sealed: []journal.Seal{{}}},
	} {
		at := parts.Take(key(id))
		require.Len(t, at, 1)
		assert.Empty(t, parts.Take(key(id)), "they are taken")
		parts.SettleEnded(t.Context(), key(id), at, of)
	}
	slices.Sort(s.did)
	assert.Equal(t, []string{"decided true", "done true", "failed false", "unknown false"}, s.did)
	s.did = nil
	require.NoError(t, parts.SettleRest(t.Context()))
	assert.Equal(t, []string{"nobody false"}, s.did)
	assert.Empty(t, told)

	s.bad = errors.New("the disk is full")
	require.Error(t, parts.SettleRest(t.Context()))
	require.Len(t, told, 1)
	assert.Contains(t, told[0], "nobody: ")
	_, err = findParts(t.Context(), transaction.Participants{{Name: "shelf", Participant: s}}, nil)
	assert.ErrorContains(t, err, `participant "shelf"`)
}

// TestPartsOfPastCalls: parts of calls that sessions have by reference follow their outcomes, and those of their undos what became of
// these.
// SEMANTICS 6.7.16
func TestPartsOfPastCalls(t *testing.T) {
	s := &recoveryShelf{}
	of := &history.Session{ID: "s"}
	for _, c := range []journal.EndedCall{
		{Call: "done", Kind: "completed"}, {Call: "failed", Kind: "failed"}, {Call: "undone", Kind: "completed", Undone: true}, {Call: "other", Kind: "completed"},
	} {
		of.ByReference = append(of.ByReference, history.Reference{EndedCall: c})
		if c.Call != "other" {
			s.keys = append(s.keys, runtime.CallKey{Session: "s", Call: c.Call}, runtime.CallKey{Session: "s", Call: c.Call, Undo: true})
		}
	}
	s.keys = append(s.keys, runtime.CallKey{Session: "elsewhere", Call: "other"})
	var told []string
	parts, err := findParts(t.Context(), transaction.Participants{{Name: "shelf", Participant: s}}, func(_ runtime.CallKey, err error) { told = append(told, err.Error()) })
	require.NoError(t, err)
	parts.SettlePast(t.Context(), map[string]*history.Session{"s": of})
	assert.Equal(t, []string{"done true", "done false", "failed false", "failed false", "undone true", "undone true"}, s.did)
	s.did = nil
	parts.LeaveRest()
	assert.Empty(t, s.did)
	require.Len(t, told, 1)
	assert.Contains(t, told[0], `participant "shelf" has parts of call "other" of session "elsewhere", which this journal does not have`)
}

// A keeper is a journal with keys.
type keeper struct {
	journal.Memory
	bad string
}

func (k *keeper) Key(_ context.Context, name string) ([]byte, error) {
	if name == k.bad {
		return nil, errors.New("unreadable")
	}
	return []byte(name), nil
}

// TestKeys: a journal that keeps keys gives both, or an error that names the one it does not have. Another one has the executor's own.
func TestKeys(t *testing.T) {
	inputs, requests, err := recoverKeys(t.Context(), struct{ journal.Journal }{}, []byte("own"))
	require.NoError(t, err)
	assert.Equal(t, "own own", string(inputs)+" "+string(requests))
	inputs, requests, err = recoverKeys(t.Context(), new(keeper), nil)
	require.NoError(t, err)
	assert.Equal(t, "inputs consent", string(inputs)+" "+string(requests))
	for bad, says := range map[string]string{"inputs": "the key of inputs", "consent": "the key of requests for consent"} {
		_, _, err = recoverKeys(t.Context(), &keeper{bad: bad}, nil)
		assert.ErrorContains(t, err, says)
	}
}

// TestOutcomeNamesTheCommand: what was interrupted is a command where the tool is one, or a process is recorded.
func TestOutcomeNamesTheCommand(t *testing.T) {
	of := &history.Call{}
	assert.Contains(t, recoveredOutcome(fateInterrupted, of, false, false, true).Message, "while the handler ran")
	assert.Contains(t, recoveredOutcome(fateInterrupted, of, true, false, true).Message, "while the command ran")
	of.Processes = []journal.Process{{}}
	assert.Contains(t, recoveredOutcome(fateInterrupted, of, false, false, true).Message, "while the command ran")
	of.Runs = true
	assert.Contains(t, recoveredOutcome(fateInterrupted, of, false, false, true).Message, "while the command ran")
}
