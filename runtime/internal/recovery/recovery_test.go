package recovery_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/recovery"
	"github.com/ambit-tools/ambit/runtime/internal/transaction"
	"github.com/ambit-tools/ambit/runtime/journal"
)

func TestMain(m *testing.M) { battery.Main(m) }

// TestFates: of all combinations of facts, each has the fate of the first that applies.
func TestFates(t *testing.T) {
	states := []runtime.State{runtime.StateDeclared, runtime.StateValidated, runtime.StateAuthorized, runtime.StateExecuting}
	for n := range 8 * len(states) {
		f := recovery.Facts{Approved: n&1 != 0, Admitted: n&2 != 0, Decided: n&4 != 0, State: states[n/8]}
		var fate recovery.Fate
		switch {
		case f.Approved:
			fate = recovery.Approved
		case f.Admitted:
			fate = recovery.Readmitted
		case f.State == runtime.StateExecuting && f.Decided:
			fate = recovery.Committed
		case f.State == runtime.StateExecuting:
			fate = recovery.Interrupted
		default:
			fate = recovery.NotStarted
		}
		assert.Equal(t, fate, recovery.FateOf(f), "%+v", f)
	}
}

// TestOutcomes: a call that only reads has failed, or is completed where that was decided, whatever its participants
// say. Any other call is unknown where something could not be settled, or where a foreign transaction decides.
func TestOutcomes(t *testing.T) {
	const foreign, own = true, false
	decided := &runtime.Outcome{Kind: runtime.Completed, Message: "as decided"}
	for _, row := range []struct {
		fate           recovery.Fate
		effects        string
		seals          []bool // foreign ones
		parts, settled bool
		kind           runtime.OutcomeKind
		rolledBack     bool
		says           string
	}{
		{recovery.Committed, "", []bool{own}, true, true, runtime.Completed, false, "as decided"},
		{recovery.Committed, "", []bool{own}, true, false, runtime.Unknown, false, "what it did could not be committed"},
		{recovery.Committed, "", []bool{own, foreign}, true, true, runtime.Unknown, false, `participant "p1" has committed`},
		{recovery.Committed, "", []bool{foreign}, true, false, runtime.Unknown, false, `participant "p0" has committed`},
		{recovery.Committed, journal.EffectsInParts, []bool{own}, true, false, runtime.Unknown, false, "could not be committed"},
		{recovery.Committed, journal.EffectsNone, []bool{foreign}, true, false, runtime.Completed, false, "as decided"},
		{recovery.Interrupted, "", nil, false, true, runtime.Unknown, false, "may have taken effect"},
		{recovery.Interrupted, "", nil, true, true, runtime.Failed, true, "was taken back"},
		{recovery.Interrupted, "", nil, true, false, runtime.Unknown, false, "could not be taken back"},
		{recovery.Interrupted, journal.EffectsInParts, nil, false, true, runtime.Failed, true, "was taken back"},
		{recovery.Interrupted, journal.EffectsInParts, nil, true, false, runtime.Unknown, false, "could not be taken back"},
		{recovery.Interrupted, journal.EffectsNone, nil, true, false, runtime.Failed, false, "only reads"},
	} {
		of := &history.Call{Effects: row.effects, Decided: decided}
		for i, foreign := range row.seals {
			of.Sealed = append(of.Sealed, journal.Seal{Participant: fmt.Sprint("p", i), Foreign: foreign})
		}
		out := recovery.Outcome(row.fate, of, false, row.parts, row.settled)
		assert.Equal(t, row.kind, out.Kind, "%+v", row)
		assert.Equal(t, row.rolledBack, out.RolledBack, "%+v", row)
		assert.Contains(t, out.Message, row.says, "%+v", row)
	}
}

// TestUndoOutcomes: an undo that was not decided is interrupted, one with a foreign transaction is unknown, and a
// decided one is done or left to the next recovery.
func TestUndoOutcomes(t *testing.T) {
	for _, settled := range []bool{true, false} {
		done, fault := recovery.UndoOutcome(&history.Undo{}, settled)
		require.False(t, done)
		assert.Equal(t, action.CodeInterrupted, fault.Code)
		assert.Equal(t, !settled, fault.NotRolledBack)

		done, fault = recovery.UndoOutcome(&history.Undo{Sealed: []journal.Seal{{Participant: "own"}}}, settled)
		assert.Equal(t, settled, done)
		assert.Nil(t, fault)

		done, fault = recovery.UndoOutcome(&history.Undo{Sealed: []journal.Seal{{Participant: "own"}, {Participant: "other", Foreign: true}}}, settled)
		require.False(t, done)
		assert.Equal(t, action.CodeUnknown, fault.Code)
		assert.ErrorContains(t, fault.Err, `"other"`)
	}
}

// A shelf is a participant with parts of calls.
type shelf struct {
	runtime.Participant
	keys []runtime.CallKey
	did  []string
	bad  error
}

func (s *shelf) Unsettled(context.Context) ([]runtime.CallKey, error) { return s.keys, s.bad }

func (s *shelf) Settle(_ context.Context, key runtime.CallKey, commit bool) error {
	s.did = append(s.did, fmt.Sprint(key.Call, " ", commit))
	return s.bad
}

// TestParts: parts are taken once, those of ended calls follow their outcome, and the rest is rolled back.
func TestParts(t *testing.T) {
	key := func(id string) runtime.CallKey { return runtime.CallKey{Session: "s", Call: id} }
	s := &shelf{keys: []runtime.CallKey{key("done"), key("decided"), key("unknown"), key("failed"), key("nobody")}}
	var told []string
	parts, err := recovery.Find(t.Context(), transaction.Participants{{Name: "shelf", Participant: s}}, func(k runtime.CallKey, err error) {
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
	_, err = recovery.Find(t.Context(), transaction.Participants{{Name: "shelf", Participant: s}}, nil)
	assert.ErrorContains(t, err, `participant "shelf"`)
}

// TestPartsOfPastCalls: parts of calls that sessions have by reference follow their outcomes, and those of their undos what became of
// these.
// SEMANTICS 6.7.16
func TestPartsOfPastCalls(t *testing.T) {
	s := &shelf{}
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
	parts, err := recovery.Find(t.Context(), transaction.Participants{{Name: "shelf", Participant: s}}, func(_ runtime.CallKey, err error) { told = append(told, err.Error()) })
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
	inputs, requests, err := recovery.Keys(t.Context(), struct{ journal.Journal }{}, []byte("own"))
	require.NoError(t, err)
	assert.Equal(t, "own own", string(inputs)+" "+string(requests))
	inputs, requests, err = recovery.Keys(t.Context(), new(keeper), nil)
	require.NoError(t, err)
	assert.Equal(t, "inputs consent", string(inputs)+" "+string(requests))
	for bad, says := range map[string]string{"inputs": "the key of inputs", "consent": "the key of requests for consent"} {
		_, _, err = recovery.Keys(t.Context(), &keeper{bad: bad}, nil)
		assert.ErrorContains(t, err, says)
	}
}

// TestOutcomeNamesTheCommand: what was interrupted is a command where the tool is one, or a process is recorded.
func TestOutcomeNamesTheCommand(t *testing.T) {
	of := &history.Call{}
	assert.Contains(t, recovery.Outcome(recovery.Interrupted, of, false, false, true).Message, "while the handler ran")
	assert.Contains(t, recovery.Outcome(recovery.Interrupted, of, true, false, true).Message, "while the command ran")
	of.Processes = []journal.Process{{}}
	assert.Contains(t, recovery.Outcome(recovery.Interrupted, of, false, false, true).Message, "while the command ran")
	of.Runs = true
	assert.Contains(t, recovery.Outcome(recovery.Interrupted, of, false, false, true).Message, "while the command ran")
}
