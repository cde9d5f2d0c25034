package models_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
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

// A clock is a tool whose every call has another outcome, in a session of a store.
type clock struct {
	journal journal.Memory
	mu      sync.Mutex // calls of one message run at once
	ran     []runtime.CallInfo
	texts   []string // the arguments
	exec    *engine.Executor
}

// session returns the session of the clock in a new process, after the one before.
func (c *clock) session(t *testing.T) *engine.Session {
	t.Helper()
	if c.exec != nil {
		require.NoError(t, c.exec.Shutdown(t.Context()))
	}
	tool := runtime.NewDynamicTool(&runtime.Spec{Name: "clock", Version: "1.0.0"}, anything{}, func(ctx context.Context, in wire.Value) (wire.Value, error) {
		info, _ := runtime.FromContext(ctx)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.ran, c.texts = append(c.ran, info), append(c.texts, string(in.(wire.Raw)))
		return wire.Raw(fmt.Sprintf(`{"tick":%d}`, len(c.ran))), nil
	})
	reg, err := runtime.NewRegistry(tool)
	require.NoError(t, err)
	e, err := engine.NewExecutor(reg, runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	}), engine.WithJournal(&c.journal))
	require.NoError(t, err)
	require.NoError(t, e.Recover(t.Context()))
	c.exec = e
	return e.Session(engine.SessionConfig{ID: "s", Principal: "agent"})
}

// run returns a new run of a session.
func run(t *testing.T, s *engine.Session) *engine.Run {
	t.Helper()
	r, err := s.StartRun(t.Context(), engine.RunConfig{})
	require.NoError(t, err)
	return r
}

// play lets a loop of its own run a conversation, and checks that each call ran once and that its result, which has the
// provider's id, is its own.
func (c *clock) play(t *testing.T, run *engine.Run, conversation []models.Message) {
	t.Helper()
	var want, got []string
	for _, m := range conversation {
		for _, call := range m.Calls {
			want = append(want, fmt.Sprintf("%q ran with %s", call.ID, call.Input))
		}
	}
	before := len(c.ran)
	model := said(conversation)
	loop := models.Loop{Run: run, Model: &model, Saw: func(m models.Message) {
		for _, r := range m.Results {
			var of int
			_, err := fmt.Sscanf(r.Text, `{"outcome":"completed","output":{"tick":%d}}`, &of)
			require.NoError(t, err, r.Text)
			require.Greater(t, of, before, "the outcome is of another conversation")
			assert.Equal(t, r.Outcome.CallID, c.ran[of-1].ID)
			got = append(got, fmt.Sprintf("%q ran with %s", r.ID, c.texts[of-1]))
		}
	}}
	_, err := loop.Do(t.Context(), "what time is it?")
	require.NoError(t, err)
	assert.Equal(t, want, got)
	assert.Len(t, c.ran, before+len(want))
}

// TestIDsThatRepeat: a provider's id that begins again with each message, comes twice in one, is empty or long names a call in
// its message: each call runs, in a second loop of the session and after a restart too, its result has the provider's id, and so
// has its metadata.
//
// SEMANTICS 1.4.11
func TestIDsThatRepeat(t *testing.T) {
	message := func(calls ...[2]string) models.Message {
		var m models.Message
		for _, c := range calls {
			m.Calls = append(m.Calls, runtime.Call{ID: c[0], Tool: "clock", Input: fmt.Appendf(nil, `{"v":%q}`, c[1])})
		}
		return m
	}
	long := strings.Repeat("x", 1<<20)
	for name, conversation := range map[string][]models.Message{
		"in each message, equal arguments": {message([2]string{"call_0", "a"}), message([2]string{"call_0", "a"}), message([2]string{"call_0", "a"})},
		"in each message":                  {message([2]string{"call_0", "a"}), message([2]string{"call_0", "b"}, [2]string{"call_1", "c"})},
		"twice in a message":               {message([2]string{"x", "a"}, [2]string{"x", "b"}, [2]string{"x", "a"})},
		"none":                             {message([2]string{"", "a"}, [2]string{"", "b"}), message([2]string{"", "a"})},
		"long":                             {message([2]string{long, "a"}, [2]string{long + "y", "a"}), message([2]string{long, "b"})},
	} {
		t.Run(name, func(t *testing.T) {
			c := &clock{}
			s := c.session(t)
			c.play(t, run(t, s), conversation)
			c.play(t, run(t, s), conversation)
			c.play(t, run(t, c.session(t)), conversation)
			ids := map[string]bool{}
			provided := 0
			for _, info := range c.ran {
				require.False(t, ids[info.ID], info.ID)
				ids[info.ID] = true
				require.Less(t, len(info.ID), 41, "chat completions take ids of 40 bytes")
				if info.Metadata[models.ProviderID] != "" {
					provided++
				}
			}
			if name == "none" {
				assert.Zero(t, provided)
			} else {
				assert.Len(t, c.ran, provided)
			}
		})
	}
}

// TestConversation: the calls of a message that is read or answered again have the same ids, and calls that were not there before
// have others.
//
// SEMANTICS 1.4.11
func TestConversation(t *testing.T) {
	a, b := runtime.Call{ID: "x", Tool: "clock", Input: []byte(`{"v":1}`)}, runtime.Call{ID: "x", Tool: "clock", Input: []byte(`{"v":2}`)}
	none := runtime.Call{Tool: "clock", Input: []byte(`{"v":1}`)}
	ids := func(calls []runtime.Call) (out []string) {
		for _, c := range calls {
			out = append(out, c.ID)
		}
		return out
	}
	var c models.Conversation
	given := []runtime.Call{a, a, none}
	first := c.Own(3, given)
	assert.Equal(t, []runtime.Call{a, a, none}, given, "they are those of the program")
	assert.Equal(t, []string{"3-0-" + c.ID, "3-1-" + c.ID, "3-2-" + c.ID}, ids(first))
	assert.Equal(t, []string{"x", "x", first[2].ID}, []string{first[0].ProviderID, first[1].ProviderID, first[2].ProviderID})
	assert.Equal(t, first, c.Own(3, first), "they have ids of their own")
	assert.Equal(t, first, c.Own(3, given))

	renamed := a
	renamed.ID = "y"
	again := c.Own(3, []runtime.Call{renamed, b})
	assert.Equal(t, []string{first[0].ID, "3-1_1-" + c.ID}, ids(again), "the answer to the request that was repeated")
	assert.Equal(t, "y", again[0].ProviderID)
	assert.Equal(t, ids(again), ids(c.Own(3, []runtime.Call{renamed, b})))
	assert.Equal(t, ids(first), ids(c.Own(3, given)))

	assert.Equal(t, []string{"4-0-" + c.ID}, ids(c.Own(4, []runtime.Call{a})))
	was := c.ID
	other := c.Own(2, []runtime.Call{a})
	assert.NotEqual(t, was, c.ID, "another conversation has begun")
	assert.Equal(t, []string{"2-0-" + c.ID}, ids(other))

	resumed := models.Conversation{ID: was}
	assert.Equal(t, ids(first), ids(resumed.Own(3, given)), "after a restart")
	var second models.Conversation
	assert.NotEqual(t, ids(first), ids(second.Own(3, given)))
}

// TestDispatchOfAConversation: a message that a program dispatches again, because its results got lost, runs nothing again. The
// results have the ids of the provider.
//
// SEMANTICS 1.4.11
func TestDispatchOfAConversation(t *testing.T) {
	c := &clock{}
	of := run(t, c.session(t))
	var conversation models.Conversation
	message := []runtime.Call{{ID: "call_0", Tool: "clock", Input: []byte(`{}`)}, {ID: "call_0", Tool: "clock", Input: []byte(`{}`)}}
	for number := range 3 {
		for range 2 {
			results := models.Dispatch(t.Context(), of.Turn(engine.TurnConfig{}), conversation.Own(number, message))
			for _, r := range results {
				assert.Equal(t, "call_0", r.ID)
				assert.Equal(t, runtime.Completed, r.Outcome.Kind)
			}
			assert.NotEqual(t, results[0].Text, results[1].Text)
		}
		assert.Len(t, c.ran, 2*(number+1))
	}
}

// TestRefusedCallsOfOneID: where a refused call cannot be told apart from another one, neither runs.
func TestRefusedCallsOfOneID(t *testing.T) {
	c := &clock{}
	call := runtime.Call{ID: "x", Tool: "clock", Input: []byte(`{}`)}
	m := models.Message{Calls: []runtime.Call{call, call}}
	m.Refuse(1, fmt.Errorf("no"))
	model := said{m}
	var results []models.Result
	loop := models.Loop{Run: run(t, c.session(t)), Model: &model, Saw: func(m models.Message) { results = append(results, m.Results...) }}
	_, err := loop.Do(t.Context(), "Help.")
	require.NoError(t, err)
	require.Len(t, results, 2)
	assert.Empty(t, c.ran)

	var conversation models.Conversation // which tells them apart
	m = models.Message{Calls: conversation.Own(1, []runtime.Call{call, call})}
	m.Refuse(1, fmt.Errorf("no"))
	model, results = said{m}, nil
	loop = models.Loop{Run: run(t, c.session(t)), Model: &model, Saw: func(m models.Message) { results = append(results, m.Results...) }}
	_, err = loop.Do(t.Context(), "Help.")
	require.NoError(t, err)
	require.Len(t, results, 2)
	assert.Len(t, c.ran, 1)
	assert.Equal(t, []bool{false, true}, []bool{results[0].IsError, results[1].IsError})
	assert.Equal(t, []string{"x", "x"}, []string{results[0].ID, results[1].ID})
}

// TestEarlierCallsAreNamedAsTheModelKnowsThem: a result that names an earlier call has its id of the provider.
func TestEarlierCallsAreNamedAsTheModelKnowsThem(t *testing.T) {
	tool := runtime.NewDynamicTool(&runtime.Spec{Name: "clock", Version: "1.0.0", Dedupe: runtime.Dedupe{Mode: runtime.DedupeAlways}}, anything{}, func(_ context.Context, in wire.Value) (wire.Value, error) { return in, nil })
	reg, err := runtime.NewRegistry(tool)
	require.NoError(t, err)
	e, err := engine.NewExecutor(reg, runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	}))
	require.NoError(t, err)
	call := func(id string) models.Message {
		return says(runtime.Call{ID: id, Tool: "clock", Input: []byte(`{}`)})
	}
	model := said{call("first"), call("second")}
	var texts []string
	loop := models.Loop{Run: run(t, e.Session(engine.SessionConfig{Principal: "agent"})), Model: &model, Saw: func(m models.Message) {
		for _, r := range m.Results {
			texts = append(texts, r.Text)
		}
	}}
	_, err = loop.Do(t.Context(), "Help.")
	require.NoError(t, err)
	assert.Equal(t, []string{`{"outcome":"completed","output":{}}`, `{"outcome":"duplicate","output":{},"message":"an equal call was made before: \"first\"","of":"first"}`}, texts)
}
