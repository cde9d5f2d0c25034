package rules_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// world is a state that can be branched: it is rebuilt from its events.
type world struct {
	engine *rules.Engine
	events []rules.Event
	state  *rules.State
	now    rules.Instant
	calls  map[string]rules.Call // as they were asked
}

func (w *world) branch(t testing.TB) *world {
	state, err := w.engine.Replay(w.events)
	require.NoError(t, err)
	return &world{w.engine, slices.Clone(w.events), state, w.now, w.calls}
}

func (w *world) took(ev rules.Event, err error) bool {
	if err == nil {
		w.events = append(w.events, ev)
	}
	return err == nil
}

func (w *world) succeed(id string) bool {
	return w.took(w.state.Commit(w.now, id)) && w.took(w.state.Finish(w.now, id, rules.StatusOK))
}

// started reports whether the call that has an id now was started. An earlier call
// that has ended may have had it.
func (w *world) started(id string) (started bool) {
	for _, ev := range w.events {
		if ev.Call == id {
			started = ev.Kind == rules.EventStarted || started && ev.Kind != rules.EventAdmitted && ev.Kind != rules.EventAsked
		}
	}
	return started
}

// answer answers a call that waits for consent, with the answer from which the least can be expected: it is approved, and not known
// what became of it; or else denied.
func (w *world) answer(id string, approve bool) bool {
	if !approve {
		return !w.started(id) && w.took(w.state.Release(w.now, id))
	}
	c := w.calls[id]
	v, ev := w.state.Resume(w.now, &c)
	if !v.Admitted() || !w.took(ev, nil) || !w.took(w.state.Commit(w.now, id)) {
		return false
	}
	return w.took(w.state.Finish(w.now, id, rules.StatusUnknown))
}

// take makes a step, by the engine itself, as the actor of like. approve says how a call that is waited for is answered.
func (w *world) take(st runtime.Step, like rules.Call, approve bool) bool {
	switch st.Kind {
	case runtime.StepWait:
		if st.Call != "" {
			return w.answer(st.Call, approve)
		}
		w.now += rules.Instant(st.For)
		return st.For > 0
	case runtime.StepDrop: // of a started call only its executor knows that it was not let go
		return !w.started(st.Call) && w.took(w.state.Release(w.now, st.Call))
	case runtime.StepFinish:
		if w.took(w.state.Finish(w.now, st.Call, rules.StatusOK)) {
			return true
		}
		return w.succeed(st.Call)
	case runtime.StepApprove:
		c, ok := w.calls[st.Call]
		if !ok {
			return false
		}
		v, ev := w.state.Resume(w.now, &c)
		return v.Admitted() && w.took(ev, nil) && w.succeed(st.Call)
	}
	c := fresh(like, st.Tool, len(w.events))
	v, ev := w.state.Admit(w.now, &c)
	return v.Admitted() && w.took(ev, nil) && w.succeed(c.ID)
}

// fresh is a call of a tool with arguments that no rule has anything against.
func fresh(like rules.Call, tool string, n int) rules.Call {
	d := rules.Digest{1: byte(n + 1)}
	return rules.Call{
		ID: fmt.Sprint("way", n), Run: like.Run, Agent: like.Agent, Principal: like.Principal, Tool: tool,
		Args: d, Key: d, Operation: "put", HasOperation: true,
	}
}

func (w *world) admits(c rules.Call) bool {
	c.ID = "again"
	v := w.state.Check(w.now, &c)
	return v.Admitted()
}

// steps are all that could be done next, those that drop calls only with drops.
func (w *world) steps(drops bool) []runtime.Step {
	var out []runtime.Step
	for _, name := range w.engine.Tools() {
		out = append(out, runtime.Step{Kind: runtime.StepCall, Tool: name})
	}
	for id := range w.calls {
		for _, kind := range []runtime.StepKind{runtime.StepFinish, runtime.StepApprove, runtime.StepWait, runtime.StepDrop} {
			if kind == runtime.StepDrop && !drops {
				continue
			}
			out = append(out, runtime.Step{Kind: kind, Call: id})
		}
	}
	for d := range time.Duration(6) {
		out = append(out, runtime.Step{Kind: runtime.StepWait, For: d + 1})
	}
	return out
}

// shortest tries everything and returns how many steps it takes before c is
// admitted, or -1 when limit steps are not enough.
func shortest(t testing.TB, from *world, c rules.Call, limit int, drops bool) int {
	level := []*world{from}
	for depth := 0; ; depth++ {
		for _, w := range level {
			if w.admits(c) {
				return depth
			}
		}
		if depth == limit {
			return -1
		}
		var next []*world
		for _, w := range level {
			for _, st := range w.steps(drops) {
				if b := w.branch(t); b.take(st, c, true) {
					next = append(next, b)
				}
			}
		}
		level = next
	}
}

// TestWayIsRightAndShortest compares Unblock with trying everything.
func TestWayIsRightAndShortest(t *testing.T) {
	cases := battery.Count(t, 400, 4000)
	seen := map[string]int{}
	for seed := range uint64(cases) {
		pick := randomly(seed)
		s := sessionOf(t, pick, pick.knotty(), 60)
		s.quiet = seed%4 > 0
		for range pick(20) {
			s.step()
		}
		if pick.chance(30) {
			s.become(pick.renamed(s.ref.cfg))
		}
		c := s.call("again")
		if v := s.state.Check(s.now, &c); !v.Admitted() && v.Primary().Reason != rules.ReasonUnknownTool {
			tryWay(t, s, c, 3, seen)
		}
		if t.Failed() {
			t.Fatalf("seed %d\n%s", seed, s.describe())
		}
	}
	t.Log(seen)
	require.Zero(t, seen["unclear"])
	if cases < 1000 {
		return // too few to have met everything
	}
	for _, kind := range []string{"call", "finish", "approve", "drop", "wait", "answer", "never", "3 steps"} {
		require.NotZero(t, seen[kind], "no case with %s", kind)
	}
}

// tryWay takes the way that Unblock names, and looks for a shorter one of at
// most depth steps.
func tryWay(t *testing.T, s *session, c rules.Call, depth int, seen map[string]int) {
	start := &world{s.engine, s.ref.events, nil, s.now, map[string]rules.Call{}}
	for _, run := range []string{"r", "q"} {
		st := s.state.Status(run)
		for _, id := range append(st.Waiting, st.Running...) {
			start.calls[id] = s.calls[id]
		}
	}
	if len(start.calls) > 3 {
		return
	}
	start = start.branch(t)
	way := s.state.Unblock(s.now, &c)
	seen[way.Outlook.String()]++
	drops := slices.ContainsFunc(way.Steps, func(st runtime.Step) bool { return st.Kind == runtime.StepDrop })
	if drops != (way.Outlook == rules.OutlookDrop) {
		t.Errorf("%s %v for %+v", way.Outlook, way.Steps, c)
	}
	most := depth
	if len(way.Steps) > 0 {
		seen[fmt.Sprint(len(way.Steps), " steps")]++
		w := start.branch(t)
		for _, st := range way.Steps {
			if seen[st.Kind.String()]++; st.Kind == runtime.StepWait && st.Call != "" {
				seen["answer"]++
			}
			if !w.take(st, c, false) {
				t.Errorf("%v cannot be taken, of %v", st, way.Steps)
				return
			}
		}
		if !w.admits(c) {
			t.Errorf("%+v after %v: %v", c, way.Steps, w.state.Check(w.now, &c))
		}
		requireLeastWait(t, start, way, c)
		depth = min(depth, len(way.Steps)-1)
	}
	if got := shortest(t, start, c, depth, way.Outlook != rules.OutlookOpen); got >= 0 {
		t.Errorf("%s %v for %+v, but %d steps are enough", way.Outlook, way.Steps, c, got)
	}
	if !drops {
		return
	}
	if got := shortest(t, start, c, most, false); got >= 0 {
		t.Errorf("%v for %+v, but %d steps that drop nothing are enough", way.Steps, c, got)
	}
}

// requireLeastWait takes the way with a wait that is too short.
func requireLeastWait(t *testing.T, start *world, way rules.Way, c rules.Call) {
	for i := range way.Steps {
		if way.Steps[i].Kind != runtime.StepWait || way.Steps[i].For <= 1 {
			continue
		}
		short := slices.Clone(way.Steps)
		short[i].For--
		w := start.branch(t)
		taken := !slices.ContainsFunc(short, func(st runtime.Step) bool { return !w.take(st, c, true) })
		if taken && w.admits(c) {
			t.Errorf("%+v after %v: less than that wait is enough", c, way.Steps)
		}
	}
}
