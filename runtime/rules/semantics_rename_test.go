package rules_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// become goes on under another configuration, with what the events make of a new state, or with a
// snapshot that is restored.
func (p *play) become(restored bool, tools ...rules.Tool) {
	p.Helper()
	was := p.engine
	engine, err := rules.Compile(rules.Config{Tools: tools})
	require.NoError(p, err)
	p.engine = engine
	if !restored {
		p.s, err = engine.Replay(p.events)
		require.NoError(p, err)
		return
	}
	k := kept{state: was.NewState()}
	for i := range p.events {
		k.apply(p.T, &p.events[i])
	}
	p.s, err = engine.Restore(k.snapshot(p.T), slices.Values(k.past))
	require.NoError(p, err)
}

// TestRenamedTools: what a tool did under an earlier name is held against it, and for it, under the present one,
// whichever of them a call names.
//
// SEMANTICS 1.5.3
func TestRenamedTools(t *testing.T) {
	other := tool("other", runtime.Rules{})
	for name, c := range map[string]struct {
		was   rules.Tool // send
		also  rules.Tool // the other one
		do    func(p *play)
		after func(p *play, name string) // name names the tool now
	}{
		"count": {
			was: tool("send", runtime.Rules{MaxCalls: 2}), also: other,
			do: func(p *play) { p.ok("send") },
			after: func(p *play, name string) {
				assert.Equal(p, rules.ToolFacts{Used: 1, Successes: 1}, p.s.Facts("r", "", "agent", name))
				p.ok(name)
				assert.Equal(p, 2, p.refused(name, rules.ReasonMaxCalls).Used)
			},
		},
		"count of a call that waits": {
			was: tool("send", runtime.Rules{MaxCalls: 1}), also: other,
			do: func(p *play) { p.ask("send") },
			after: func(p *play, name string) {
				p.refused(name, rules.ReasonMaxCalls)
				p.took(p.s.Release(p.now, "c1"))
				p.ok(name)
			},
		},
		"call that waits": {
			was: tool("send", runtime.Rules{MaxCalls: 1, ExclusiveGroups: []string{"g"}}), also: tool("other", runtime.Rules{ExclusiveGroups: []string{"g"}}),
			do: func(p *play) { p.ask("send") },
			after: func(p *play, name string) {
				c := p.like
				c.ID, c.Tool = "c1", name
				v, ev := p.s.Resume(p.now, &c)
				require.True(p, v.Admitted(), "%+v", v)
				p.took(ev, nil)
				p.commit("c1")
				p.finish("c1", rules.StatusOK)
			},
		},
		"cooldown": {
			was: tool("send", runtime.Rules{Cooldown: 10}), also: other,
			do: func(p *play) { p.ok("send"); p.wait(4) },
			after: func(p *play, name string) {
				assert.Equal(p, time.Duration(6), p.refused(name, rules.ReasonCooldown).RetryAfter)
				p.wait(6)
				p.ok(name)
			},
		},
		"cooldown of a running call": {
			was: tool("send", runtime.Rules{Cooldown: 10}), also: other,
			do: func(p *play) { p.commit(p.admit("send")) },
			after: func(p *play, name string) {
				assert.True(p, p.refused(name, rules.ReasonCooldown).Running)
				p.finish("c1", rules.StatusError)
				p.wait(9)
				p.refused(name, rules.ReasonCooldown)
			},
		},
		"dedupe": {
			was: rules.Tool{Name: "send", Dedupe: runtime.Dedupe{Mode: runtime.DedupeWindow, Window: 10}}, also: other,
			do: func(p *play) { p.ok("send", 7); p.wait(4) },
			after: func(p *play, name string) {
				p.duplicate("c1", name, 7)
				p.wait(6)
				p.ok(name, 7)
			},
		},
		"dedupe of the session": {
			was: rules.Tool{Name: "send", Dedupe: runtime.Dedupe{Mode: runtime.DedupeAlways}}, also: other,
			do:    func(p *play) { p.ok("send", 7); p.rerun() },
			after: func(p *play, name string) { p.duplicate("c1", name, 7) },
		},
		"idempotency key": {
			was: rules.Tool{Name: "send", Idempotency: &rules.Idempotency{Window: 10}}, also: other,
			do: func(p *play) { p.ok("send", 7, 8); p.wait(4) },
			after: func(p *play, name string) {
				p.duplicate("c1", name, 7, 8)
				c := p.call(name, 6, 8)
				assert.Equal(p, rules.ReasonIdempotencyConflict, p.s.Check(p.now, &c).Primary().Reason)
				way := p.s.Unblock(p.now, &c)
				assert.Equal(p, []runtime.Step{{Kind: runtime.StepWait, For: 6}}, way.Steps)
			},
		},
		"exclusive group": {
			was: tool("send", runtime.Rules{ExclusiveGroups: []string{"g"}}), also: tool("other", runtime.Rules{ExclusiveGroups: []string{"g"}}),
			do: func(p *play) { p.ok("send") },
			after: func(p *play, name string) {
				assert.Equal(p, "post", p.refused("other", rules.ReasonExclusiveGroup).HeldBy, "it is named as it is called now")
				p.ok(name)
			},
		},
		"prerequisite": {
			was: tool("send", runtime.Rules{}), also: tool("other", runtime.Rules{RequiresPreceding: []string{"send"}}),
			do:    func(p *play) { p.ok("send") },
			after: func(p *play, _ string) { p.ok("other") },
		},
		"prerequisite that was undone": {
			was: undoable("send", runtime.Rules{}), also: tool("other", runtime.Rules{RequiresPreceding: []string{"send"}}),
			do: func(p *play) { p.ok("send") },
			after: func(p *play, name string) {
				p.undo("c1")
				assert.Equal(p, []string{"post"}, p.refused("other", rules.ReasonPrerequisiteMissing).Missing)
				p.ok(name)
				p.ok("other")
			},
		},
		"order": {
			was: tool("send", runtime.Rules{}), also: tool("other", runtime.Rules{MustPrecede: []string{"send"}}),
			do: func(p *play) { p.ok("send") },
			after: func(p *play, _ string) {
				assert.Equal(p, []string{"post"}, p.refused("other", rules.ReasonOrderViolation).Already)
			},
		},
		"start": {
			was: undoable("send", runtime.Rules{StartConstraint: true}), also: other,
			do: func(p *play) { p.ok("send") },
			after: func(p *play, name string) {
				p.ok("other")
				p.undo("c1")
				p.refused("other", rules.ReasonStartConstraint)
				p.ok(name)
				p.ok("other")
			},
		},
		"requirement before the exit": {
			was: tool("send", runtime.Rules{RequiredBeforeExit: true}), also: tool("other", runtime.Rules{ExitLoop: true}),
			do: func(p *play) { p.ok("send") },
			after: func(p *play, _ string) {
				p.state(rules.RunRunning)
				p.ok("other")
				p.state(rules.RunFinished)
			},
		},
		"clean-up": {
			was: tool("send", runtime.Rules{RequiredBeforeExit: true}), also: tool("other", runtime.Rules{ExitLoop: true}),
			do: func(p *play) { p.ok("other") },
			after: func(p *play, name string) {
				p.state(rules.RunCleanup, "post")
				assert.Zero(p, p.s.Barred("r", "", "agent", name))
				p.refused("other", rules.ReasonExiting)
				p.ok(name)
				p.state(rules.RunFinished)
			},
		},
	} {
		for _, restored := range []bool{false, true} {
			for _, by := range []string{"post", "mail", "send"} {
				t.Run(name, func(t *testing.T) {
					p := begin(t, runtime.Rules{}, c.was, c.also)
					c.do(p)
					now, also := c.was, c.also
					now.Name, now.Former = "post", []string{"send", "mail"}
					for _, list := range []*[]string{&also.Rules.RequiresPreceding, &also.Rules.MustPrecede} {
						if len(*list) > 0 {
							*list = []string{"post"}
						}
					}
					p.become(restored, now, also)
					c.after(p, by)
				})
			}
		}
	}
}

// TestSnapshotsNameRecordedTools: a snapshot has the names that were recorded. Another tool that takes a freed name has what
// was recorded under it.
//
// SEMANTICS 1.5.3, 6.5.1
func TestSnapshotsNameRecordedTools(t *testing.T) {
	for _, restored := range []bool{false, true} {
		once := runtime.Rules{MaxCalls: 1}
		p := begin(t, runtime.Rules{}, tool("send", runtime.Rules{MaxCalls: 2}))
		p.ok("send")
		p.become(restored, rules.Tool{Name: "post", Former: []string{"send"}, Rules: runtime.Rules{MaxCalls: 2}})
		p.ok("post")
		of := p.s.Snapshot()
		assert.Equal(t, []rules.Slots{{Principal: "agent", Tool: "post", Used: 1}, {Principal: "agent", Tool: "send", Used: 1}}, of.Runs[0].Slots)
		p.refused("post", rules.ReasonMaxCalls)
		p.become(false, tool("post", once), tool("send", once))
		p.refused("post", rules.ReasonMaxCalls)
		p.refused("send", rules.ReasonMaxCalls)
		used, successes := p.s.Counts("r", "", "agent")
		assert.Equal(t, []int32{1, 1}, used)
		assert.Equal(t, []int32{1, 1}, successes)
	}
}

// TestEarlierDigests: a call is equal to one that was recorded with the digests of an earlier name of its tool.
//
// SEMANTICS 1.5.4
func TestEarlierDigests(t *testing.T) {
	p := begin(t, runtime.Rules{}, rules.Tool{Name: "send", Dedupe: runtime.Dedupe{Mode: runtime.DedupeAlways}, Idempotency: &rules.Idempotency{Window: 10}})
	p.ok("send", 1, 2)
	c := p.call("send", 3, 4)
	require.True(t, p.s.Check(p.now, &c).Admitted())
	c.Earlier = []rules.Digests{{Args: digest(5), Key: digest(6)}, {Args: digest(1), Key: digest(2)}}
	assert.Equal(t, rules.Verdict{Answer: rules.Duplicate, Of: "c1"}, p.s.Check(p.now, &c))
	assert.Equal(t, rules.OutlookNever, p.s.Unblock(p.now, &c).Outlook)
	c.Earlier[1].Args = digest(9)
	assert.Equal(t, rules.ReasonIdempotencyConflict, p.s.Check(p.now, &c).Primary().Reason)
}

// TestNamesOfTwoTools: an earlier name is that of one tool.
func TestNamesOfTwoTools(t *testing.T) {
	_, err := rules.Compile(rules.Config{Tools: []rules.Tool{{Name: "a", Former: []string{"b", "c"}}, {Name: "b"}, {Name: "d", Former: []string{"c"}}}})
	assert.EqualError(t, err, `tool "a": the earlier name "b" is that of tool "b": keep one of them
tool "d": the earlier name "c" is that of tool "a": keep one of them`)
}
