package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/models"
)

// A script is a model that says the same things every time, mistakes included.
type script struct {
	lines []models.Message
	calls int
}

func newScript() *script {
	say := func(text string) models.Message { return models.Message{Text: text} }
	call := func(pairs ...string) models.Message {
		m := models.Message{}
		for i := 0; i+1 < len(pairs); i += 2 {
			m.Calls = append(m.Calls, runtime.Call{Tool: pairs[i], Input: []byte(pairs[i+1])})
		}
		return m
	}
	return &script{lines: []models.Message{
		call("refund", `{"order":"1017","cents":4900}`), // too early: no case is open, and order_find has not run
		call("case_open", `{"customer":"Ida"}`),
		call("order_find", `{"order":"1017"}`, "refund", `{"order":"1017","cents":4900}`), // the second waits for the first, and then for the manager
		say("Done."), // the case is open
		call("reply", `{"text":"We have seen to your order."}`),
		call("order_find", `{"order":"1018"}`), // only what is required may run now
		call("case_close", `{"note":"Order 1017 came broken."}`),
	}}
}

// Next implements models.Model.
func (s *script) Next(_ context.Context, said []models.Message) (models.Message, error) {
	if len(s.lines) == 0 {
		return models.Message{}, errors.New("the script of the model is over before the run is")
	}
	m := s.lines[0]
	s.lines = s.lines[1:]
	for i := range m.Calls {
		s.calls++
		m.Calls[i].ID = fmt.Sprintf("call-%d", s.calls)
	}
	return m, nil
}
