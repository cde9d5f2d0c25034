package rules_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// SEMANTICS 4.18.1, 4.18.2, 4.18.3
func TestLoopHint(t *testing.T) {
	p := begin(t, runtime.Rules{}, tool("work", runtime.Rules{}), tool("more", runtime.Rules{ContinueLoop: true}),
		tool("tidy", runtime.Rules{RequiredBeforeExit: true}), tool("exit", runtime.Rules{ExitLoop: true}))
	hint := func(want runtime.Loop, tool string, result rules.Result, heartbeat bool) {
		t.Helper()
		require.Equal(t, want, p.s.Hint("r", tool, result, heartbeat))
	}
	hint(runtime.LoopYield, "work", rules.ResultSucceeded, false)
	hint(runtime.LoopContinue, "work", rules.ResultSucceeded, true)
	hint(runtime.LoopContinue, "more", rules.ResultSucceeded, false)
	hint(runtime.LoopContinue, "work", rules.ResultFailed, false)
	hint(runtime.LoopContinue, "work", rules.ResultRefused, false)
	hint(runtime.LoopContinue, "unknown", rules.ResultRefused, false)
	hint(runtime.LoopWait, "more", rules.ResultPending, true)
	p.ok("exit")
	hint(runtime.LoopContinue, "exit", rules.ResultSucceeded, false) // clean-up
	hint(runtime.LoopWait, "tidy", rules.ResultPending, false)
	p.ok("tidy")
	hint(runtime.LoopExit, "tidy", rules.ResultSucceeded, true)
	hint(runtime.LoopExit, "work", rules.ResultRefused, false)
}

// SEMANTICS 4.3.6
func TestTied(t *testing.T) {
	engine, err := rules.Compile(rules.Config{Tools: []rules.Tool{
		tool("start", runtime.Rules{StartConstraint: true}), tool("needs", runtime.Rules{RequiresPreceding: []string{"free"}}),
		tool("precedes", runtime.Rules{MustPrecede: []string{"free"}}), tool("required", runtime.Rules{RequiredBeforeExit: true}),
		tool("exit", runtime.Rules{ExitLoop: true}),
		tool("free", runtime.Rules{MaxCalls: 1, Cooldown: 1, ExclusiveGroups: []string{"g"}, ContinueLoop: true}),
	}})
	require.NoError(t, err)
	for _, name := range engine.Tools() {
		require.Equal(t, name != "free", engine.Tied(name), name)
	}
	require.False(t, engine.Tied("unknown"))
	require.Equal(t, []string{"start"}, engine.Starts())
}

// SEMANTICS 4.3.6, 4.8.1
func TestWants(t *testing.T) {
	engine, err := rules.Compile(rules.Config{Tools: []rules.Tool{
		tool("plain", runtime.Rules{}), {Name: "equal", Dedupe: runtime.Dedupe{Mode: runtime.DedupeAlways}}, {Name: "keyed", Idempotency: &rules.Idempotency{}},
	}})
	require.NoError(t, err)
	require.Equal(t, rules.Wants{}, engine.Wants("plain"))
	require.Equal(t, rules.Wants{}, engine.Wants("unknown"))
	require.Equal(t, rules.Wants{Args: true}, engine.Wants("equal"))
	require.Equal(t, rules.Wants{Args: true, Key: true}, engine.Wants("keyed"))
}

// SEMANTICS 4.17.1
func TestCompileReportsEveryMistake(t *testing.T) {
	_, err := rules.Compile(rules.Config{Tools: []rules.Tool{
		tool("a", runtime.Rules{RequiresPreceding: []string{"x"}, MustPrecede: []string{"y"}}),
		tool("a", runtime.Rules{ContinueLoop: true, ExitLoop: true}),
	}})
	require.EqualError(t, err, `tool "a" is declared twice: rename one
tool "a" has both continue_loop and exit_loop: keep one
tool "a": requires_preceding names "x", which is not declared
tool "a": must_precede names "y", which is not declared`)
}

// SEMANTICS 4.1.3
func TestImpossibleEvents(t *testing.T) {
	p := begin(t, runtime.Rules{}, undoable("a", runtime.Rules{}))
	id := p.admit("a")
	before := p.s.Version()
	for _, ev := range []rules.Event{
		{},
		{Kind: rules.EventRunStarted, Run: "r"},
		{Kind: rules.EventStopped, Run: "q"},
		{Kind: rules.EventRunClosed, Run: "q"},
		{Kind: rules.EventAdmitted, Run: "r", Call: id, Tool: "a"},
		{Kind: rules.EventAsked, Run: "q", Call: "x", Tool: "a"},
		{Kind: rules.EventStarted, Call: "x"},
		{Kind: rules.EventResumed, Call: id},
		{Kind: rules.EventFinished, Call: id, Status: rules.StatusOK},
		{Kind: rules.EventUndone, Call: id},
		{Kind: rules.EventUndone, Call: "x", Run: "q", Tool: "a", Principal: "agent"},
		{Kind: rules.EventUndone, Call: "x", Run: "r", Tool: "b", Principal: "agent"},
		{Kind: 99, Call: id},
	} {
		require.Error(t, p.s.Apply(&ev), "%+v", ev)
	}
	p.commit(id)
	for _, status := range []rules.Status{0, 99} {
		_, err := p.s.Finish(0, id, status)
		require.Error(t, err)
	}
	for _, state := range []rules.RunState{rules.RunWaiting, rules.RunIncomplete, 99} {
		require.Error(t, p.s.Apply(&rules.Event{Kind: rules.EventFinished, Call: id, Status: rules.StatusOK, State: state}))
	}
	require.Equal(t, before+1, p.s.Version())
	_, err := p.engine.Replay([]rules.Event{{Kind: rules.EventStarted, Call: "x"}})
	require.ErrorContains(t, err, "event 0: ")
}

// SEMANTICS 1.4.1
func TestCallIDsAreToldApart(t *testing.T) {
	p := begin(t, runtime.Rules{}, tool("a", runtime.Rules{}))
	c := p.ask("a")
	v, _ := p.s.Admit(0, &c)
	require.Equal(t, []rules.Reason{rules.ReasonCallIDReused}, v.Reasons())
}

func TestTimeNeverRunsBackward(t *testing.T) {
	p := begin(t, runtime.Rules{}, tool("a", runtime.Rules{Cooldown: time.Second}))
	p.wait(time.Hour)
	p.ok("a")
	p.now = 0
	require.Equal(t, time.Second, p.refused("a", rules.ReasonCooldown).RetryAfter)
}

func TestMemoryIsPruned(t *testing.T) {
	d := rules.Tool{Name: "d", Dedupe: runtime.Dedupe{Mode: runtime.DedupeWindow, Window: 10}, Idempotency: &rules.Idempotency{Window: 10}, Undo: 10}
	engine, err := rules.Compile(rules.Config{Tools: []rules.Tool{d}})
	require.NoError(t, err)
	s := engine.NewState()
	most := 0
	for i := range 5000 {
		now := rules.Instant(i)
		_, err := s.StartRun(now, "r")
		require.NoError(t, err)
		c := rules.Call{ID: time.Duration(i).String(), Run: "r", Tool: "d", Args: rules.Digest{byte(i), byte(i >> 8)}, Key: rules.Digest{byte(i), byte(i >> 8)}}
		require.NoError(t, runOnce(s, now, &c))
		_, _, err = s.CloseRun(now, "r")
		require.NoError(t, err)
		most = max(most, s.Size())
	}
	require.Less(t, most, 400)
	s.Prune(1 << 40)
	require.Zero(t, s.Size())
}

// TestAdmissionAllocates holds the budget of an admission with every rule.
func TestAdmissionAllocates(t *testing.T) {
	s, now := ready(t, 1000)
	c := rules.Call{ID: "next", Run: "r", Principal: "agent", Tool: "work", Operation: "put", HasOperation: true}
	require.LessOrEqual(t, fewestAllocs(func() {
		if v, _ := s.Admit(now, &c); !v.Admitted() {
			t.Fatal(v)
		}
		if _, err := s.Release(now, c.ID); err != nil {
			t.Fatal(err)
		}
	}), 2.0)
	require.Zero(t, fewestAllocs(func() { s.Check(now, &c) }))
}

// fewestAllocs returns the allocations of f in the best of many short runs: what the
// Go runtime does beside them is counted too.
func fewestAllocs(f func()) float64 {
	fewest := testing.AllocsPerRun(10, f)
	for range 30 {
		fewest = min(fewest, testing.AllocsPerRun(10, f))
	}
	return fewest
}

// SEMANTICS 2.4.1
func TestUnblock(t *testing.T) {
	p := begin(t, runtime.Rules{}, rules.Tool{Name: "init", Consent: true, Rules: runtime.Rules{StartConstraint: true}},
		tool("fetch", runtime.Rules{}), tool("slow", runtime.Rules{RequiresPreceding: []string{"fetch"}, Cooldown: 6 * time.Second, MaxCalls: 2}),
		tool("seal", runtime.Rules{ExclusiveGroups: []string{"g"}}), tool("open", runtime.Rules{ExclusiveGroups: []string{"g"}}))
	want := func(tool string, outlook rules.Outlook, steps ...string) {
		t.Helper()
		c := p.call(tool)
		way := p.s.Unblock(p.now, &c)
		var got []string
		for _, s := range way.Steps {
			got = append(got, s.String())
		}
		require.Equal(t, outlook, way.Outlook)
		require.Equal(t, steps, got)
	}
	want("slow", rules.OutlookOpen, "call init (needs consent)", "call fetch")
	c := p.ask("init")
	want("slow", rules.OutlookOpen, "get consent for "+c.ID+" (init)", "call fetch")
	v, _ := p.s.Resume(0, &c)
	require.True(t, v.Admitted())
	p.commit(c.ID)
	p.finish(c.ID, rules.StatusOK)
	want("fetch", rules.OutlookOpen)
	fetch := p.ask("fetch")
	want("slow", rules.OutlookOpen, "get consent for "+fetch.ID+" (fetch)")
	p.took(p.s.Release(0, fetch.ID))
	fetch.ID = p.admit("fetch")
	want("slow", rules.OutlookOpen, "let "+fetch.ID+" (fetch) finish")
	p.took(p.s.Release(0, fetch.ID))
	p.ok("fetch")
	p.ok("slow")
	p.wait(time.Second)
	want("slow", rules.OutlookOpen, "wait 5s")
	p.wait(time.Hour)
	p.ok("slow")
	want("slow", rules.OutlookNever)
	open := p.ask("open")
	want("seal", rules.OutlookDrop, open.ID+" (open), which has not started, is denied or cancelled")
	p.took(p.s.Release(p.now, open.ID))
	p.ok("open")
	want("seal", rules.OutlookNever)
	p.stop()
	want("fetch", rules.OutlookNever)
}

func TestNames(t *testing.T) {
	require.Equal(t, "cooldown", rules.ReasonCooldown.String())
	require.Equal(t, "duplicate", rules.Duplicate.String())
	require.Equal(t, "unknown", rules.StatusUnknown.String())
	require.Equal(t, "closed", rules.RunClosed.String())
	require.Equal(t, "exit", runtime.LoopExit.String())
	require.Equal(t, "wait", runtime.StepWait.String())
	require.Equal(t, "never", rules.OutlookNever.String())
	require.Equal(t, "status(0)", rules.Status(0).String())
	require.Equal(t, "reason(99)", rules.Reason(99).String())
}
