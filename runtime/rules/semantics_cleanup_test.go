package rules_test

import (
	"testing"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// TestCleanUp holds what may run while a run is in clean-up.
// SEMANTICS 3.1.2, 4.14.3, 4.14.4, 4.14.6
func TestCleanUp(t *testing.T) {
	exit := tool("exit", runtime.Rules{ExitLoop: true})
	save := tool("save", runtime.Rules{RequiredBeforeExit: true, RequiresPreceding: []string{"prep"}})
	t.Run("prerequisites that are met stay where they are", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, exit, tool("deep", runtime.Rules{}), undoable("prep", runtime.Rules{RequiresPreceding: []string{"deep"}}), save)
		p.ok("deep")
		id := p.ok("prep")
		p.ok("exit")
		p.refused("prep", rules.ReasonExiting)
		p.refused("deep", rules.ReasonExiting)
		p.undo(id) // and is wanted again; what it needs is not
		p.refused("deep", rules.ReasonExiting)
		p.ok("prep")
		p.refused("prep", rules.ReasonExiting)
		p.ok("save")
		p.state(rules.RunFinished)
	})
	t.Run("of an any list, as long as none has succeeded", func(t *testing.T) {
		either := tool("save", runtime.Rules{RequiredBeforeExit: true, RequiresPreceding: []string{"x", "y"}, AnyPreceding: true})
		p := begin(t, runtime.Rules{}, exit, tool("x", runtime.Rules{}), tool("y", runtime.Rules{}), either)
		p.ok("exit")
		p.fails("x")
		p.ok("y")
		p.refused("x", rules.ReasonExiting)
		p.ok("save")
		p.state(rules.RunFinished)
	})
}

// TestCleanUpOfOthers holds what start tools and other principals mean to it.
// SEMANTICS 4.14.5, 4.14.7
func TestCleanUpOfOthers(t *testing.T) {
	exit := tool("exit", runtime.Rules{ExitLoop: true})
	prep, work := tool("prep", runtime.Rules{}), tool("work", runtime.Rules{})
	save := tool("save", runtime.Rules{RequiredBeforeExit: true, RequiresPreceding: []string{"prep"}})
	t.Run("a start tool while something that is pending waits for it", func(t *testing.T) {
		first, second := tool("first", runtime.Rules{StartConstraint: true}), tool("second", runtime.Rules{StartConstraint: true})
		early := tool("early", runtime.Rules{StartConstraint: true, ExitLoop: true})
		p := begin(t, runtime.Rules{}, early, first, second, tool("tidy", runtime.Rules{RequiredBeforeExit: true}))
		p.ok("first")
		p.ok("early")
		p.refused("first", rules.ReasonExiting) // has succeeded
		p.ok("second")
		p.ok("tidy")
		p.state(rules.RunFinished)

		required := tool("tidy", runtime.Rules{StartConstraint: true, RequiredBeforeExit: true})
		p = begin(t, runtime.Rules{}, early, first, required, work)
		p.ok("early")
		p.refused("first", rules.ReasonExiting) // no pending tool waits for it
		p.ok("tidy")
		p.state(rules.RunFinished)
	})
	t.Run("a run that has finished in it stays finished", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, exit, undoable("close", runtime.Rules{RequiredBeforeExit: true}))
		p.ok("exit")
		id := p.ok("close")
		p.undo(id)
		p.state(rules.RunFinished, "close")
		p.refused("close", rules.ReasonRunFinished)
	})
	t.Run("what another principal has done does not help", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, exit, prep, save)
		p.as("other")(func() { p.ok("prep") })
		p.ok("exit")
		p.as("other")(func() { p.refused("prep", rules.ReasonExiting) })
		p.ok("prep")
		p.ok("save")
		p.state(rules.RunFinished)
	})
}
