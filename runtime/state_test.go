package runtime

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// leads are the states that an event may lead to from a state.
type leads struct {
	from State
	to   []State
}

// lifecycleInWords returns the life cycle, written independently.
func lifecycleInWords() map[EventKind][]leads {
	stay := func(s State) leads { return leads{s, []State{s}} }
	return map[EventKind][]leads{
		EventInvoked:           {stay(StateDeclared)},
		EventValidated:         {{StateDeclared, []State{StateValidated}}},
		EventApprovalRequested: {stay(StateValidated), {StateAuthorized, []State{StateValidated}}},
		EventApprovalDecided: {
			stay(StateDeclared), stay(StateValidated), stay(StateAuthorized), stay(StateExecuting), stay(StateCompleted),
			stay(StateFailed), stay(StateDenied), stay(StateAborted), stay(StateRolledBack),
		},
		EventApprovalExpiring: {stay(StateValidated)},
		EventAuthorized:       {{StateValidated, []State{StateAuthorized}}, stay(StateAuthorized)},
		EventDenied: {
			{StateDeclared, []State{StateFailed, StateDenied}}, {StateValidated, []State{StateDenied}},
			{StateAuthorized, []State{StateDenied}}, {StateExecuting, []State{StateDenied}},
		},
		EventStarted:   {{StateAuthorized, []State{StateExecuting}}},
		EventOutput:    {stay(StateExecuting)},
		EventRetrying:  {stay(StateExecuting)},
		EventCompleted: {{StateExecuting, []State{StateCompleted}}},
		EventFailed:    {{StateValidated, []State{StateFailed}}, {StateExecuting, []State{StateFailed}}},
		EventAborted: {
			{StateDeclared, []State{StateAborted}}, {StateValidated, []State{StateAborted}},
			{StateAuthorized, []State{StateAborted}}, {StateExecuting, []State{StateAborted}},
		},
		EventRolledBack: {
			{StateExecuting, []State{StateRolledBack}}, {StateFailed, []State{StateRolledBack}},
			{StateAborted, []State{StateRolledBack}},
		},
		EventStale:      {stay(StateValidated), stay(StateAuthorized), stay(StateExecuting)},
		EventOrphaned:   {stay(StateExecuting)},
		EventUnknown:    {stay(StateExecuting)},
		EventReconciled: {{StateExecuting, []State{StateCompleted, StateFailed, StateRolledBack}}},
		EventUndone: {
			{StateCompleted, []State{StateRolledBack}}, {StateAborted, []State{StateRolledBack}},
			{StateExecuting, []State{StateRolledBack}},
		},
		EventUndoFailed: {stay(StateCompleted), stay(StateAborted), stay(StateExecuting)},
		EventLateResult: {stay(StateFailed), stay(StateAborted), stay(StateRolledBack)},
		EventConsentOff: {stay(StateDeclared)},
		EventLingering:  {stay(StateAborted), stay(StateRolledBack)}, EventSinkDropped: nil,
	}
}

// SEMANTICS 2.1.1
func TestLifecycleTable(t *testing.T) {
	want := lifecycleInWords()
	require.Len(t, want, len(eventNames))
	for k := range EventKind(len(eventNames)) {
		legal := map[[2]State]bool{}
		for _, l := range want[k] {
			for _, to := range l.to {
				legal[[2]State{l.from, to}] = true
			}
		}
		for from := range StateRolledBack + 1 {
			for to := range StateRolledBack + 1 {
				assert.Equal(t, legal[[2]State{from, to}], k.Legal(from, to), "%v: %v -> %v", k, from, to)
			}
		}
	}
	assert.False(t, EventKind(99).Legal(StateDeclared, StateDeclared))
	assert.False(t, EventInvoked.Legal(StateDeclared, State(99)))
}

// SEMANTICS 2.2.1, 2.3.1, 2.3.2, 2.3.3, 2.3.5
func TestNamesOfEnums(t *testing.T) {
	for r := range Reason(len(reasonNames)) {
		b, err := r.MarshalText()
		require.NoError(t, err)
		var back Reason
		require.NoError(t, back.UnmarshalText(b))
		assert.Equal(t, r, back)
	}
	assert.Len(t, reasonNames, int(ReasonRunClosed)+1)
	assert.Len(t, outcomeNames, int(Unknown)+1)
	assert.Len(t, stateNames, int(StateRolledBack)+1)
	assert.Len(t, eventNames, int(EventSinkDropped)+1)
	assert.Equal(t, "tool.late_result", EventLateResult.String())
	assert.Equal(t, "run_closed", ReasonRunClosed.String())
	assert.Equal(t, "journal_unavailable", ReasonJournalUnavailable.String())
	assert.Equal(t, "ROLLED_BACK", StateRolledBack.String())
	assert.Equal(t, "reason(200)", Reason(200).String())
	var unknown Reason
	assert.ErrorContains(t, unknown.UnmarshalText([]byte("mood")), `unknown reason "mood"`)
	var k OutcomeKind
	assert.ErrorContains(t, k.UnmarshalText([]byte("done")), `unknown outcome "done"`)
	assert.Equal(t, Denied, OutcomeKind(0))
	assert.Equal(t, EffectDeny, Effect(0))
	assert.Equal(t, SideEffectDestructive, SideEffect(0))
}
