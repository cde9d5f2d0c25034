package models_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/examples/agent_loop/agent"
	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host/terminal"
	"github.com/ambit-tools/ambit/runtime/models"
	"github.com/ambit-tools/ambit/runtime/models/dialect"
)

// start returns a run of the service desk.
func start(t *testing.T, opts ...engine.Option) *engine.Run {
	t.Helper()
	exec, err := agent.Setup(opts...)
	require.NoError(t, err)
	run, err := exec.Session(engine.SessionConfig{Principal: "agent"}).StartRun(t.Context(), engine.RunConfig{})
	require.NoError(t, err)
	return run
}

func call(id, tool, input string) runtime.Call {
	return runtime.Call{ID: id, Tool: tool, Input: []byte(input)}
}

func TestDefinitions(t *testing.T) {
	exec, err := agent.Setup()
	require.NoError(t, err)
	tools, err := models.Definitions(exec.Registry(), dialect.OpenAIStrict)
	require.NoError(t, err)
	again, err := models.Definitions(exec.Registry(), dialect.OpenAIStrict)
	require.NoError(t, err)
	assert.Same(t, tools, again, "it is rewritten once")
	plain, err := models.Definitions(exec.Registry(), dialect.OpenAI)
	require.NoError(t, err)
	assert.NotSame(t, tools, plain)
	refund, ok := tools.Lookup("refund")
	require.True(t, ok)
	assert.Equal(t, "Give money back to the customer.", refund.Description)
	assert.True(t, refund.Strict)
	text, err := json.Marshal(refund.Members())
	require.NoError(t, err)
	assert.JSONEq(t, string(refund.Schema), string(text))
	assert.Contains(t, string(text), `{"order":{"$ref":"#/$defs/Order"},"cents":`, "the order of members stays")
	assert.Len(t, tools.All(), 6)
	_, ok = tools.Lookup("nothing")
	assert.False(t, ok)
}

// TestAliases: a model is told of a tool by its alias where the provider takes such a name.
func TestAliases(t *testing.T) {
	aliased := func(name, alias string) *runtime.Tool {
		tool := dynamic(name, `{"type":"object"}`)
		tool.Spec().Alias = alias
		return tool
	}
	reg, err := runtime.NewRegistry(aliased("create_issue", "createIssue"), aliased("get_it", "get it"), aliased("plain", ""))
	require.NoError(t, err)
	for d, want := range map[dialect.Dialect][]string{
		dialect.OpenAI: {"createIssue", "get_it", "plain"}, dialect.JSONSchema: {"createIssue", "get it", "plain"},
	} {
		tools, err := models.Definitions(reg, d)
		require.NoError(t, err)
		var names []string
		for _, one := range tools.All() {
			names = append(names, one.Name)
		}
		assert.Equal(t, want, names)
		one, ok := tools.Lookup("create_issue")
		require.True(t, ok)
		assert.Equal(t, "createIssue", one.Name)
	}
}

// TestDeprecatedToolsAreMarked: the description says what to do instead, and so does the result.
// SEMANTICS 1.5.2
func TestDeprecatedToolsAreMarked(t *testing.T) {
	old := dynamic("old", `{"type":"object"}`)
	old.Spec().Description = "Old."
	old.Spec().Deprecated = &runtime.Deprecation{Since: "1.1.0", Message: "Call new."}
	reg, err := runtime.NewRegistry(old)
	require.NoError(t, err)
	tools, err := models.Definitions(reg, dialect.OpenAI)
	require.NoError(t, err)
	one, _ := tools.Lookup("old")
	assert.Equal(t, "Old.\n\nThis tool is deprecated since 1.1.0. Call new.", one.Description)
	r := models.ResultOf(runtime.Outcome{Kind: runtime.Completed, Notes: []string{"Call new."}})
	assert.JSONEq(t, `{"outcome":"completed","notes":["Call new."]}`, r.Text)
}

func TestBadSchemas(t *testing.T) {
	reg, err := runtime.NewRegistry(dynamic("good", `{"type":"object"}`), dynamic("bad", `[]`))
	require.NoError(t, err)
	_, err = models.Definitions(reg, dialect.Gemini)
	require.EqualError(t, err, `the input schema of "bad": the schema is not an object`)
	_, err = models.Definitions(reg, 77)
	require.Error(t, err)
}

// TestStrictToolsOfOneRequest: Anthropic compiles the strict tools of a request into one grammar.
func TestStrictToolsOfOneRequest(t *testing.T) {
	var all []*runtime.Tool
	for i := range 30 {
		all = append(all, dynamic(fmt.Sprintf("t%d", i), `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["a"],"additionalProperties":false}`))
	}
	reg, err := runtime.NewRegistry(all...)
	require.NoError(t, err)
	tools, err := models.Definitions(reg, dialect.AnthropicStrict)
	require.NoError(t, err)
	strict := 0
	for _, d := range tools.All() {
		if d.Strict {
			strict++
		} else {
			assert.Contains(t, d.Notes[len(d.Notes)-1].Text, "leave no room")
		}
	}
	assert.Equal(t, dialect.MaxStrictTools, strict)
}

func TestCallOfAModel(t *testing.T) {
	reg, err := runtime.NewRegistry(dynamic("t", `{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":["string","null"]}},"additionalProperties":false}`))
	require.NoError(t, err)
	tools, err := models.Definitions(reg, dialect.OpenAIStrict)
	require.NoError(t, err)
	for in, want := range map[string]string{
		`{"a":null,"b":null}`: `{"b":null}`, `{"a":9007199254740993}`: `{"a":9007199254740993}`, ` `: `{}`, `{"a":null`: `{"a":null`,
	} {
		made := tools.Call("1", "t", []byte(in))
		assert.Equal(t, want, string(made.Input), in)
		assert.Equal(t, "1", made.ID)
	}
	assert.Equal(t, `{"a":null}`, string(tools.Call("1", "other", []byte(`{"a":null}`)).Input))
}

func TestDispatch(t *testing.T) {
	run := start(t)
	calls := []runtime.Call{
		call("a", "case_open", `{"customer":"<Ida>"}`), call("b", "refund", `{"order":"1017","cents":100}`),
		call("c", "order_find", `{"order":"1017"}`), call("d", "nothing", `{}`), call("e", "reply", `{"text":`),
	}
	results := models.Dispatch(t.Context(), run.Turn(engine.TurnConfig{}), calls)
	require.Len(t, results, len(calls))
	for i, want := range []string{
		`{"outcome":"completed","output":{"case":1}}`,
		`{"outcome":"denied","reason":"prerequisite_missing","message":"order_find must succeed before \"refund\"; what would help: call order_find","first":["call order_find"]}`,
		`{"outcome":"completed","output":{"paid":4900,"refunded":0}}`,
		`{"outcome":"denied","reason":"unknown_tool","message":"there is no tool \"nothing\"; there are: case_open, order_find, order_history, refund, case_close, reply"}`,
	} {
		assert.Equal(t, want, results[i].Text)
	}
	assert.Contains(t, results[4].Text, `"reason":"invalid_input"`)
	for i, r := range results {
		assert.Equal(t, calls[i].ID, r.ID)
		assert.Equal(t, calls[i].Tool, r.Tool)
		assert.Equal(t, r.Outcome.Kind != runtime.Completed, r.IsError)
	}
	again := models.Dispatch(t.Context(), run.Turn(engine.TurnConfig{}), calls[:1])
	assert.Equal(t, results[0].Text, again[0].Text, "it did not run twice")
	status := run.Status()
	assert.Equal(t, 1, status.Invocations["case_open"])
	members, err := json.Marshal(results[0].Members())
	require.NoError(t, err)
	assert.JSONEq(t, results[0].Text, string(members))
}

func TestPendingIsNoSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		approver := terminal.Func(func(ctx context.Context, _ *consent.Notice) (action.Answer, bool) {
			time.Sleep(time.Minute) // of the bubble
			return action.Answer{By: runtime.ProgramActor("manager"), Approve: true}, true
		})
		exec, err := agent.Setup(engine.WithApprover(approver))
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go approver.Serve(ctx, exec) //nolint:errcheck // it ends with ctx
		run, err := exec.Session(engine.SessionConfig{Principal: "agent"}).StartRun(ctx, engine.RunConfig{})
		require.NoError(t, err)
		turn := run.Turn(engine.TurnConfig{})
		models.Dispatch(ctx, turn, []runtime.Call{call("a", "case_open", `{"customer":"Ida"}`), call("b", "order_find", `{"order":"1017"}`)})
		refund := []runtime.Call{call("c", "refund", `{"order":"1017","cents":4900}`)}
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		r := models.Dispatch(short, turn, refund)[0]
		assert.True(t, r.IsError)
		assert.Contains(t, r.Text, `{"outcome":"pending","reason":"consent_required"`)
		assert.Contains(t, r.Text, `"call":"c"`)
		r = models.Dispatch(ctx, turn, refund)[0]
		assert.Equal(t, `{"outcome":"completed","output":{"refunded":4900}}`, r.Text)
		assert.False(t, r.IsError)
		stop()
		require.NoError(t, exec.Shutdown(t.Context()))
	})
}

// TestResultsAreSafe: what is for the program stays there.
func TestResultsAreSafe(t *testing.T) {
	r := models.ResultOf(runtime.Outcome{
		CallID: "1", Tool: "t", Kind: runtime.Failed, Reason: runtime.ReasonHandlerError, Message: "it failed", Revision: "secret", Duration: time.Hour,
		Detail: runtime.Detail{At: "secret"}, Denials: []runtime.Denial{{Message: "secret"}}, RequestID: "secret", Obligations: []runtime.Obligation{{Code: "secret"}},
	})
	assert.Equal(t, `{"outcome":"failed","reason":"handler_error","message":"it failed"}`, r.Text)
	assert.True(t, r.IsError)
	r = models.ResultOf(runtime.Outcome{Kind: runtime.Completed, Output: []byte(`{`)})
	assert.Equal(t, `{"outcome":"completed"}`, r.Text, "an output that is not JSON")
	r = models.ResultOf(runtime.Outcome{Kind: runtime.Completed, Artifact: &runtime.StoredOutput{Preview: []byte(`"<long>"`)}})
	assert.Contains(t, r.Text, `"artifact":{`)
	r = models.ResultOf(runtime.Outcome{Kind: runtime.Duplicate, Of: "1", Output: []byte(`{"n":9007199254740993}`)})
	assert.Equal(t, `{"outcome":"duplicate","output":{"n":9007199254740993},"of":"1"}`, r.Text)
	assert.False(t, r.IsError)
}

func TestInput(t *testing.T) {
	for want, in := range map[string]any{
		`{}`:                      nil,
		`{"a":"<&>","b":[1,2.5]}`: map[string]any{"b": []any{1.0, 2.5}, "a": "<&>"},
		`{"n":9007199254740991}`:  map[string]any{"n": float64(1<<53 - 1)},
		`{"n":9007199254740993}`:  map[string]any{"n": json.Number("9007199254740993")},
	} {
		got, err := models.Input(in)
		require.NoError(t, err)
		assert.Equal(t, want, string(got))
	}
	var decoded map[string]any
	require.NoError(t, json.Unmarshal([]byte(`{"order":"1","lines":[{"cents":9007199254740993}]}`), &decoded))
	_, err := models.Input(decoded)
	require.ErrorContains(t, err, `/lines/0/cents: the number 9007199254740992 may have lost digits on its way`)
	r := models.Refuse("1", "refund", err)
	assert.True(t, r.IsError)
	assert.True(t, strings.HasPrefix(r.Text, `{"outcome":"denied","reason":"invalid_input","message":"/lines/0/cents: `), r.Text)
	_, err = models.Input(map[string]any{"f": func() {}})
	require.Error(t, err)
}

// A script is a Model that says its lines.
type script struct {
	lines []models.Message
	heard []int // messages that it was given each time
}

var errOver = errors.New("the script is over")

func (s *script) Next(_ context.Context, said []models.Message) (models.Message, error) {
	s.heard = append(s.heard, len(said))
	if len(s.lines) == 0 {
		return models.Message{}, errOver
	}
	m := s.lines[0]
	s.lines = s.lines[1:]
	return m, nil
}

func says(calls ...runtime.Call) models.Message { return models.Message{Calls: calls} }

func TestLoop(t *testing.T) {
	run := start(t)
	var saw []models.Message
	refused := models.Refuse("x", "refund", errors.New("no"))
	model := &script{lines: []models.Message{
		{Calls: []runtime.Call{call("1", "case_open", `{"customer":"Ida"}`), call("x", "refund", `{}`), call("2", "order_find", `{"order":"1018"}`)}, Refused: []models.Result{refused}},
		{Text: "Done."},
		says(call("3", "reply", `{"text":"Hello."}`)),
		says(call("4", "case_close", `{"note":"Closed."}`)),
	}}
	loop := models.Loop{Run: run, Model: model, Saw: func(m models.Message) { saw = append(saw, m) }}
	status, err := loop.Do(t.Context(), "Help.")
	require.NoError(t, err)
	assert.Equal(t, runtime.RunFinished, status.State)
	assert.Equal(t, []int{1, 3, 5, 7}, model.heard)
	require.Len(t, saw, 9)
	assert.Equal(t, refused, saw[2].Results[1])
	assert.Equal(t, `{"outcome":"completed","output":{"paid":1250,"refunded":0}}`, saw[2].Results[2].Text)
	assert.Equal(t, models.Message{Role: models.User, Text: "the run cannot end yet: call case_close first"}, saw[4])
}

func TestLoopEnds(t *testing.T) {
	loop := models.Loop{Run: start(t), Model: &script{}}
	_, err := loop.Do(t.Context(), "Help.")
	require.ErrorIs(t, err, errOver)
	forever := &script{lines: make([]models.Message, 9)}
	for i := range forever.lines {
		forever.lines[i] = says(call("", "order_find", `{"order":"1018"}`))
	}
	loop = models.Loop{Run: start(t), Model: forever, MaxTurns: 3}
	_, err = loop.Do(t.Context(), "Help.")
	require.ErrorIs(t, err, models.ErrNoEnd)
	assert.Len(t, forever.lines, 6)
	ctx, stop := context.WithCancel(t.Context())
	loop = models.Loop{Run: start(t), Model: forever, Saw: func(m models.Message) {
		if m.Role == models.ToolRole {
			stop()
		}
	}}
	_, err = loop.Do(ctx, "Help.")
	require.ErrorIs(t, err, context.Canceled)
}

// TestLoopWaitsForWhatIsPending: a model that was told that a call is pending, and stops, hears how
// the call ended.
func TestLoopWaitsForWhatIsPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		approver := terminal.Func(func(context.Context, *consent.Notice) (action.Answer, bool) {
			time.Sleep(time.Minute) // of the bubble
			return action.Answer{By: runtime.ProgramActor("manager"), Approve: true}, true
		})
		exec, err := agent.Setup(engine.WithApprover(approver))
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go approver.Serve(ctx, exec) //nolint:errcheck // it ends with ctx
		run, err := exec.Session(engine.SessionConfig{Principal: "agent"}).StartRun(ctx, engine.RunConfig{})
		require.NoError(t, err)
		model := &script{lines: []models.Message{
			says(call("1", "case_open", `{"customer":"Ida"}`), call("2", "order_find", `{"order":"1017"}`)),
			says(call("3", "refund", `{"order":"1017","cents":4900}`)),
			{Text: "I wait."},
			says(call("4", "case_close", `{"note":"Closed."}`), call("5", "reply", `{"text":"Hello."}`)),
		}}
		var texts []string
		loop := models.Loop{Run: run, Model: model, Wait: time.Second, Saw: func(m models.Message) {
			texts = append(texts, m.Text)
			for _, r := range m.Results {
				texts = append(texts, r.Outcome.Kind.String())
			}
		}}
		status, err := loop.Do(ctx, "Help.")
		require.NoError(t, err)
		assert.Equal(t, runtime.RunFinished, status.State)
		assert.Contains(t, texts, "pending")
		assert.Contains(t, texts, `The call 3 of refund has ended: {"outcome":"completed","output":{"refunded":4900}}`)
		stop()
		require.NoError(t, exec.Shutdown(t.Context()))
	})
}

// TestLoopWaitsForTheAnswer: a model that ends the run while a call waits for consent hears how the call ended before it is asked again.
//
// SEMANTICS 4.14.9, 4.18.4
func TestLoopWaitsForTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		approver := terminal.Func(func(context.Context, *consent.Notice) (action.Answer, bool) {
			time.Sleep(time.Minute) // of the bubble
			return action.Answer{By: runtime.ProgramActor("manager"), Approve: true}, true
		})
		exec, err := agent.Setup(engine.WithApprover(approver))
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go approver.Serve(ctx, exec) //nolint:errcheck // it ends with ctx
		run, err := exec.Session(engine.SessionConfig{Principal: "agent"}).StartRun(ctx, engine.RunConfig{})
		require.NoError(t, err)
		model := &script{lines: []models.Message{
			says(call("1", "case_open", `{"customer":"Ida"}`), call("2", "order_find", `{"order":"1017"}`)),
			says(call("3", "refund", `{"order":"1017","cents":4900}`)),
			says(call("4", "case_close", `{"note":"Closed."}`), call("5", "reply", `{"text":"Hello."}`)),
			says(call("6", "reply", `{"text":"Hello."}`)),
		}}
		var heard []string
		loop := models.Loop{Run: run, Model: model, Wait: time.Second, Saw: func(m models.Message) {
			if m.Role == models.User {
				heard = append(heard, m.Text)
			}
			for _, r := range m.Results {
				heard = append(heard, r.ID+" "+r.Outcome.Reason.String())
				if r.ID == "5" { // the call that waits has the name by which the model knows it
					assert.Contains(t, r.Text, `the call \"3\" waits`)
				}
			}
		}}
		status, err := loop.Do(ctx, "Help.")
		require.NoError(t, err)
		assert.Equal(t, runtime.RunFinished, status.State)
		assert.Equal(t, []string{
			"Help.", "1 ", "2 ", "3 consent_required", "4 ", "5 prerequisite_missing",
			`The call 3 of refund has ended: {"outcome":"completed","output":{"refunded":4900}}`, "6 ",
		}, heard)
		stop()
		require.NoError(t, exec.Shutdown(t.Context()))
	})
}

// TestEarlierNamesOfTools: the arguments of a call by an earlier name are read as those of the tool are.
//
// SEMANTICS 1.5.3
func TestEarlierNamesOfTools(t *testing.T) {
	tool := dynamic("post", `{"type":"object","properties":{"a":{"type":"integer"}},"additionalProperties":false}`)
	tool.Spec().RenamedFrom = []string{"send", "mail"}
	reg, err := runtime.NewRegistry(tool)
	require.NoError(t, err)
	tools, err := models.Definitions(reg, dialect.OpenAIStrict)
	require.NoError(t, err)
	for _, name := range []string{"post", "send", "mail"} {
		assert.JSONEq(t, `{}`, string(tools.Call("1", name, []byte(`{"a":null}`)).Input), name)
	}
	assert.Len(t, tools.All(), 1)
}

// TestAllocations: what stands between an SDK and the executor allocates little.
func TestAllocations(t *testing.T) {
	reg, err := runtime.NewRegistry(dynamic("t", `{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string"},"c":{"type":"string"}},"required":["c"],"additionalProperties":false}`))
	require.NoError(t, err)
	tools, err := models.Definitions(reg, dialect.OpenAIStrict)
	require.NoError(t, err)
	arguments := []byte(`{"a":null,"b":null,"c":"some text of a model"}`)
	outcome := runtime.Outcome{CallID: "1", Tool: "t", Kind: runtime.Completed, Output: []byte(`{"receipt":"R-1","lines":[1,2,3]}`)}
	n := testing.AllocsPerRun(100, func() {
		_ = tools.Call("1", "t", arguments)
		r := models.ResultOf(outcome)
		_ = r.Members()
	})
	t.Logf("%v allocations", n)
	most := 40.0
	if battery.Race { // the race detector adds some
		most = 50
	}
	assert.LessOrEqual(t, n, most)
}
