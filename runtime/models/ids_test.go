package models_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/models"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// anything is a codec that takes any arguments.
type anything struct{}

func (anything) Decode(b []byte, l wire.Limits) (wire.Value, []wire.Violation) {
	v, bad := wire.ParseRaw(b, l)
	return v, bad
}

// said is a model that says what it is told to.
type said []models.Message

func (s *said) Next(context.Context, []models.Message) (models.Message, error) {
	if len(*s) == 0 {
		return models.Message{Text: "done"}, nil
	}
	m := (*s)[0]
	*s = (*s)[1:]
	return m, nil
}

// TestIDsThatRepeat: a provider's id that begins again with each message, comes twice in one or is empty names a call in its
// message: each call runs, its result has the provider's id, and the call has it in its metadata.
func TestIDsThatRepeat(t *testing.T) {
	message := func(calls ...[2]string) models.Message {
		var m models.Message
		for _, c := range calls {
			m.Calls = append(m.Calls, runtime.Call{ID: c[0], Tool: "clock", Input: fmt.Appendf(nil, `{"v":%q}`, c[1])})
		}
		return m
	}
	for name, conversation := range map[string][]models.Message{
		"in each message, equal arguments": {message([2]string{"call_0", "a"}), message([2]string{"call_0", "a"}), message([2]string{"call_0", "a"})},
		"in each message":                  {message([2]string{"call_0", "a"}), message([2]string{"call_0", "b"}, [2]string{"call_1", "c"})},
		"twice in a message":               {message([2]string{"x", "a"}, [2]string{"x", "b"}, [2]string{"x", "a"})},
		"none":                             {message([2]string{"", "a"}, [2]string{"", "b"}), message([2]string{"", "a"})},
	} {
		t.Run(name, func(t *testing.T) {
			var ran []runtime.CallInfo
			tool := runtime.NewDynamicTool(&runtime.Spec{Name: "clock", Version: "1.0.0"}, anything{}, func(ctx context.Context, in wire.Value) (wire.Value, error) {
				info, _ := runtime.FromContext(ctx)
				ran = append(ran, info)
				return in, nil
			})
			reg, err := runtime.NewRegistry(tool)
			require.NoError(t, err)
			e, err := engine.NewExecutor(reg, runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
				return runtime.Decision{Effect: runtime.EffectAllow}, nil
			}))
			require.NoError(t, err)
			run, err := e.Session(engine.SessionConfig{Principal: "agent"}).StartRun(t.Context(), engine.RunConfig{})
			require.NoError(t, err)
			var want, got, ids []string
			for _, m := range conversation {
				for _, c := range m.Calls {
					want = append(want, c.ID)
				}
			}
			model := said(conversation)
			loop := models.Loop{Run: run, Model: &model, Turn: engine.TurnConfig{}, Saw: func(m models.Message) {
				for _, r := range m.Results {
					got, ids = append(got, r.ID), append(ids, r.Outcome.CallID)
					assert.Equal(t, runtime.Completed, r.Outcome.Kind, r.Text)
				}
			}}
			_, err = loop.Do(t.Context(), "what time is it?")
			require.NoError(t, err)
			assert.Equal(t, want, got)
			require.Len(t, ran, len(want))
			seen := map[string]bool{}
			for i, id := range ids {
				assert.False(t, seen[id], id)
				seen[id] = true
				if id != want[i] && want[i] != "" {
					assert.Contains(t, fmt.Sprint(ran), models.ProviderID+":"+want[i])
				}
			}
		})
	}
}
