package rules_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// SEMANTICS 1.1.1, 1.2.2, 4.8.1, 4.8.2, 4.8.3, 4.8.5, 4.8.6, 4.8.9
func TestDedupe(t *testing.T) {
	mail := rules.Tool{Name: "mail", Dedupe: runtime.Dedupe{Mode: runtime.DedupeWindow, Window: time.Minute}, Undo: time.Hour}
	t.Run("off unless declared", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, tool("mail", runtime.Rules{}))
		p.ok("mail", 1)
		p.ok("mail", 1)
	})
	t.Run("key is tool, arguments and principal", func(t *testing.T) {
		post := mail
		post.Name = "post"
		p := begin(t, runtime.Rules{}, mail, post)
		id := p.ok("mail", 1)
		p.ok("post", 1)
		p.ok("mail", 2)
		p.as("other")(func() { p.ok("mail", 1) })
		p.with(func(c *rules.Call) { c.Agent = "child" })(func() { p.duplicate(id, "mail", 1) })
		p.rerun()
		p.duplicate(id, "mail", 1)
	})
	t.Run("window from the end", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, mail)
		id := p.admit("mail", 1)
		p.commit(id)
		p.wait(time.Hour)
		p.duplicate(id, "mail", 1) // a running equal call counts
		p.finish(id, rules.StatusOK)
		p.wait(time.Minute - 1)
		p.duplicate(id, "mail", 1)
		p.wait(1)
		p.ok("mail", 1)
	})
	t.Run("always", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, rules.Tool{Name: "mail", Dedupe: runtime.Dedupe{Mode: runtime.DedupeAlways}})
		id := p.ok("mail", 1)
		p.wait(1e6 * time.Hour)
		p.s.Prune(p.now)
		p.duplicate(id, "mail", 1)
	})
}

// SEMANTICS 4.8.7, 4.8.8
func TestDedupeByOutcome(t *testing.T) {
	mail := rules.Tool{Name: "mail", Dedupe: runtime.Dedupe{Mode: runtime.DedupeWindow, Window: time.Minute}, Undo: time.Hour}
	t.Run("errors are forgotten", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, mail)
		p.fails("mail", 1)
		p.ok("mail", 1)
	})
	t.Run("calls that never started are forgotten", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, mail)
		p.took(p.s.Release(0, p.admit("mail", 1)))
		p.admit("mail", 1)
		p.rerun()
		p.ok("mail", 1)
	})
	t.Run("timeouts are remembered unless the tool is idempotent", func(t *testing.T) {
		again := mail
		again.Name, again.Idempotent = "again", true
		p := begin(t, runtime.Rules{}, mail, again)
		id := p.runs("mail", rules.StatusTimeout, 1)
		p.duplicate(id, "mail", 1)
		p.runs("again", rules.StatusTimeout, 1)
		id = p.ok("again", 1)
		p.duplicate(id, "again", 1)
	})
	t.Run("unknown calls are remembered until they are known to have failed", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, mail)
		id := p.runs("mail", rules.StatusUnknown, 1)
		p.duplicate(id, "mail", 1)
		p.finish(id, rules.StatusError)
		p.ok("mail", 1)
	})
	t.Run("an undone call has no duplicates", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, mail)
		p.undo(p.ok("mail", 1))
		p.ok("mail", 1)
	})
}

// SEMANTICS 4.9.2, 4.9.4, 4.9.5, 4.9.6
func TestIdempotencyKey(t *testing.T) {
	pay := rules.Tool{Name: "pay", Idempotency: &rules.Idempotency{Window: time.Minute}}
	t.Run("same key and arguments", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, pay)
		id := p.admit("pay", 1, 9)
		p.duplicate(id, "pay", 1, 9)
		p.commit(id)
		p.finish(id, rules.StatusOK)
		p.wait(time.Minute - 1)
		p.duplicate(id, "pay", 1, 9)
		p.wait(1)
		p.ok("pay", 1, 9)
	})
	t.Run("same key, other arguments", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, pay)
		id := p.ok("pay", 1, 9)
		c := p.call("pay", 2, 9)
		v, _ := p.s.Admit(0, &c)
		want := rules.Verdict{Of: id, Violations: []rules.Violation{{Reason: rules.ReasonIdempotencyConflict}}}
		require.Equal(t, want, v)
		p.ok("pay", 2, 8)
		p.as("other")(func() { p.ok("pay", 2, 9) })
	})
	t.Run("a failed call releases the key", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, pay)
		p.fails("pay", 1, 9)
		p.ok("pay", 2, 9)
	})
	t.Run("a call that never starts releases it, and so does an undo", func(t *testing.T) {
		undone := pay
		undone.Undo = time.Hour
		p := begin(t, runtime.Rules{}, undone)
		p.took(p.s.Release(0, p.admit("pay", 1, 9)))
		p.undo(p.ok("pay", 2, 9))
		p.ok("pay", 3, 9)
	})
	t.Run("an unknown one keeps it", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, pay)
		id := p.runs("pay", rules.StatusUnknown, 1, 9)
		p.duplicate(id, "pay", 1, 9)
		id = p.runs("pay", rules.StatusTimeout, 1, 8)
		p.duplicate(id, "pay", 1, 8)
	})
}

// SEMANTICS 1.1.2, 1.2.1, 4.1.2, 4.1.3, 4.10.1, 4.10.2, 4.10.3, 4.10.4, 4.10.5, 4.10.6, 4.10.7, 4.20.4
func TestExclusiveGroup(t *testing.T) {
	a, b := undoable("a", runtime.Rules{ExclusiveGroups: []string{"g"}}), tool("b", runtime.Rules{ExclusiveGroups: []string{"h", "g"}})
	c := tool("c", runtime.Rules{ExclusiveGroups: []string{"h"}})
	t.Run("claimed at admission", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, a, b)
		p.admit("a")
		v := p.refused("b", rules.ReasonExclusiveGroup)
		require.Equal(t, rules.Violation{Reason: rules.ReasonExclusiveGroup, Group: "g", HeldBy: "a"}, v)
	})
	t.Run("released if never invoked", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, a, b)
		id := p.admit("a")
		p.took(p.s.Release(0, p.admit("a")))
		p.refused("b", rules.ReasonExclusiveGroup)
		p.took(p.s.Release(0, id))
		p.ok("b")
	})
	t.Run("kept on failure", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, a, b)
		p.fails("a")
		p.refused("b", rules.ReasonExclusiveGroup)
	})
	t.Run("freed by an undo of all that holds it", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, a, b)
		first, second := p.ok("a"), p.runs("a", rules.StatusTimeout)
		p.undo(first)
		p.refused("b", rules.ReasonExclusiveGroup)
		p.undo(second)
		p.ok("b")
	})
	t.Run("freed by the end of the run, and by principal", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, a, b)
		p.ok("a")
		p.as("other")(func() { p.ok("b") })
		p.rerun()
		p.ok("b")
	})
	t.Run("all groups of a tool or none", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, a, b, c)
		p.ok("a")
		p.refused("b", rules.ReasonExclusiveGroup)
		p.ok("c") // b has not claimed h
		id := p.call("b")
		v := p.s.Check(0, &id)
		require.Equal(t, []rules.Violation{
			{Reason: rules.ReasonExclusiveGroup, Group: "h", HeldBy: "c"},
			{Reason: rules.ReasonExclusiveGroup, Group: "g", HeldBy: "a"},
		}, v.Violations)
		p.rerun()
		p.ok("b") // it claims both
		require.Equal(t, "g", p.refused("a", rules.ReasonExclusiveGroup).Group)
		require.Equal(t, "h", p.refused("c", rules.ReasonExclusiveGroup).Group)
	})
	t.Run("the same tool may repeat", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, a, b)
		p.ok("b")
		p.ok("b")
	})
}

// SEMANTICS 4.1.4, 4.10.4, 4.11.1, 4.20.4, 4.20.5, 4.20.6, 4.20.8
func TestUndo(t *testing.T) {
	start := undoable("init", runtime.Rules{StartConstraint: true})
	a := undoable("a", runtime.Rules{MaxCalls: 1, Cooldown: time.Second, RequiredBeforeExit: true})
	b := tool("b", runtime.Rules{RequiresPreceding: []string{"a"}})
	c := tool("c", runtime.Rules{MustPrecede: []string{"a"}})
	t.Run("un-satisfies what the call opened", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, start, a, b, c)
		init, id := p.ok("init"), p.ok("a")
		p.state(rules.RunRunning)
		p.refused("c", rules.ReasonOrderViolation)
		p.undo(id)
		p.state(rules.RunRunning, "a")
		p.refused("b", rules.ReasonPrerequisiteMissing)
		p.ok("c")
		p.undo(init)
		p.refused("c", rules.ReasonStartConstraint)
	})
	t.Run("gives back neither slot nor cooldown", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, a)
		p.undo(p.ok("a"))
		p.refused("a", rules.ReasonMaxCalls, rules.ReasonCooldown)
	})
	t.Run("a fact holds while any success remains", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, undoable("a", runtime.Rules{StartConstraint: true, RequiredBeforeExit: true}), b)
		id := p.ok("a")
		p.ok("a")
		p.undo(id)
		p.ok("b")
		p.state(rules.RunRunning)
	})
	t.Run("once, of a call that may have had an effect", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, a, undoable("d", runtime.Rules{}))
		id := p.ok("d")
		p.undo(id)
		for _, id := range []string{id, p.fails("d"), p.admit("d"), "none"} {
			_, err := p.s.Undo(0, id)
			require.Error(t, err, id)
		}
		p.undo(p.runs("d", rules.StatusTimeout))
		p.undo(p.runs("d", rules.StatusUnknown))
	})
}

func TestUndoAndRuns(t *testing.T) {
	a := undoable("a", runtime.Rules{Cooldown: time.Second, RequiredBeforeExit: true})
	b := tool("b", runtime.Rules{RequiresPreceding: []string{"a"}})
	t.Run("of a closed run takes nothing from the next", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, a, b)
		id := p.ok("a")
		p.rerun()
		p.wait(time.Second)
		p.ok("a")
		p.undo(id)
		p.ok("b")
	})
	t.Run("of an exit tool ends the clean-up, but never revives a run", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, undoable("exit", runtime.Rules{ExitLoop: true}), a)
		id := p.ok("exit")
		p.state(rules.RunCleanup, "a")
		p.undo(id)
		p.state(rules.RunRunning, "a")
		id = p.ok("a")
		p.ok("exit")
		p.undo(id)
		p.state(rules.RunFinished, "a")
	})
}
