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
// end of its handler, or an answer until the approved call starts.
type linearStep struct {
	kind    string // call, finish, answer
	session int
	id      string // of the call
	tool    string
	arg     string
	fails   bool
}

// A linearNode is a state of the sequential specification: the rule state and a list of
// requests after the steps so far.
type linearNode struct {
	engine  *rules.Engine
	parent  *linearNode
	events  []rules.Event // since parent
	state   *rules.State  // passed to the next node; rebuilt when it is needed again
	open    []string      // requests, by call
	tools   map[string]linearStep
	granted bool
	print   string
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

// next returns the node after n in which events have happened and s is the state.
func (n *linearNode) next(s *rules.State, open []string, granted bool, events ...rules.Event) *linearNode {
	m := &linearNode{engine: n.engine, parent: n, events: events, state: s, open: open, tools: n.tools, granted: granted}
	var b strings.Builder
	fmt.Fprint(&b, open, granted)
	for _, tool := range m.engine.Tools() {
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
	m.print = b.String()
	return m
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
			return (&linearNode{engine: engine, tools: map[string]linearStep{}}).next(s, nil, false, ev)
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
	s := n.take()
	rc := ruleCall(in)
	switch in.kind {
	case "call":
		return n.stepCall(s, in, rc, want)
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
		return n.next(s, n.open, n.granted, ev), ""
	}
	if !slices.Contains(n.open, in.id) {
		n.state = s
		return n, "already_resolved"
	}
	text := said(s.Recheck(0, rc), "started")
	if text != want {
		n.state = s
		return nil, text
	}
	open := slices.DeleteFunc(slices.Clone(n.open), func(id string) bool { return id == in.id })
	granted := n.granted || in.tool == "trust"
	v, ev := s.Resume(0, rc)
	if !v.Admitted() {
		ev, _ = s.Release(0, in.id)
		return n.next(s, open, granted, ev), text
	}
	started, _ := s.Commit(0, in.id)
	return n.next(s, open, granted, ev, started), text
}

func (n *linearNode) stepCall(s *rules.State, in linearStep, rc *rules.Call, want string) (*linearNode, string) {
	asks := in.tool == "sure" || in.tool == "trust" && !n.granted
	admitted := "started"
	if asks {
		admitted = "pending"
	}
	v := s.Check(0, rc)
	text := said(v, admitted)
	switch {
	case text != want || !v.Admitted():
		n.state = s
		return n, text
	case asks:
		_, ev := s.Ask(0, rc)
		return n.next(s, append(slices.Clone(n.open), in.id), n.granted, ev), text
	}
	_, ev := s.Admit(0, rc)
	started, _ := s.Commit(0, in.id)
	return n.next(s, n.open, n.granted, ev, started), text
}
