package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/anishathalye/porcupine"

	"github.com/ambit-tools/ambit/runtime/rules"
)

// A linearStep is one operation of a history: a call until it starts or is refused, the
// end of its handler, an answer until the approved call starts, a cancellation, or one of
// those of linear_ends_model_test.go.
type linearStep struct {
	kind    string // call, finish, answer, cancel; begin, status, grants, end, close, closed, forget, ended
	session int
	id      string // of the call
	tool    string
	arg     string
	fails   bool
	was     string // cancel: what the call had reached: "", pending, reserved, started
	ofEnd   bool   // close: it is a part of an end
}

// A linearNode is a state of the sequential specification: the rule state and a list of
// requests after the steps so far.
type linearNode struct {
	engine *rules.Engine
	parent *linearNode
	events []rules.Event // since parent
	state  *rules.State  // passed to the next node; rebuilt when it is needed again
	facts  string        // what the rule state answers
	linearFlags
	print string
}

// linearFlags are what a node knows beside the rule state.
type linearFlags struct {
	open     []string // requests, by call
	accepted []string // calls of which the request was answered, and which end before they start
	granted  bool
	ending   bool // the session takes no calls that come now
	closing  bool // the run starts no call
	closed   bool // the run has no call
	over     bool // the session has ended
}

// take returns the rule state of n, which the caller may change.
func (n *linearNode) take() *rules.State {
	if s := n.state; s != nil {
		n.state = nil
		return s
	}
	var path []*linearNode
	for at := n; at != nil; at = at.parent {
		path = append(path, at)
	}
	s := n.engine.NewState()
	for _, at := range slices.Backward(path) {
		for i := range at.events {
			if err := s.Apply(&at.events[i]); err != nil {
				panic(err)
			}
		}
	}
	return s
}

// next returns the node after n with the flags f, in which events have happened and s is the state.
func (n *linearNode) next(s *rules.State, f linearFlags, events ...rules.Event) *linearNode {
	m := &linearNode{engine: n.engine, parent: n, events: events, state: s, facts: n.facts, linearFlags: f}
	if len(events) > 0 {
		m.facts = factsOf(n.engine, s)
	}
	m.print = fmt.Sprint(m.facts, f)
	return m
}

// same returns n, of which the rule state s was taken.
func (n *linearNode) same(s *rules.State) *linearNode {
	n.state = s
	return n
}

// factsOf returns what a rule state answers.
func factsOf(engine *rules.Engine, s *rules.State) string {
	var b strings.Builder
	for _, tool := range engine.Tools() {
		for _, arg := range linearArgs {
			for _, fails := range []bool{false, true} {
				v := s.Check(0, ruleCall(linearStep{id: "probe", tool: tool, arg: arg, fails: fails}))
				fmt.Fprint(&b, v.Answer, v.Of, v.Reasons())
			}
			fmt.Fprint(&b, s.Facts("r", "", "agent", tool))
		}
	}
	st := s.Status("r")
	slices.Sort(st.Running)
	fmt.Fprint(&b, st.Running)
	return b.String()
}

var linearArgs = []string{"a", "b", "c"}

// ruleCall returns what the rules need to know of a step.
func ruleCall(s linearStep) *rules.Call {
	c := &rules.Call{ID: s.id, Run: "r", Principal: "agent", Tool: s.tool}
	if s.tool == "once" {
		c.Args = rules.DigestOf(fmt.Append(nil, s.arg, s.fails))
	}
	return c
}

// said returns the answer of an operation.
func said(v rules.Verdict, admitted string) string {
	switch {
	case v.Admitted():
		return admitted
	case v.Answer == rules.Duplicate:
		return "duplicate of " + v.Of
	}
	return fmt.Sprint("denied ", v.Reasons())
}

// linearModel is the sequential specification, for one session at a time. Once steps is
// used up no step is legal, which ends the search.
func linearModel(engine *rules.Engine, steps *atomic.Int64) porcupine.Model {
	return porcupine.Model{
		Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
			parts := map[int][]porcupine.Operation{}
			for _, op := range history {
				s := op.Input.(linearStep).session
				parts[s] = append(parts[s], op)
			}
			var out [][]porcupine.Operation
			for _, p := range parts {
				out = append(out, p)
			}
			return out
		},
		Init: func() any {
			s := engine.NewState()
			ev, err := s.StartRun(0, "r")
			if err != nil {
				panic(err)
			}
			return (&linearNode{engine: engine}).next(s, linearFlags{}, ev)
		},
		Step: func(state, input, output any) (bool, any) {
			n, in := state.(*linearNode), input.(linearStep)
			if steps.Add(-1) < 0 {
				return false, state
			}
			m, text := n.step(in, output.(string))
			return m != nil && text == output.(string), m
		},
		Equal: func(a, b any) bool { return a.(*linearNode).print == b.(*linearNode).print },
	}
}

// step takes one step; the node is nil when the answer differs from want.
func (n *linearNode) step(in linearStep, want string) (*linearNode, string) {
	if m, text, is := n.stepEnds(in, want); is {
		return m, text
	}
	s := n.take()
	rc := ruleCall(in)
	switch in.kind {
	case "call":
		return n.stepCall(s, in, rc, want)
	case "cancel":
		return n.stepCancel(s, in)
	case "finish":
		status := rules.StatusOK
		if in.fails {
			status = rules.StatusError
		}
		ev, err := s.Finish(0, in.id, status)
		if err != nil {
			n.state = s
			return nil, err.Error()
		}
		return n.next(s, n.linearFlags, ev), ""
	}
	return n.stepAnswer(s, in, rc, want)
}

// stepAnswer is step for an answer to a request of a run that is open.
func (n *linearNode) stepAnswer(s *rules.State, in linearStep, rc *rules.Call, want string) (*linearNode, string) {
	if !slices.Contains(n.open, in.id) {
		return n.same(s), "already_resolved"
	}
	f := n.linearFlags
	f.open = without(n.open, in.id)
	f.granted = n.granted || in.tool == "trust"
	if strings.HasPrefix(want, "cancelled") { // before it started; a cancellation, or the end of the run, releases what it holds
		f.accepted = append(slices.Clone(n.accepted), in.id)
		slices.Sort(f.accepted)
		return n.next(s, f), want
	}
	text := said(s.Recheck(0, rc), "started")
	if text != want {
		n.state = s
		return nil, text
	}
	v, ev := s.Resume(0, rc)
	if !v.Admitted() {
		ev, _ = s.Release(0, in.id)
		return n.next(s, f, ev), text
	}
	started, _ := s.Commit(0, in.id)
	return n.next(s, f, ev, started), text
}

func without(list []string, id string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(at string) bool { return at == id })
}

func (n *linearNode) stepCall(s *rules.State, in linearStep, rc *rules.Call, want string) (*linearNode, string) {
	asks := in.tool == "sure" || in.tool == "trust" && !n.granted
	admitted := "started"
	switch {
	case want == "reserved": // it ends before it starts
		admitted = want
	case asks:
		admitted = "pending"
	}
	v := s.Check(0, rc)
	text := said(v, admitted)
	switch {
	case text != want || !v.Admitted():
		return n.same(s), text
	case asks && want == "reserved":
		return n.same(s), "pending"
	case asks:
		_, ev := s.Ask(0, rc)
		f := n.linearFlags
		f.open = append(slices.Clone(n.open), in.id)
		return n.next(s, f, ev), text
	}
	_, ev := s.Admit(0, rc)
	if want == "reserved" {
		return n.next(s, n.linearFlags, ev), text
	}
	started, _ := s.Commit(0, in.id)
	return n.next(s, n.linearFlags, ev, started), text
}

// stepCancel cancels a call that has no outcome.
func (n *linearNode) stepCancel(s *rules.State, in linearStep) (*linearNode, string) {
	f := n.linearFlags
	if in.was == "" {
		return n.same(s), ""
	}
	if in.was == "pending" && !slices.Contains(n.open, in.id) && !slices.Contains(n.accepted, in.id) {
		return n.same(s), "already_ended"
	}
	f.open, f.accepted = without(n.open, in.id), without(n.accepted, in.id)
	change := s.Release
	if in.was == "started" {
		change = func(at rules.Instant, id string) (rules.Event, error) { return s.Finish(at, id, rules.StatusTimeout) }
	}
	ev, err := change(0, in.id)
	if err != nil {
		return n.same(s), err.Error()
	}
	return n.next(s, f, ev), ""
}
