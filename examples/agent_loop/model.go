package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/ambit-tools/ambit/examples/agent_loop/agent"
	"github.com/ambit-tools/ambit/runtime"
)

// A script is a model that says the same things every time, mistakes included.
type script struct {
	lines []agent.Message
	calls int
}

func newScript() *script {
	say := func(text string) agent.Message { return agent.Message{From: "model", Text: text} }
	call := func(pairs ...string) agent.Message {
		m := agent.Message{From: "model"}
		for i := 0; i+1 < len(pairs); i += 2 {
			m.Calls = append(m.Calls, runtime.Call{Tool: pairs[i], Input: []byte(pairs[i+1])})
		}
		return m
	}
	return &script{lines: []agent.Message{
		call("refund", `{"order":"1017","cents":4900}`), // too early: no case is open, and order_find has not run
		call("case_open", `{"customer":"Ida"}`),
		call("order_find", `{"order":"1017"}`, "refund", `{"order":"1017","cents":4900}`), // the second waits for the first, and then for the manager
		say("Done."), // the case is open
		call("reply", `{"text":"We have seen to your order."}`),
		call("order_find", `{"order":"1018"}`), // only what is required may run now
		call("case_close", `{"note":"Order 1017 came broken."}`),
	}}
}

// Next implements agent.Model.
func (s *script) Next(_ context.Context, said []agent.Message) (agent.Message, error) {
	if len(s.lines) == 0 {
		return agent.Message{}, errors.New("the script of the model is over before the run is")
	}
	m := s.lines[0]
	s.lines = s.lines[1:]
	for i := range m.Calls {
		s.calls++
		m.Calls[i].ID = fmt.Sprintf("call-%d", s.calls)
	}
	return m, nil
}
