package rules_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// play makes the tests of single rules short: it calls tools as the principal
// "agent" in the run "r", with arguments that differ from call to call.
type play struct {
	*testing.T
	engine *rules.Engine
	s      *rules.State
	now    rules.Instant
	n      int
	like   rules.Call // what calls have in common
	events []rules.Event
}

// begin starts a run of a session over tools.
func begin(t *testing.T, set runtime.Rules, tools ...rules.Tool) *play {
	return beginWith(t, rules.Config{Set: set, Tools: tools})
}

func beginWith(t *testing.T, cfg rules.Config) *play {
	engine, err := rules.Compile(cfg)
	require.NoError(t, err)
	p := &play{T: t, engine: engine, s: engine.NewState(), like: rules.Call{Run: "r", Principal: "agent"}}
	p.took(p.s.StartRun(0, "r"))
	return p
}

// with returns p for calls that differ from those of p.
func (p *play) with(change func(c *rules.Call)) func(f func()) {
	return func(f func()) {
		was := p.like
		change(&p.like)
		f()
		p.like = was
	}
}

func (p *play) as(principal string) func(f func()) {
	return p.with(func(c *rules.Call) { c.Principal = principal })
}

func (p *play) took(ev rules.Event, err error) {
	p.Helper()
	require.NoError(p, err)
	p.events = append(p.events, ev)
}

func (p *play) wait(d time.Duration) { p.now = p.now.Add(d) }

// call returns the next call of a tool. Equal numbers are equal arguments.
func (p *play) call(tool string, args ...int) rules.Call {
	p.n++
	c := p.like
	c.ID, c.Tool = "c"+strconv.Itoa(p.n), tool
	if c.Args = digest(100 + p.n); len(args) > 0 {
		c.Args = digest(args[0])
	}
	if c.Key = c.Args; len(args) > 1 {
		c.Key = digest(args[1])
	}
	return c
}

// admit admits a call and returns its id.
func (p *play) admit(tool string, args ...int) string {
	p.Helper()
	c := p.call(tool, args...)
	v, ev := p.s.Admit(p.now, &c)
	require.True(p, v.Admitted(), "%s %+v", c.ID, v)
	p.took(ev, nil)
	return c.ID
}

// ask leaves a call waiting for consent and returns it.
func (p *play) ask(tool string, args ...int) rules.Call {
	p.Helper()
	c := p.call(tool, args...)
	v, ev := p.s.Ask(p.now, &c)
	require.True(p, v.Admitted(), "%s %+v", c.ID, v)
	p.took(ev, nil)
	return c
}

func (p *play) commit(id string) { p.Helper(); p.took(p.s.Commit(p.now, id)) }

func (p *play) finish(id string, status rules.Status) {
	p.Helper()
	p.took(p.s.Finish(p.now, id, status))
}

// runs takes a call to its end and returns its id.
func (p *play) runs(tool string, status rules.Status, args ...int) string {
	p.Helper()
	id := p.admit(tool, args...)
	p.commit(id)
	p.finish(id, status)
	return id
}

func (p *play) ok(tool string, args ...int) string {
	p.Helper()
	return p.runs(tool, rules.StatusOK, args...)
}

func (p *play) fails(tool string, args ...int) string {
	p.Helper()
	return p.runs(tool, rules.StatusError, args...)
}

// refused wants a call to be refused for these reasons, and returns the first.
func (p *play) refused(tool string, reasons ...rules.Reason) rules.Violation {
	p.Helper()
	c := p.call(tool)
	v, _ := p.s.Admit(p.now, &c)
	require.Equal(p, rules.Refused, v.Answer)
	require.Equal(p, reasons, v.Reasons())
	return v.Primary()
}

// duplicate wants a call to be answered with an earlier one.
func (p *play) duplicate(of, tool string, args ...int) {
	p.Helper()
	c := p.call(tool, args...)
	v, _ := p.s.Admit(p.now, &c)
	require.Equal(p, rules.Verdict{Answer: rules.Duplicate, Of: of}, v)
}

// pending wants a call to be refused because an equal one waits for consent.
func (p *play) pending(of, tool string, args ...int) {
	p.Helper()
	c := p.call(tool, args...)
	v, _ := p.s.Admit(p.now, &c)
	require.Equal(p, rules.Verdict{Of: of, Violations: []rules.Violation{{Reason: rules.ReasonDuplicatePending, Waiting: []string{of}}}}, v)
}

func (p *play) used(tool string) int {
	return p.s.Facts("r", p.like.Agent, p.like.Principal, tool).Used
}

func (p *play) undo(id string) { p.Helper(); p.took(p.s.Undo(p.now, id)) }

// state wants the run to stand somewhere, with required tools open.
func (p *play) state(want rules.RunState, open ...string) {
	p.Helper()
	st := p.s.Status("r")
	require.Equal(p, want, st.State)
	require.Equal(p, append([]string{}, open...), st.PendingExit)
	require.Equal(p, want, p.s.RunState("r"))
}

func (p *play) stop() { p.Helper(); p.took(p.s.Stop(p.now, "r")) }

// rerun closes the run and begins another under the same name.
func (p *play) rerun() {
	p.Helper()
	_, ev, err := p.s.CloseRun(p.now, "r")
	p.took(ev, err)
	p.took(p.s.StartRun(p.now, "r"))
}

func tool(name string, r runtime.Rules) rules.Tool { return rules.Tool{Name: name, Rules: r} }

// undoable is a tool whose calls can be undone.
func undoable(name string, r runtime.Rules) rules.Tool {
	return rules.Tool{Name: name, Rules: r, Undo: time.Hour}
}
