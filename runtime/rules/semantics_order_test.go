package rules_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// SEMANTICS 4.11.1
func TestStartConstraint(t *testing.T) {
	one, two := tool("one", runtime.Rules{StartConstraint: true}), tool("two", runtime.Rules{StartConstraint: true})
	p := begin(t, runtime.Rules{}, one, tool("work", runtime.Rules{}), two)
	require.Equal(t, []string{"one", "two"}, p.refused("work", rules.ReasonStartConstraint).Missing)
	p.ok("two") // any order
	require.Equal(t, []string{"one"}, p.refused("work", rules.ReasonStartConstraint).Missing)
	p.fails("one")
	p.commit(p.admit("one"))
	p.refused("work", rules.ReasonStartConstraint) // success is needed
	require.Equal(t, []string{"one"}, p.s.OpenStarts("r", "agent"))
	p.ok("one")
	require.Empty(t, p.s.OpenStarts("r", "agent"))
	p.fails("one") // a later failure takes nothing back
	p.ok("work")
	p.as("other")(func() { p.refused("work", rules.ReasonStartConstraint) })
	p.rerun()
	p.refused("work", rules.ReasonStartConstraint) // in this run
}

// SEMANTICS 1.2.1, 4.1.1, 4.12.1, 4.12.2
func TestRequiresPreceding(t *testing.T) {
	all := tool("all", runtime.Rules{RequiresPreceding: []string{"b", "a"}})
	either := tool("any", runtime.Rules{RequiresPreceding: []string{"b", "a"}, AnyPreceding: true})
	begin2 := func(t *testing.T) *play {
		return begin(t, runtime.Rules{}, tool("a", runtime.Rules{}), tool("b", runtime.Rules{}), all, either)
	}
	t.Run("all of the list", func(t *testing.T) {
		p := begin2(t)
		require.Equal(t, []string{"b", "a"}, p.refused("all", rules.ReasonPrerequisiteMissing).Missing)
		p.ok("b")
		require.Equal(t, []string{"a"}, p.refused("all", rules.ReasonPrerequisiteMissing).Missing)
		p.ok("a")
		p.fails("a")
		p.ok("all")
	})
	t.Run("any of the list", func(t *testing.T) {
		p := begin2(t)
		want := rules.Violation{Reason: rules.ReasonPrerequisiteMissing, Missing: []string{"b", "a"}, Any: true}
		require.Equal(t, want, p.refused("any", rules.ReasonPrerequisiteMissing))
		p.ok("a")
		p.ok("any")
	})
	t.Run("succeeded in this run, not merely invoked", func(t *testing.T) {
		p := begin2(t)
		p.fails("a")
		p.runs("a", rules.StatusTimeout)
		p.commit(p.admit("a"))
		p.ask("a")
		p.refused("any", rules.ReasonPrerequisiteMissing)
		p.finish(p.runs("a", rules.StatusUnknown), rules.StatusOK)
		p.ok("any")
		p.rerun()
		p.refused("any", rules.ReasonPrerequisiteMissing)
	})
	t.Run("by principal", func(t *testing.T) {
		p := begin2(t)
		p.ok("a")
		p.as("other")(func() { p.refused("any", rules.ReasonPrerequisiteMissing) })
	})
}

// SEMANTICS 4.13.1, 4.13.2
func TestMustPrecede(t *testing.T) {
	p := begin(t, runtime.Rules{}, tool("plan", runtime.Rules{MustPrecede: []string{"x", "y"}}), tool("x", runtime.Rules{}), tool("y", runtime.Rules{}))
	p.ok("plan")
	p.fails("x")
	p.runs("x", rules.StatusTimeout)
	id := p.admit("y")
	p.commit(id)
	p.ok("plan") // refused only once one of them succeeded
	p.finish(id, rules.StatusOK)
	require.Equal(t, []string{"y"}, p.refused("plan", rules.ReasonOrderViolation).Already)
	p.as("other")(func() { p.ok("plan") })
	p.rerun()
	p.ok("x") // it obliges nothing
	p.state(rules.RunRunning)
}

// SEMANTICS 4.14.1, 4.14.2, 4.14.3, 4.14.6, 4.14.7
func TestRequiredBeforeExit(t *testing.T) {
	exit := tool("exit", runtime.Rules{ExitLoop: true})
	prep := tool("prep", runtime.Rules{})
	save := tool("save", runtime.Rules{RequiredBeforeExit: true, RequiresPreceding: []string{"prep"}})
	tidy := tool("tidy", runtime.Rules{RequiredBeforeExit: true})
	work := tool("work", runtime.Rules{})
	t.Run("nothing open: finished", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, exit, work)
		p.fails("exit") // a failed exit tool does not exit
		p.runs("exit", rules.StatusTimeout)
		p.state(rules.RunRunning)
		p.ok("exit")
		p.state(rules.RunFinished)
		p.refused("work", rules.ReasonRunFinished)
	})
	t.Run("clean-up: only what is open and its prerequisites", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, exit, tidy, prep, save, work)
		p.ok("exit")
		p.state(rules.RunCleanup, "tidy", "save")
		require.Equal(t, []string{"tidy", "save"}, p.refused("work", rules.ReasonExiting).PendingExit)
		p.refused("exit", rules.ReasonExiting)
		p.ok("tidy")
		p.refused("tidy", rules.ReasonExiting) // not open any more
		p.refused("save", rules.ReasonPrerequisiteMissing)
		p.ok("prep")
		p.fails("save") // success is needed
		p.state(rules.RunCleanup, "save")
		p.ok("save")
		p.state(rules.RunFinished)
		p.refused("prep", rules.ReasonRunFinished)
	})
	t.Run("met before", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, exit, tidy)
		p.ok("tidy")
		p.ok("exit")
		p.state(rules.RunFinished)
	})
	t.Run("any principal meets it", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, exit, tidy)
		p.as("other")(func() { p.ok("tidy") })
		p.ok("exit")
		p.state(rules.RunFinished)
	})
	t.Run("a start tool that all wait for may still run", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, tool("init", runtime.Rules{StartConstraint: true, ExitLoop: true}), tool("log", runtime.Rules{StartConstraint: true}), tidy)
		p.ok("init")
		p.refused("init", rules.ReasonExiting)
		p.ok("log")
		p.refused("log", rules.ReasonExiting)
		p.ok("tidy")
		p.state(rules.RunFinished)
	})
}

// SEMANTICS 4.15.1, 4.15.2
func TestModelStops(t *testing.T) {
	tidy := tool("tidy", runtime.Rules{RequiredBeforeExit: true})
	t.Run("nothing open", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, tool("work", runtime.Rules{}))
		p.stop()
		p.state(rules.RunFinished)
		p.refused("work", rules.ReasonRunFinished)
	})
	t.Run("two reminders, then incomplete", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, tidy)
		for n := range 2 {
			p.stop()
			p.state(rules.RunRunning, "tidy")
			require.Equal(t, n+1, p.s.Status("r").Reminders)
		}
		p.stop()
		p.state(rules.RunIncomplete, "tidy")
		p.refused("tidy", rules.ReasonRunFinished)
		p.stop()
		p.state(rules.RunIncomplete, "tidy")
	})
	t.Run("as many as configured", func(t *testing.T) {
		for configured, given := range map[int]int{-1: 0, 0: 2, 1: 1, 3: 3} {
			p := beginWith(t, rules.Config{Reminders: configured, Tools: []rules.Tool{tidy}})
			for range given {
				p.stop()
				p.state(rules.RunRunning, "tidy")
			}
			p.stop()
			p.state(rules.RunIncomplete, "tidy")
		}
	})
	t.Run("a reminder helps", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, tidy)
		p.stop()
		p.ok("tidy")
		p.stop()
		p.state(rules.RunFinished)
	})
}

// SEMANTICS 4.15.3
func TestModelStopsLate(t *testing.T) {
	tidy := tool("tidy", runtime.Rules{RequiredBeforeExit: true})
	t.Run("while a request is pending the run waits and no reminder counts", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, tidy, tool("exit", runtime.Rules{ExitLoop: true}))
		exit := p.admit("exit")
		c := p.ask("tidy")
		for range 5 {
			p.stop()
			p.state(rules.RunWaiting, "tidy")
		}
		require.Zero(t, p.s.Status("r").Reminders)
		require.Equal(t, []string{c.ID}, p.s.Status("r").Waiting)
		p.commit(exit)
		p.finish(exit, rules.StatusOK)
		p.stop()
		p.state(rules.RunCleanup, "tidy") // clean-up goes before waiting
		require.Zero(t, p.s.Status("r").Reminders)
		v, _ := p.s.Resume(0, &c)
		require.True(t, v.Admitted())
		require.Equal(t, []string{c.ID}, p.s.Status("r").Running)
		p.commit(c.ID)
		p.finish(c.ID, rules.StatusOK)
		p.state(rules.RunFinished)
	})
	t.Run("in clean-up too", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, tidy, tool("exit", runtime.Rules{ExitLoop: true}))
		p.ok("exit")
		for range 3 {
			p.state(rules.RunCleanup, "tidy")
			p.stop()
		}
		p.state(rules.RunIncomplete, "tidy")
	})
}

// SEMANTICS 3.1.1, 4.16.1
func TestAllowedOperations(t *testing.T) {
	git := tool("git", runtime.Rules{AllowedOperations: &runtime.AllowedOperations{Arg: "op", Values: []string{"log", ""}}})
	p := begin(t, runtime.Rules{}, git, tool("work", runtime.Rules{}))
	require.Equal(t, "op", p.engine.Wants("git").Operation)
	require.Equal(t, []string{"log", ""}, p.refused("git", rules.ReasonOperationNotAllowed).Allowed)
	op := func(value string) func(c *rules.Call) {
		return func(c *rules.Call) { c.Operation, c.HasOperation = value, true }
	}
	p.with(op("push"))(func() { p.refused("git", rules.ReasonOperationNotAllowed); p.ok("work") })
	p.with(op("log"))(func() { p.ok("git") })
	p.with(op(""))(func() { p.ok("git") })
	p.stop()
	p.refused("git", rules.ReasonOperationNotAllowed) // before run_finished
}

// SEMANTICS 3.2.1, 3.2.2, 3.2.3
func TestOrderOfReasons(t *testing.T) {
	p := begin(t, runtime.Rules{MaxCalls: 3},
		tool("init", runtime.Rules{StartConstraint: true}), tool("late", runtime.Rules{StartConstraint: true}),
		tool("rival", runtime.Rules{StartConstraint: true, ExclusiveGroups: []string{"g"}}),
		undoable("b", runtime.Rules{
			StartConstraint: true, MustPrecede: []string{"init"}, ExclusiveGroups: []string{"h"}, MaxCalls: 1, Cooldown: time.Minute,
		}),
		rules.Tool{
			Name: "all", Dedupe: runtime.Dedupe{Mode: runtime.DedupeAlways}, Rules: runtime.Rules{
				RequiresPreceding: []string{"late"}, MustPrecede: []string{"init"}, ExclusiveGroups: []string{"g"}, Cooldown: time.Minute,
			},
		})
	p.ok("b")
	p.ok("init")
	p.ok("rival")
	p.refused("all", rules.ReasonStartConstraint, rules.ReasonPrerequisiteMissing, rules.ReasonOrderViolation, rules.ReasonExclusiveGroup, rules.ReasonMaxCalls)
	p.refused("b", rules.ReasonOrderViolation, rules.ReasonMaxCalls, rules.ReasonCooldown)
	p.refused("nothing", rules.ReasonUnknownTool)
	p.stop()
	p.refused("all", rules.ReasonRunFinished)
}

// SEMANTICS 4.15.3, 4.20.4
func TestRunWaits(t *testing.T) {
	p := begin(t, runtime.Rules{}, undoable("a", runtime.Rules{RequiredBeforeExit: true}), tool("exit", runtime.Rules{ExitLoop: true}))
	first, second := p.ask("a"), p.ask("a")
	p.state(rules.RunWaiting, "a")
	p.took(p.s.Release(0, first.ID))
	require.Equal(t, []string{second.ID}, p.s.Status("r").Waiting)
	v, _ := p.s.Resume(0, &second)
	require.True(t, v.Admitted())
	p.state(rules.RunRunning, "a")
	p.commit(second.ID)
	p.finish(second.ID, rules.StatusOK)
	require.Equal(t, rules.RunStatus{State: rules.RunRunning, PendingExit: []string{}}, p.s.Status("r"))
	p.undo(second.ID)
	p.ok("exit") // what was undone is open again
	p.state(rules.RunCleanup, "a")
}

func TestCloseRunForgetsWhatNeverStarted(t *testing.T) {
	p := begin(t, runtime.Rules{}, tool("a", runtime.Rules{}))
	id := p.admit("a")
	p.rerun()
	_, err := p.s.Commit(0, id)
	require.Error(t, err)
	require.Zero(t, p.s.Size())
}

// TestARecordedCallIsAdmitted: a replay makes a call again as it was recorded. No rule refuses it, and it counts for the others.
func TestARecordedCallIsAdmitted(t *testing.T) {
	p := begin(t, runtime.Rules{}, tool("mail", runtime.Rules{MaxCalls: 1}))
	p.ok("mail", 1)
	p.refused("mail", rules.ReasonMaxCalls)
	p.with(func(c *rules.Call) { c.Recorded = true })(func() { p.ok("mail", 2) })
	require.Equal(t, 2, p.used("mail"))
	p.with(func(c *rules.Call) { c.Recorded, c.Run = true, "another" })(func() { p.refused("mail", rules.ReasonRunFinished) })
}
