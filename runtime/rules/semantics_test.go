package rules_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// The tests of this file are named after the rules whose counts and times they
// hold; those of semantics_order_test.go after the rules of order and of runs.

// SEMANTICS 4.1.2, 4.1.3, 4.2.1, 4.2.2, 4.2.3, 4.2.4
func TestMaxCalls(t *testing.T) {
	limited := tool("api", runtime.Rules{MaxCalls: 2})
	t.Run("n invocations, n+1 refused", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, limited)
		p.ok("api")
		p.ok("api")
		v := p.refused("api", rules.ReasonMaxCalls)
		require.Equal(t, rules.Violation{Reason: rules.ReasonMaxCalls, Max: 2, Used: 2}, v)
	})
	t.Run("slot reserved at admission", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, limited)
		p.admit("api")
		p.admit("api")
		require.Equal(t, 2, p.used("api"))
		p.refused("api", rules.ReasonMaxCalls)
	})
	t.Run("failures and timeouts count", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, limited)
		p.fails("api")
		p.runs("api", rules.StatusTimeout)
		p.refused("api", rules.ReasonMaxCalls)
	})
	t.Run("released when it never starts", func(t *testing.T) {
		p := begin(t, runtime.Rules{MaxCalls: 2}, limited)
		p.admit("api")
		p.took(p.s.Release(0, p.admit("api")))
		require.Equal(t, 1, p.used("api"))
		p.admit("api")
	})
	t.Run("a call that was not let go is released, one that has ended is not", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, limited)
		id := p.admit("api")
		p.commit(id)
		p.took(p.s.Release(0, id))
		require.Equal(t, 0, p.used("api"))
		id = p.admit("api")
		p.commit(id)
		p.took(p.s.Finish(0, id, rules.StatusError))
		_, err := p.s.Release(0, id)
		require.Error(t, err)
		require.Equal(t, 1, p.used("api"))
	})
}

// SEMANTICS 1.1.2, 1.2.1, 3.2.3, 4.2.5, 4.2.6, 4.5.1
func TestMaxCallsScope(t *testing.T) {
	t.Run("* is one counter shared by all tools", func(t *testing.T) {
		p := begin(t, runtime.Rules{MaxCalls: 2}, tool("a", runtime.Rules{}), tool("b", runtime.Rules{}))
		p.ok("a")
		p.fails("b")
		v := p.refused("a", rules.ReasonMaxCalls)
		require.Equal(t, rules.Violation{Reason: rules.ReasonMaxCalls, Max: 2, Used: 2, Shared: true}, v)
	})
	t.Run("each makes it per tool", func(t *testing.T) {
		p := begin(t, runtime.Rules{MaxCalls: 2, MaxCallsEach: true}, tool("a", runtime.Rules{MaxCalls: 1}), tool("b", runtime.Rules{MaxCalls: 3}))
		p.ok("a")
		p.ok("b")
		p.ok("b")
		require.Equal(t, 1, p.refused("a", rules.ReasonMaxCalls).Max)
		require.Equal(t, 2, p.refused("b", rules.ReasonMaxCalls).Max)
	})
	t.Run("own limit and shared limit are one reason", func(t *testing.T) {
		p := begin(t, runtime.Rules{MaxCalls: 1}, tool("a", runtime.Rules{MaxCalls: 1}))
		p.ok("a")
		require.False(t, p.refused("a", rules.ReasonMaxCalls).Shared)
	})
	t.Run("counted by run and principal", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, tool("a", runtime.Rules{MaxCalls: 1}))
		p.ok("a")
		p.as("other")(func() { p.ok("a") })
		p.refused("a", rules.ReasonMaxCalls)
		p.rerun()
		p.ok("a")
	})
	t.Run("refused and duplicate calls use up nothing", func(t *testing.T) {
		a := tool("a", runtime.Rules{MaxCalls: 2, RequiresPreceding: []string{"b"}, ExclusiveGroups: []string{"g"}, Cooldown: time.Second})
		a.Dedupe = runtime.Dedupe{Mode: runtime.DedupeAlways}
		p := begin(t, runtime.Rules{}, a, tool("b", runtime.Rules{ExclusiveGroups: []string{"h"}}), tool("c", runtime.Rules{ExclusiveGroups: []string{"g"}}))
		before := p.s.Version()
		p.refused("a", rules.ReasonPrerequisiteMissing)
		require.Equal(t, before, p.s.Version())
		p.ok("b")
		p.took(p.s.Release(0, p.admit("c")))
		of := p.ok("a", 1)
		p.wait(time.Second)
		p.duplicate(of, "a", 1)
		require.Equal(t, 1, p.used("a"))
	})
}

// SEMANTICS 1.2.3, 4.21.3, 4.21.4
func TestAgentsShareTheBudget(t *testing.T) {
	child := func(c *rules.Call) { c.Agent = "child" }
	p := begin(t, runtime.Rules{MaxCalls: 4}, tool("a", runtime.Rules{MaxCalls: 1}),
		tool("b", runtime.Rules{RequiresPreceding: []string{"a"}, ExclusiveGroups: []string{"g"}}), tool("c", runtime.Rules{ExclusiveGroups: []string{"g"}}))
	p.ok("a")
	p.with(child)(func() {
		require.Zero(t, p.used("a"))
		p.ok("b") // what its principal achieved holds for it
		p.ok("a") // own counters
		p.refused("a", rules.ReasonMaxCalls)
	})
	p.refused("c", rules.ReasonExclusiveGroup)
	p.ok("b")
	p.with(child)(func() { require.True(t, p.refused("b", rules.ReasonMaxCalls).Shared) }) // the budget of its principal in the run
}

// SEMANTICS 1.2.3
func TestPrincipalsHaveTheirOwnBudget(t *testing.T) {
	other := func(c *rules.Call) { c.Principal = "other" }
	p := begin(t, runtime.Rules{MaxCalls: 2}, tool("a", runtime.Rules{}), tool("b", runtime.Rules{}))
	p.ok("a")
	p.ok("b")
	require.True(t, p.refused("a", rules.ReasonMaxCalls).Shared)
	p.with(other)(func() { p.ok("a") }) // counts are kept by run and principal
}

// SEMANTICS 4.6.1, 4.6.2, 4.6.3
func TestPendingCalls(t *testing.T) {
	a := tool("a", runtime.Rules{MaxCalls: 1, ExclusiveGroups: []string{"g"}})
	t.Run("hold slot and group", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, a, tool("b", runtime.Rules{ExclusiveGroups: []string{"g"}}))
		c := p.ask("a")
		p.refused("a", rules.ReasonMaxCalls)
		require.Equal(t, "a", p.refused("b", rules.ReasonExclusiveGroup).HeldBy)
		p.took(p.s.Release(0, c.ID))
		p.ok("b")
	})
	t.Run("hold a slot that all tools share", func(t *testing.T) {
		p := begin(t, runtime.Rules{MaxCalls: 1}, a, tool("b", runtime.Rules{}))
		c := p.ask("a")
		p.refused("b", rules.ReasonMaxCalls)
		p.took(p.s.Release(0, c.ID))
		p.ok("b")
	})
	t.Run("count for dedupe", func(t *testing.T) {
		d := rules.Tool{Name: "d", Dedupe: runtime.Dedupe{Mode: runtime.DedupeWindow, Window: time.Second}}
		p := begin(t, runtime.Rules{}, d)
		c := p.ask("d", 1)
		p.wait(time.Hour)
		p.pending(c.ID, "d", 1)
		p.took(p.s.Release(p.now, c.ID))
		p.ok("d", 1)
	})
	t.Run("cooldown is taken when the handler is about to start", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, tool("a", runtime.Rules{Cooldown: time.Second}))
		c, d := p.ask("a"), p.ask("a")
		v, _ := p.s.Resume(0, &c)
		require.True(t, v.Admitted())
		v, _ = p.s.Resume(0, &d)
		require.Equal(t, []rules.Reason{rules.ReasonCooldown}, v.Reasons())
		p.took(p.s.Release(0, d.ID))
		p.commit(c.ID)
	})
}

// TestDuplicateOfAnEditUsesUpNothing: a call that waits is a duplicate once an approver has edited it into an
// earlier one.
// SEMANTICS 4.5.1
func TestDuplicateOfAnEditUsesUpNothing(t *testing.T) {
	p := begin(t, runtime.Rules{}, rules.Tool{Name: "d", Dedupe: runtime.Dedupe{Mode: runtime.DedupeAlways}})
	earlier := p.ok("d", 1)
	c := p.ask("d", 2)
	c.Args = p.call("d", 1).Args
	v, _ := p.s.Resume(p.now, &c)
	require.Equal(t, rules.Verdict{Answer: rules.Duplicate, Of: earlier}, v)
	_, err := p.s.Commit(p.now, c.ID)
	require.Error(t, err, "it was not admitted")
	p.took(p.s.Release(p.now, c.ID))
	require.Equal(t, 1, p.used("d"))
}

// SEMANTICS 3.3.2, 3.3.3
func TestPendingCallsAreJudgedAgain(t *testing.T) {
	a := tool("a", runtime.Rules{MaxCalls: 1, ExclusiveGroups: []string{"g"}})
	t.Run("own reservation is left out afterwards", func(t *testing.T) {
		a := a
		a.Dedupe, a.Idempotency = runtime.Dedupe{Mode: runtime.DedupeAlways}, &rules.Idempotency{Window: time.Second}
		p := begin(t, runtime.Rules{MaxCalls: 1}, a)
		c := p.ask("a")
		require.Equal(t, rules.Verdict{Answer: rules.Admitted}, p.s.Recheck(0, &c))
		v, _ := p.s.Resume(0, &c)
		require.True(t, v.Admitted())
		require.Equal(t, 1, p.used("a"))
	})
	t.Run("everything is checked again", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, tool("a", runtime.Rules{MustPrecede: []string{"b"}}), tool("b", runtime.Rules{ExitLoop: true}))
		exit := p.admit("b")
		c := p.ask("a")
		p.commit(exit)
		p.finish(exit, rules.StatusOK)
		v, _ := p.s.Resume(0, &c)
		require.Equal(t, []rules.Reason{rules.ReasonRunFinished}, v.Reasons())
		require.Equal(t, 1, p.used("a"), "refused, but not released yet")
	})
	t.Run("the rules too", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, tool("a", runtime.Rules{MustPrecede: []string{"b"}}), tool("b", runtime.Rules{}))
		c := p.ask("a")
		p.ok("b")
		v, _ := p.s.Resume(0, &c)
		require.Equal(t, []rules.Reason{rules.ReasonOrderViolation}, v.Reasons())
	})
	t.Run("edited arguments count for dedupe", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, rules.Tool{Name: "d", Dedupe: runtime.Dedupe{Mode: runtime.DedupeAlways}})
		first := p.ok("d", 1)
		c := p.ask("d", 2)
		c.Args = digest(1)
		v, _ := p.s.Rebind(0, &c)
		require.Equal(t, rules.Verdict{Answer: rules.Duplicate, Of: first}, v)
		c.Args = digest(3)
		v, _ = p.s.Rebind(0, &c)
		require.True(t, v.Admitted())
		p.pending(c.ID, "d", 3)
		p.ok("d", 2)
	})
	t.Run("closing the run ends them", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, a)
		c := p.ask("a")
		dropped, _, err := p.s.CloseRun(0, "r")
		require.NoError(t, err)
		require.Equal(t, []string{c.ID}, dropped)
		v, _ := p.s.Resume(0, &c)
		require.Equal(t, []rules.Reason{rules.ReasonRunFinished}, v.Reasons())
		p.refused("a", rules.ReasonRunFinished)
	})
}

// SEMANTICS 1.1.1, 1.2.2, 4.7.1, 4.7.2, 4.7.3, 4.7.4, 4.7.6
func TestCooldown(t *testing.T) {
	slow := tool("slow", runtime.Rules{Cooldown: 10 * time.Second})
	t.Run("from the end, free at exactly end + d", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, slow)
		id := p.admit("slow")
		p.commit(id)
		p.wait(5 * time.Second)
		p.finish(id, rules.StatusOK)
		p.wait(10*time.Second - 1)
		require.Equal(t, rules.Violation{Reason: rules.ReasonCooldown, RetryAfter: 1}, p.refused("slow", rules.ReasonCooldown))
		p.wait(1)
		p.ok("slow")
	})
	for _, status := range []rules.Status{rules.StatusError, rules.StatusTimeout, rules.StatusUnknown} {
		t.Run("whatever its status: "+status.String(), func(t *testing.T) {
			p := begin(t, runtime.Rules{}, slow)
			p.runs("slow", status)
			p.refused("slow", rules.ReasonCooldown)
		})
	}
	t.Run("a running invocation counts as cooling down", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, slow)
		id := p.admit("slow")
		want := rules.Violation{Reason: rules.ReasonCooldown, RetryAfter: 10 * time.Second, Running: true}
		require.Equal(t, want, p.refused("slow", rules.ReasonCooldown))
		p.commit(id)
		p.wait(time.Hour)
		require.Equal(t, want, p.refused("slow", rules.ReasonCooldown))
	})
	t.Run("released when it never starts", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, slow)
		p.took(p.s.Release(0, p.admit("slow")))
		p.ok("slow")
	})
	t.Run("by session and principal, over runs", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, slow)
		id := p.admit("slow")
		p.commit(id)
		p.rerun()
		p.finish(id, rules.StatusOK)
		p.refused("slow", rules.ReasonCooldown)
		p.as("other")(func() { p.ok("slow") })
	})
	t.Run("a reservation of a closed run is given back", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, slow)
		p.admit("slow")
		p.rerun()
		p.ok("slow")
	})
	t.Run("of the set, for each tool by itself; the longer one holds", func(t *testing.T) {
		p := begin(t, runtime.Rules{Cooldown: time.Second, CooldownEach: true}, slow, tool("fast", runtime.Rules{}))
		p.ok("slow")
		p.ok("fast")
		p.wait(time.Second)
		p.ok("fast")
		p.refused("slow", rules.ReasonCooldown)
	})
}
