package rules_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// exits refuses a call of an exit tool, as a new one, and returns what refuses it and what would help.
func (p *play) exits(tool string) (rules.Violation, []runtime.Step) {
	p.Helper()
	c := p.call(tool)
	v := p.s.Check(p.now, &c)
	require.Equal(p, []rules.Reason{rules.ReasonPrerequisiteMissing}, v.Reasons())
	return v.Primary(), p.s.Unblock(p.now, &c).Steps
}

// TestExitWaits: an exit tool is refused while calls of its run wait for consent, whoever made them.
//
// SEMANTICS 4.14.9
func TestExitWaits(t *testing.T) {
	exit := tool("exit", runtime.Rules{ExitLoop: true})
	waits := func(id, tool string) runtime.Step { return runtime.Step{Kind: runtime.StepWait, Call: id, Tool: tool} }
	t.Run("until all are answered", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, tool("pay", runtime.Rules{}), exit)
		first := p.ask("pay")
		p.as("other")(func() { p.ask("pay") })
		p.with(func(c *rules.Call) { c.Agent = "child" })(func() { p.ask("pay") })
		p.with(func(c *rules.Call) { c.Run = "q" })(func() {
			p.took(p.s.StartRun(0, "q"))
			p.ask("pay") // of another run
		})
		v, steps := p.exits("exit")
		assert.Equal(t, []string{"c1", "c2", "c3"}, v.Waiting)
		assert.Nil(t, v.Missing)
		assert.Equal(t, []runtime.Step{waits("c1", "pay"), waits("c2", "pay"), waits("c3", "pay")}, steps)
		assert.Equal(t, "wait until c1 (pay) is answered", steps[0].String())

		answer, ev := p.s.Resume(0, &first)
		require.True(t, answer.Admitted())
		p.took(ev, nil)
		p.took(p.s.Release(0, "c2"))
		v, _ = p.exits("exit")
		assert.Equal(t, []string{"c3"}, v.Waiting, "what runs is not waited for")
		p.took(p.s.Release(0, "c3"))
		p.ok("exit")
		p.state(rules.RunFinished)
	})
	t.Run("but not for itself", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, tool("pay", runtime.Rules{}), exit)
		c := p.ask("exit")
		require.Equal(t, rules.Admitted, p.s.Recheck(0, &c).Answer)
		p.ask("pay")
		v := p.s.Recheck(0, &c)
		assert.Equal(t, []string{"c2"}, v.Primary().Waiting)
		v2, _ := p.exits("exit")
		assert.Equal(t, []string{"c1", "c2"}, v2.Waiting, "for an equal call it does")
	})
	t.Run("beside what is missing", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, tool("init", runtime.Rules{}), tool("pay", runtime.Rules{}), tool("exit", runtime.Rules{ExitLoop: true, RequiresPreceding: []string{"init"}}))
		p.ask("pay")
		v, steps := p.exits("exit")
		assert.Equal(t, []string{"init"}, v.Missing)
		assert.Equal(t, []string{"c1"}, v.Waiting)
		assert.ElementsMatch(t, []runtime.Step{{Kind: runtime.StepCall, Tool: "init"}, waits("c1", "pay")}, steps)
	})
	t.Run("and what is approved on the way is no wait", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, tool("pay", runtime.Rules{}), tool("exit", runtime.Rules{ExitLoop: true, RequiresPreceding: []string{"pay"}}))
		p.ask("pay")
		_, steps := p.exits("exit")
		assert.Equal(t, []runtime.Step{{Kind: runtime.StepApprove, Tool: "pay", Call: "c1"}}, steps)
	})
	t.Run("however many there are", func(t *testing.T) {
		p := begin(t, runtime.Rules{}, tool("pay", runtime.Rules{}), exit)
		for range 100 {
			p.ask("pay")
		}
		_, steps := p.exits("exit")
		assert.Len(t, steps, 100)
	})
}

// moot returns the calls that wait in vain, for the reason for which a call of pay is refused.
func (p *play) moot(run string) []string {
	p.Helper()
	ids, why := p.s.Moot(run)
	if ids != nil {
		assert.Equal(p, p.s.Barred(run, "", "agent", "pay"), why.Primary().Reason)
	}
	return ids
}

// TestMootCalls: the calls that wait for consent and that the phase of their run lets run no more.
//
// SEMANTICS 4.14.10
func TestMootCalls(t *testing.T) {
	p := begin(t, runtime.Rules{}, tool("pay", runtime.Rules{}), tool("init", runtime.Rules{}), tool("exit", runtime.Rules{ExitLoop: true}),
		tool("tidy", runtime.Rules{RequiredBeforeExit: true, RequiresPreceding: []string{"init"}}))
	exit := p.admit("exit")
	p.ask("pay")
	p.ask("init")
	p.ask("init")
	p.as("other")(func() { p.ask("init") })
	assert.Empty(t, p.moot("r"))
	p.commit(exit)
	p.finish(exit, rules.StatusOK)
	p.state(rules.RunCleanup, "tidy")
	assert.Equal(t, []string{"c2"}, p.moot("r"), "what is required, and what that needs, may be approved")
	p.ok("init")
	assert.Equal(t, []string{"c2", "c3", "c4"}, p.moot("r"), "the other principal still needs it")
	p.ok("tidy")
	p.state(rules.RunFinished)
	assert.Equal(t, []string{"c2", "c3", "c4", "c5"}, p.moot("r"))
	assert.Empty(t, p.moot("no such run"))
}

// TestHintOfAHeldExit: a refusal that only an answer lifts says wait.
//
// SEMANTICS 4.18.4
func TestHintOfAHeldExit(t *testing.T) {
	p := begin(t, runtime.Rules{}, tool("pay", runtime.Rules{}), tool("exit", runtime.Rules{ExitLoop: true}))
	p.ask("pay")
	assert.Equal(t, runtime.LoopWait, p.s.Hint("r", "exit", rules.ResultHeld, false))
	assert.Equal(t, runtime.LoopContinue, p.s.Hint("r", "exit", rules.ResultRefused, false))
	p.took(p.s.Release(0, "c1"))
	p.ok("exit")
	assert.Equal(t, runtime.LoopExit, p.s.Hint("r", "exit", rules.ResultHeld, false))
}
