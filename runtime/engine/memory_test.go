package engine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
	"github.com/ambit-tools/ambit/runtime/rules"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// sessionMemory returns the memory of a session with the run r, whose tool a may be called twice.
func sessionMemory(t *testing.T, queues bool, observe func(rules.Event)) *memory {
	t.Helper()
	engine, err := rules.Compile(rules.Config{Tools: []rules.Tool{{Name: "a", Undo: time.Hour, Rules: runtime.Rules{MaxCalls: 2}}}})
	require.NoError(t, err)
	m := newMemory(engine, queues, observe)
	require.NoError(t, m.StartRun(0, "r"))
	return &m
}

// add adds a call that has not ended.
func (m *memory) add(t *testing.T, id, run string) (*callRecord, *rules.Call) {
	t.Helper()
	r := &callRecord{ID: id, Tool: "a"}
	earlier, was := m.Add(r, m.Calls(run))
	require.Nil(t, earlier)
	require.Nil(t, was)
	return r, &rules.Call{ID: r.ID, Run: run, Tool: "a"}
}

// end gives a call an outcome.
func (r *callRecord) end(out runtime.Outcome) {
	out.CallID, out.Tool = r.ID, r.Tool
	r.Store(&out)
	new(sched.Scheduler).Fire(&r.First)
}

// TestIDs: a session makes ids that no call and no run has.
func TestIDs(t *testing.T) {
	m := sessionMemory(t, false, nil)
	m.add(t, "call-1", "r")
	made, _ := m.add(t, "", "r")
	assert.Equal(t, "call-2", made.ID)
	assert.Equal(t, 2, made.Number)
	other := &callRecord{ID: "call-2"}
	earlier, _ := m.Add(other, m.Calls("r"))
	assert.Same(t, made, earlier)
	require.NoError(t, m.StartRun(0, "s/1"))
	assert.Equal(t, "s/2", m.NextRun("s"))
	assert.Error(t, m.StartRun(0, "r"), "it is open")
}

// TestMadeIDsDoNotRepeat: a session counts on from the ids that earlier processes made, and not from ids that
// only look like them.
// SEMANTICS 1.4.6
func TestMadeIDsDoNotRepeat(t *testing.T) {
	m := sessionMemory(t, false, nil)
	for _, id := range []string{"call-7", "call-3", "call-08", "call-+9", "call-", "call-1234567890123456", "agent-40"} {
		earlier, was := m.Add(restoredRecord(&history.Call{ID: id}), m.Calls("r"))
		require.Nil(t, earlier)
		require.Nil(t, was)
	}
	m.calls = callIndex{} // these calls are forgotten
	made, _ := m.add(t, "", "r")
	assert.Equal(t, "call-8", made.ID)
	m.add(t, "call-20", "r")
	made, _ = m.add(t, "", "r")
	assert.Equal(t, "call-9", made.ID, "an id that the caller chose moves no counter")
}

// TestReservations: a call that is refused reserves nothing, and each end of a call gives up what it held.
func TestReservations(t *testing.T) {
	m := sessionMemory(t, false, nil)
	first, rc := m.add(t, "1", "r")
	require.True(t, m.Admit(0, rc, first).Admitted())
	assert.Equal(t, reserved, first.Reservation)
	require.NoError(t, m.Start(0, first))
	assert.Equal(t, reservedAndInvoked, first.Reservation)
	second, rc := m.add(t, "2", "r")
	require.True(t, m.Ask(0, rc, second).Admitted())
	assert.True(t, m.Check(0, rc, second, true).Admitted(), "its own reservation does not count against it")
	assert.False(t, m.Check(0, rc, second, false).Admitted())
	third, rc3 := m.add(t, "3", "r")
	assert.False(t, m.Admit(0, rc3, third).Admitted())
	assert.Equal(t, reservedNothing, third.Reservation)
	m.Rebind(0, rc)
	require.True(t, m.Resume(0, rc, second).Admitted())
	m.End(0, second, &runtime.Outcome{Kind: runtime.Denied})
	assert.Equal(t, reservedNothing, second.Reservation)
	require.True(t, m.Resume(0, rc3, third).Admitted(), "the second has left its place")
	require.NoError(t, m.Start(0, third))
	m.End(0, third, &runtime.Outcome{Kind: runtime.Denied})
	fourth, rc := m.add(t, "4", "r")
	assert.True(t, m.Admit(0, rc, fourth).Admitted(), "a call that was denied after its start is not counted")
	m.End(0, first, &runtime.Outcome{Kind: runtime.Completed})
	m.End(0, first, &runtime.Outcome{Kind: runtime.Completed}) // nothing any more
	fifth, rc := m.add(t, "5", "r")
	assert.False(t, m.Admit(0, rc, fifth).Admitted())
	assert.EqualValues(t, 1, m.Rules().Facts("r", "", "", "a").Successes)
	m.Undone(0, first)
	assert.Zero(t, m.Rules().Facts("r", "", "", "a").Successes)
}

// TestChanges: each change is observed, and queued for one entry when there is a journal.
func TestChanges(t *testing.T) {
	var seen []rules.EventKind
	m := sessionMemory(t, true, func(ev rules.Event) { seen = append(seen, ev.Kind) })
	r, rc := m.add(t, "1", "r")
	m.Admit(0, rc, r)
	require.NoError(t, m.Start(0, r))
	m.End(0, r, &runtime.Outcome{Kind: runtime.Unknown})
	m.Resolve(0, r, &runtime.Outcome{Kind: runtime.Completed})
	assert.True(t, m.CloseRun(0, "r"))
	assert.False(t, m.CloseRun(0, "r"))
	assert.Error(t, m.Start(0, r), "the run is closed")
	var queued []rules.EventKind
	for _, ev := range m.Take() {
		queued = append(queued, ev.Kind)
	}
	assert.Len(t, seen, 6)
	assert.Equal(t, seen, queued)
	assert.Empty(t, m.Take())
	m = sessionMemory(t, false, nil)
	assert.Empty(t, m.Take(), "there is no journal")
}

// TestStatusOf: what did not complete leaves the success of the call open, or a failure.
func TestStatusOf(t *testing.T) {
	for _, c := range []struct {
		out  runtime.Outcome
		want rules.Status
	}{
		{runtime.Outcome{Kind: runtime.Completed}, rules.StatusOK},
		{runtime.Outcome{Kind: runtime.Unknown}, rules.StatusUnknown},
		{runtime.Outcome{Kind: runtime.Failed}, rules.StatusError},
		{runtime.Outcome{Kind: runtime.TimedOut}, rules.StatusTimeout},
		{runtime.Outcome{Kind: runtime.TimedOut, RolledBack: true}, rules.StatusError},
		{runtime.Outcome{Kind: runtime.Cancelled}, rules.StatusTimeout},
	} {
		assert.Equal(t, c.want, ruleStatus(&c.out), c.out.Kind)
	}
}

// TestSucceededVisitsOneRun removes the index of all calls: a search that used it would find none.
func TestSucceededVisitsOneRun(t *testing.T) {
	m := sessionMemory(t, false, nil)
	for _, c := range []struct {
		id, run string
		kind    runtime.OutcomeKind
	}{{"a1", "r", runtime.Completed}, {"b1", "b", runtime.Completed}, {"a2", "r", runtime.Failed}, {"a3", "r", runtime.Completed}} {
		r, _ := m.add(t, c.id, c.run)
		r.end(runtime.Outcome{Kind: c.kind})
		assert.Equal(t, c.run, r.Run())
	}
	m.add(t, "a4", "r") // has no outcome
	m.calls = callIndex{}
	var ids []string
	for _, r := range m.Succeeded("r") {
		ids = append(ids, r.ID)
	}
	assert.Equal(t, []string{"a3", "a1"}, ids)
	assert.Empty(t, m.Succeeded("never"))
}

// TestEmptyRunsAreForgotten: a run without calls leaves nothing.
func TestEmptyRunsAreForgotten(t *testing.T) {
	m := sessionMemory(t, false, nil)
	m.Calls("r")
	require.True(t, m.CloseRun(0, "r"))
	assert.Empty(t, m.byRun)
	require.NoError(t, m.StartRun(0, "r"))
	m.add(t, "1", "r")
	require.True(t, m.CloseRun(0, "r"))
	assert.Len(t, m.byRun, 1)
}

// TestReplacedOutcomes: an outcome that was unknown or not recorded can be replaced, another one cannot.
func TestReplacedOutcomes(t *testing.T) {
	for _, c := range []struct {
		was  runtime.Outcome
		want runtime.OutcomeKind
	}{
		{runtime.Outcome{Kind: runtime.Unknown}, runtime.Completed},
		{runtime.Outcome{Kind: runtime.Denied, Reason: runtime.ReasonJournalUnavailable}, runtime.Completed},
		{runtime.Outcome{Kind: runtime.Failed}, runtime.Failed},
	} {
		r := &callRecord{ID: "c", Tool: "t"}
		r.Store(&c.was)
		r.ReplaceOnce(&runtime.Outcome{Kind: runtime.Completed, RolledBack: true})
		r.ReplaceOnce(&runtime.Outcome{Kind: runtime.Failed})
		assert.Equal(t, c.want, r.Kind())
		assert.Equal(t, c.want, r.Outcome().Kind)
		assert.Equal(t, c.want == runtime.Completed, r.RolledBack())
	}
	r := new(callRecord)
	r.Store(&runtime.Outcome{Kind: runtime.Denied, Reason: runtime.ReasonAtCapacity, Message: "busy"})
	reason, message := r.Refused()
	assert.Equal(t, runtime.ReasonAtCapacity, reason)
	assert.Equal(t, "busy", message)
}

// TestInputs: a short input and a short output share the record's room, and a long input is a digest.
func TestInputs(t *testing.T) {
	r := new(callRecord)
	r.SetInput([]byte("abc"), 10)
	assert.Equal(t, "abc", string(r.Input))
	out := append(r.Spare(), "output"...)
	assert.Equal(t, "abc", string(r.Input))
	assert.Same(t, &r.room[3], &out[0])
	long := new(callRecord)
	long.SetInput(make([]byte, 11), 10)
	assert.True(t, long.Digest)
	assert.Len(t, long.Input, 32)
}

// TestRepeats: equal inputs repeat a call of the same tool.
func TestRepeats(t *testing.T) {
	of := func(tool, input string) *callRecord {
		r := &callRecord{Tool: tool}
		r.SetInput([]byte(input), 4)
		return r
	}
	for _, c := range []struct {
		a, b *callRecord
		want bool
	}{
		{of("t", "{}"), of("t", "{}"), true},
		{of("t", "{}"), of("u", "{}"), false},
		{of("t", "{}"), of("t", "[]"), false},
		{of("t", "a long one"), of("t", "a long one"), true},
		{of("t", "a long one"), of("t", "another one"), false},
		{of("t", "a long one"), of("t", "{}"), false},
	} {
		assert.Equal(t, c.want, c.b.Repeats(c.a, nil, nil), string(c.a.Input)+string(c.b.Input))
	}
}

// TestNodes: the parts of a run close with it, and each call knows its place.
func TestNodes(t *testing.T) {
	var s sched.Scheduler
	var child, late runNode
	m := sessionMemory(t, false, nil)
	root := m.OpenNode("r", nil)
	assert.Same(t, root, m.Node("r"))
	root.OpenChild(&child)
	assert.True(t, root.Root())
	assert.False(t, child.Root())
	assert.Same(t, root.Calls(), child.Calls())
	a, b, c := &call{work: work{ident: ident{id: "a"}}}, &call{work: work{ident: ident{id: "b"}}}, &call{work: work{ident: ident{id: "c"}}}
	for i, x := range []*call{a, b, c} {
		assert.Equal(t, i+1, root.Enter(x))
	}
	assert.Same(t, c, root.Leave(1), "the last one took its place")
	assert.Equal(t, []*call{c, b}, root.Active())
	assert.Same(t, b, root.Leave(2))
	closed := child.Closed(&s)
	assert.False(t, closed.Fired())
	assert.Equal(t, []*runNode{root, &child}, root.Shut(&s, nil))
	assert.True(t, closed.Fired() && root.Closed(&s).Fired())
	assert.True(t, child.Closing())
	assert.False(t, child.Workers.Enter())
	root.OpenChild(&late)
	assert.False(t, late.Closing() && late.Workers.Enter(), "a part of a closed run is closed")
	assert.True(t, late.Closing())
}

// TestLater: calls after an undone one that wrote, and share something with it, are named.
func TestLater(t *testing.T) {
	m := sessionMemory(t, false, nil)
	spec := &runtime.Spec{Name: "a", Effect: runtime.SideEffectWrite}
	spec.Rules.ExclusiveGroups = []string{"g"}
	reads := &runtime.Spec{Name: "b", Effect: runtime.SideEffectRead}
	reads.Rules.ExclusiveGroups = []string{"g"}
	declared := map[string]*tools.Tool{"a": {Spec: spec}, "b": {Spec: reads}}
	final := wire.Value(text("x"))
	o := overlapRules{Tool: func(name string) *tools.Tool { return declared[name] }, Final: func(*call) wire.Value { return final }}
	var list []*callRecord
	for _, c := range []struct {
		id, tool string
		out      runtime.Outcome
	}{
		{"early", "a", runtime.Outcome{Kind: runtime.Completed}}, {"undone", "a", runtime.Outcome{Kind: runtime.Completed}},
		{"wrote", "a", runtime.Outcome{Kind: runtime.Completed}}, {"read", "b", runtime.Outcome{Kind: runtime.Completed}},
		{"gone", "a", runtime.Outcome{Kind: runtime.TimedOut, RolledBack: true}}, {"perhaps", "a", runtime.Outcome{Kind: runtime.Unknown}},
		{"refused", "a", runtime.Outcome{Kind: runtime.Denied}}, {"unknown", "z", runtime.Outcome{Kind: runtime.Completed}},
	} {
		r, _ := m.add(t, c.id, "r")
		r.Tool = c.tool
		r.end(c.out)
		list = append(list, r)
	}
	runs, _ := m.add(t, "runs", "r")
	runs.Reservation = reservedAndInvoked
	m.add(t, "waits", "r")
	ids := func(later []laterCall) (ids []string) {
		for _, l := range later {
			ids = append(ids, l.ID)
			assert.NotEmpty(t, l.Shares)
		}
		return ids
	}
	later := m.Later([]*callRecord{list[1]}, o, nil)
	assert.Equal(t, []string{"wrote", "perhaps", "runs"}, ids(later[0]))
	later = m.Later([]*callRecord{list[5], list[1]}, o, nil)
	assert.Equal(t, [][]string{{"runs"}, {"wrote", "runs"}}, [][]string{ids(later[0]), ids(later[1])})
	spec.Undo = &runtime.UndoSpec{TTL: time.Minute}
	list[1].Undo.Ended = time.Unix(1_000, 0)
	calls := []action.UndoneCall{{CallID: "perhaps", Err: action.CodeBusy.Err()}, {CallID: "undone"}}
	m.AddLater(calls, o, nil)
	assert.Empty(t, calls[0].Later, "it would not be undone")
	assert.Equal(t, time.Unix(1_060, 0), calls[1].Until)
	if assert.Len(t, calls[1].Later, 3) {
		assert.Equal(t, action.LaterCall{CallID: "wrote", Tool: "a", Shares: later[1][0].Shares}, calls[1].Later[0])
	}
	list[2].Undo.Done = true
	assert.Equal(t, []string{"perhaps", "runs"}, ids(m.Later([]*callRecord{list[1]}, o, nil)[0]))
}

// A text is a value.
type text string

func (v text) Walk(w wire.Visitor) { w.Visit(wire.Token{Kind: wire.KindString, Str: string(v)}) }

// TestFillStatus: the hint and the state of the run follow what became of the call.
func TestFillStatus(t *testing.T) {
	m := sessionMemory(t, false, nil)
	r, rc := m.add(t, "1", "r")
	m.Admit(0, rc, r)
	out := runtime.Outcome{Kind: runtime.Pending}
	m.FillStatus(&out, "r", "a", false, false, true)
	assert.Equal(t, runtime.LoopWait, out.Loop)
	assert.Equal(t, runtime.RunRunning, out.Run)
	m.CloseRun(rules.Instant(time.Second), "r")
	m.FillStatus(&out, "r", "a", true, true, false)
	assert.Equal(t, runtime.RunFinished, out.Run)
}

// TestFillDuplicate: a duplicate has the output of the earlier call, once that has ended, and says so where that did not complete.
// SEMANTICS 4.8.13
func TestFillDuplicate(t *testing.T) {
	m := sessionMemory(t, false, nil)
	earlier, _ := m.add(t, "c1", "r")
	var out runtime.Outcome
	m.FillDuplicate(&out, "c1")
	assert.Equal(t, runtime.Outcome{Kind: runtime.Duplicate, Of: "c1", Message: `an equal call was made before, and has no outcome yet: "c1" may still fail. Do not take it for done`}, out)
	earlier.end(runtime.Outcome{Kind: runtime.Completed, Output: wire.Raw(`1`)})
	m.FillDuplicate(&out, "c1")
	assert.Equal(t, wire.Raw(`1`), out.Output)
	assert.Equal(t, `an equal call was made before: "c1"`, out.Message)
	late, _ := m.add(t, "c3", "r")
	late.end(runtime.Outcome{Kind: runtime.TimedOut})
	m.FillDuplicate(&out, "c3")
	assert.Equal(t, `an equal call was made before: "c3" ended as timed_out. Do not take it for done`, out.Message)
	m.ended.Put(&endedCall{ID: "c4", Kind: runtime.Unknown})
	m.FillDuplicate(&out, "c4")
	assert.Equal(t, `an equal call was made before: "c4" ended as unknown. Do not take it for done`, out.Message)
	out = runtime.Outcome{}
	m.FillDuplicate(&out, "c2")
	assert.Nil(t, out.Output)
}

// TestRequired: a run needs calls of its start tools, and of its required tools once its model has stopped.
func TestRequired(t *testing.T) {
	engine, err := rules.Compile(rules.Config{Reminders: 2, Tools: []rules.Tool{
		{Name: "begin", Rules: runtime.Rules{StartConstraint: true}}, {Name: "end", Rules: runtime.Rules{RequiredBeforeExit: true}},
	}})
	require.NoError(t, err)
	m := newMemory(engine, false, nil)
	require.NoError(t, m.StartRun(0, "r"))
	assert.Equal(t, []string{"begin"}, m.Required("r", ""))
	require.True(t, m.StopRun(0, "r"))
	assert.Equal(t, []string{"begin", "end"}, m.Required("r", ""))
}
