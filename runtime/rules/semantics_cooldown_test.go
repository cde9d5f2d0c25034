package rules_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// TestCooldownOfTheSet holds the one timer that all tools of a set share.
// SEMANTICS 4.5.1, 4.7.5
func TestCooldownOfTheSet(t *testing.T) {
	set := runtime.Rules{Cooldown: 4 * time.Second}
	slow, fast := tool("slow", runtime.Rules{Cooldown: 10 * time.Second}), tool("fast", runtime.Rules{})
	cooling := func(d time.Duration, running bool) rules.Violation {
		return rules.Violation{Reason: rules.ReasonCooldown, RetryAfter: d, Running: running}
	}
	for _, status := range []rules.Status{rules.StatusOK, rules.StatusError, rules.StatusTimeout, rules.StatusUnknown} {
		t.Run("from the end of any invocation: "+status.String(), func(t *testing.T) {
			p := begin(t, set, slow, fast)
			p.runs("fast", status)
			require.Equal(t, cooling(4*time.Second, false), p.refused("slow", rules.ReasonCooldown))
			p.wait(4*time.Second - 1)
			require.Equal(t, cooling(1, false), p.refused("slow", rules.ReasonCooldown))
			p.wait(1)
			p.ok("slow")
		})
	}
	t.Run("a running call of another tool counts as cooling down", func(t *testing.T) {
		p := begin(t, set, slow, fast)
		id := p.admit("fast")
		require.Equal(t, cooling(4*time.Second, true), p.refused("slow", rules.ReasonCooldown))
		p.took(p.s.Release(0, id))
		p.ok("slow")
	})
	t.Run("the longer of its own and that of the set", func(t *testing.T) {
		p := begin(t, set, slow, fast)
		p.ok("slow")
		require.Equal(t, cooling(4*time.Second, false), p.refused("fast", rules.ReasonCooldown))
		require.Equal(t, cooling(10*time.Second, false), p.refused("slow", rules.ReasonCooldown))
		p.wait(4 * time.Second)
		id := p.admit("fast")
		require.Equal(t, cooling(6*time.Second, true), p.refused("slow", rules.ReasonCooldown))
		p.commit(id)
		p.finish(id, rules.StatusOK)
		p.wait(4 * time.Second)
		require.Equal(t, cooling(2*time.Second, false), p.refused("slow", rules.ReasonCooldown))
	})
}

// TestCooldownOfTheSetIsTaken holds when the timer is taken and given back, and for whom.
// SEMANTICS 4.7.5
func TestCooldownOfTheSetIsTaken(t *testing.T) {
	set := runtime.Rules{Cooldown: 4 * time.Second}
	slow, fast := tool("slow", runtime.Rules{Cooldown: 10 * time.Second}), tool("fast", runtime.Rules{})
	t.Run("calls that wait for consent do not take it", func(t *testing.T) {
		p := begin(t, set, slow, fast)
		first, second := p.ask("slow"), p.ask("fast")
		v, _ := p.s.Resume(0, &first)
		require.True(t, v.Admitted())
		v, _ = p.s.Resume(0, &second)
		require.Equal(t, []rules.Reason{rules.ReasonCooldown}, v.Reasons())
	})
	t.Run("a closed run gives back what had not started", func(t *testing.T) {
		p := begin(t, set, slow, fast)
		p.admit("fast")
		p.rerun()
		p.ok("slow")
	})
	t.Run("a call of a tool that is declared no more counts", func(t *testing.T) {
		p := begin(t, set, slow, fast)
		engine, err := rules.Compile(rules.Config{Set: set, Tools: []rules.Tool{fast}})
		require.NoError(t, err)
		c := p.call("slow")
		s, err := engine.Replay([]rules.Event{
			{Kind: rules.EventRunStarted, Run: "r"},
			{Kind: rules.EventAdmitted, Run: "r", Call: c.ID, Principal: "agent", Tool: "slow"},
			{Kind: rules.EventStarted, Call: c.ID},
			{Kind: rules.EventFinished, Call: c.ID, Status: rules.StatusOK},
		})
		require.NoError(t, err)
		p.s = s
		p.refused("fast", rules.ReasonCooldown)
	})
	t.Run("by principal, over runs", func(t *testing.T) {
		p := begin(t, set, slow, fast)
		p.ok("fast")
		p.rerun()
		p.refused("slow", rules.ReasonCooldown)
		p.as("other")(func() { p.ok("slow") })
	})
	t.Run("the way to a call waits after each call on it", func(t *testing.T) {
		p := begin(t, set, tool("init", runtime.Rules{StartConstraint: true}), fast, tool("last", runtime.Rules{RequiresPreceding: []string{"fast"}}))
		c := p.call("last")
		way := p.s.Unblock(0, &c)
		require.Equal(t, rules.OutlookOpen, way.Outlook)
		require.Equal(t, "[call init wait 4s call fast wait 4s]", fmt.Sprint(way.Steps))
		p.ok("init")
		p.wait(time.Second)
		require.Equal(t, "[wait 3s call fast wait 4s]", fmt.Sprint(p.s.Unblock(p.now, &c).Steps))
		p.wait(3 * time.Second)
		id := p.admit("fast")
		require.Equal(t, "[let "+id+" (fast) finish wait 4s]", fmt.Sprint(p.s.Unblock(p.now, &c).Steps))
	})
}
