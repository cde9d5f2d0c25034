package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
)

// A script is a model that says the same things every time, mistakes included.
type script struct {
	lines []message
	calls int
}

func newScript() *script {
	say := func(text string) message { return message{From: "model", Text: text} }
	call := func(pairs ...string) message {
		m := message{From: "model"}
		for i := 0; i+1 < len(pairs); i += 2 {
			m.Calls = append(m.Calls, runtime.Call{Tool: pairs[i], Input: []byte(pairs[i+1])})
		}
		return m
	}
	return &script{lines: []message{
		call("refund", `{"order":"1017","cents":4900}`), // too early: no case, and nobody has looked at the order
		call("case_open", `{"customer":"Ida"}`),
		call("order_find", `{"order":"1017"}`, "refund", `{"order":"1017","cents":4900}`), // the second waits for the first, and then for the manager
		say("Done."), // the case is open
		call("reply", `{"text":"We have seen to your order."}`),
		call("order_find", `{"order":"1018"}`), // only what is required may run now
		call("case_close", `{"note":"Order 1017 came broken."}`),
	}}
}

// next implements model.
func (s *script) next(_ context.Context, said []message) (message, error) {
	if len(s.lines) == 0 {
		return message{}, errors.New("the script of the model is over before the run is")
	}
	m := s.lines[0]
	s.lines = s.lines[1:]
	for i := range m.Calls {
		s.calls++
		m.Calls[i].ID = fmt.Sprintf("call-%d", s.calls)
	}
	return m, nil
}
