package openai_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"github.com/ambit-tools/ambit/internal/wiretest"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/models"
	"github.com/ambit-tools/ambit/runtime/models/dialect"
	"github.com/ambit-tools/ambit/runtime/models/openai"
)

func client(s *wiretest.Server) sdk.Client {
	return sdk.NewClient(option.WithBaseURL(s.URL), option.WithAPIKey("none"))
}

// response writes a step as the Responses API answers with.
func response(n int, s wiretest.Step) string {
	items := []string{fmt.Sprintf(`{"type":"reasoning","id":"rs_%d","summary":[]}`, n)}
	if s.Text != "" {
		items = append(items, `{"type":"message","id":"msg","role":"assistant","status":"completed","content":[{"type":"output_text","annotations":[],"text":`+wiretest.Quote(s.Text)+`}]}`)
	}
	for i, c := range s.Calls {
		items = append(items, fmt.Sprintf(`{"type":"function_call","id":"fc_%d_%d","call_id":%s,"name":%s,"arguments":%s,"status":"completed"}`,
			n, i, wiretest.Quote(s.ID(i, fmt.Sprintf("call_%d_%d", n, i))), wiretest.Quote(c.Tool), wiretest.Quote(c.Args)))
	}
	return fmt.Sprintf(`{"id":"resp_%d","object":"response","status":"completed","output":[%s]}`, n, strings.Join(items, ","))
}

// responseStream writes a step as a stream, the arguments in parts.
func responseStream(n int, s wiretest.Step) string {
	var b strings.Builder
	event := func(kind, rest string) { fmt.Fprintf(&b, "event: %s\ndata: {\"type\":%q%s}\n\n", kind, kind, rest) }
	event("response.created", `,"response":{"id":"r","object":"response","status":"in_progress","output":[]}`)
	for i, c := range s.Calls {
		for _, part := range []string{c.Args[:len(c.Args)/2], c.Args[len(c.Args)/2:]} {
			event("response.function_call_arguments.delta", fmt.Sprintf(`,"output_index":%d,"item_id":"fc","delta":%s`, i+1, wiretest.Quote(part)))
		}
		event("response.function_call_arguments.done", fmt.Sprintf(`,"output_index":%d,"item_id":"fc","name":%s,"arguments":%s`, i+1, wiretest.Quote(c.Tool), wiretest.Quote(c.Args)))
	}
	event("response.completed", `,"response":`+response(n, s))
	return b.String()
}

// completion writes a step as chat completions answer with.
func completion(n int, s wiretest.Step) string {
	var calls []string
	reason := "stop"
	for i, c := range s.Calls {
		reason = "tool_calls"
		calls = append(calls, fmt.Sprintf(`{"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}`, wiretest.Quote(s.ID(i, fmt.Sprintf("call_%d_%d", n, i))), wiretest.Quote(c.Tool), wiretest.Quote(c.Args)))
	}
	return fmt.Sprintf(`{"id":"c%d","object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":%q,"message":{"role":"assistant","content":%s,"tool_calls":[%s]}}]}`,
		n, reason, wiretest.Quote(s.Text), strings.Join(calls, ","))
}

// completionStream writes a step as a stream, the arguments in parts.
func completionStream(n int, s wiretest.Step) string {
	var b strings.Builder
	chunk := func(delta, reason string) {
		fmt.Fprintf(&b, "data: {\"id\":\"c%d\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":%s}]}\n\n", n, delta, reason)
	}
	chunk(`{"role":"assistant","content":`+wiretest.Quote(s.Text)+`}`, "null")
	reason := `"stop"`
	for i, c := range s.Calls {
		reason = `"tool_calls"`
		chunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":%s,"type":"function","function":{"name":%s,"arguments":""}}]}`, i, wiretest.Quote(s.ID(i, fmt.Sprintf("call_%d_%d", n, i))), wiretest.Quote(c.Tool)), "null")
		for _, part := range []string{c.Args[:len(c.Args)/2], c.Args[len(c.Args)/2:]} {
			chunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}`, i, wiretest.Quote(part)), "null")
		}
	}
	chunk(`{}`, reason)
	b.WriteString("data: [DONE]\n\n")
	return b.String()
}

// An api is one of the two, streamed or not.
type api struct {
	name  string
	write func(int, wiretest.Step) string
	model func(d dialect.Dialect, c sdk.Client, reg *runtime.Registry) (models.Model, error)
}

var apis = []api{
	{"responses", response, byResponses(false)}, {"responses, streamed", responseStream, byResponses(true)},
	{"chat", completion, byChat(false)}, {"chat, streamed", completionStream, byChat(true)},
}

func byResponses(stream bool) func(dialect.Dialect, sdk.Client, *runtime.Registry) (models.Model, error) {
	return func(d dialect.Dialect, c sdk.Client, reg *runtime.Registry) (models.Model, error) {
		m, err := openai.NewIn(d, c, reg, responses.ResponseNewParams{Model: "m"})
		if err == nil {
			m.Stream = stream
		}
		return m, err
	}
}

func byChat(stream bool) func(dialect.Dialect, sdk.Client, *runtime.Registry) (models.Model, error) {
	return func(d dialect.Dialect, c sdk.Client, reg *runtime.Registry) (models.Model, error) {
		m, err := openai.NewChatIn(d, c, reg, sdk.ChatCompletionNewParams{Model: "m", Messages: []sdk.ChatCompletionMessageParamUnion{sdk.DeveloperMessage("Help.")}})
		if err == nil {
			m.Stream = stream
		}
		return m, err
	}
}

func TestConversation(t *testing.T) {
	for _, a := range apis {
		for _, d := range []dialect.Dialect{dialect.OpenAI, dialect.OpenAIStrict} {
			t.Run(fmt.Sprint(a.name, d), func(t *testing.T) {
				desk, server := wiretest.NewDesk(t), wiretest.Serve(t, wiretest.Texts(a.write)...)
				model, err := a.model(d, client(server), desk.Registry)
				if err != nil {
					t.Fatal(err)
				}
				desk.Play(t, model)
				for n, want := range map[int][]string{
					0: {`"name":"case_open"`, `"additionalProperties":false`, wiretest.Request, fmt.Sprintf(`"strict":%t`, d == dialect.OpenAIStrict)},
					1: {`"call_0_0"`, `"call_0_1"`, `\"reason\":\"prerequisite_missing\"`},
					3: {`\"artifact\":{\"sha256\":\"`},
					4: {`the run cannot end yet: call case_close first`},
				} {
					for _, text := range want {
						if !strings.Contains(server.Sent[n], text) {
							t.Errorf("request %d has no %s:\n%s", n, text, server.Sent[n])
						}
					}
				}
				if a.name == "responses" && !strings.Contains(server.Sent[1], `"rs_0"`) {
					t.Errorf("the reasoning is lost:\n%s", server.Sent[1])
				}
			})
		}
	}
}

// TestStrictIsAskedFor: New and NewChat ask for strict mode.
func TestStrictIsAskedFor(t *testing.T) {
	desk := wiretest.NewDesk(t)
	for body, open := range map[string]func(sdk.Client) (models.Model, error){
		response(0, wiretest.Step{Text: "Done."}): func(c sdk.Client) (models.Model, error) {
			return openai.New(c, desk.Registry, responses.ResponseNewParams{Model: "m"})
		},
		completion(0, wiretest.Step{Text: "Done."}): func(c sdk.Client) (models.Model, error) {
			return openai.NewChat(c, desk.Registry, sdk.ChatCompletionNewParams{Model: "m"})
		},
	} {
		server := wiretest.Serve(t, body)
		model, err := open(client(server))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := model.Next(t.Context(), []models.Message{{Role: models.User, Text: "Help."}}); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(server.Sent[0], `"strict":true`); n != desk.Registry.Len() {
			t.Errorf("%d tools are strict:\n%s", n, server.Sent[0])
		}
	}
}

// ask lets a model answer once.
func (a api) ask(t *testing.T, reg *runtime.Registry, body string) (models.Message, error) {
	t.Helper()
	model, err := a.model(dialect.OpenAIStrict, client(wiretest.Serve(t, body)), reg)
	if err != nil {
		t.Fatal(err)
	}
	return model.Next(t.Context(), []models.Message{{Role: models.User, Text: "Help."}})
}

// TestArguments: digits, duplicate names and texts that are not JSON reach the decoder as they are.
func TestArguments(t *testing.T) {
	desk := wiretest.NewDesk(t)
	for _, a := range apis {
		for _, args := range []string{`{"order":"1017","cents":9007199254740993,"cents":1}`, `{"order":`, `{"order":"1017","cents":null}`} {
			m, err := a.ask(t, desk.Registry, a.write(0, wiretest.Calls("refund", args)))
			if err != nil || len(m.Calls) != 1 || string(m.Calls[0].Input) != args {
				t.Errorf("%s: %v, want %s: %v", a.name, m.Calls, args, err)
				continue
			}
			r := models.Dispatch(t.Context(), desk.Run.Turn(engine.TurnConfig{}), []runtime.Call{{Tool: "refund", Input: m.Calls[0].Input}})
			if !strings.Contains(r[0].Text, "invalid_input") {
				t.Errorf("%s: %s: %s", a.name, args, r[0].Text)
			}
		}
	}
}

func TestExchanges(t *testing.T) {
	for _, a := range apis {
		for _, d := range []dialect.Dialect{dialect.OpenAI, dialect.OpenAIStrict} {
			model := func(t testing.TB, s *wiretest.Server, reg *runtime.Registry) models.Model {
				m, err := a.model(d, client(s), reg)
				if err != nil {
					t.Fatal(err)
				}
				return m
			}
			t.Run(fmt.Sprint(a.name, d), wiretest.Adapter{Write: a.write, Model: model, Nulls: d == dialect.OpenAIStrict}.Exchanges)
		}
	}
}

// TestBrokenAnswers: of an answer that is not whole, nothing runs.
func TestBrokenAnswers(t *testing.T) {
	desk := wiretest.NewDesk(t)
	for _, a := range apis {
		whole := a.write(0, wiretest.Script[0])
		if strings.HasPrefix(whole, "{") {
			cut := strings.NewReplacer(`"object":"response","status":"completed"`, `"object":"response","status":"incomplete"`, `"finish_reason":"tool_calls"`, `"finish_reason":"length"`).Replace(whole)
			m, err := a.ask(t, desk.Registry, cut)
			if err != nil || len(m.Refused) != 2 || !strings.Contains(m.Refused[0].Text, "cut off") {
				t.Errorf("%s: %v, %v", a.name, m, err)
			}
			continue
		}
		parts := strings.SplitAfter(whole, "\n\n")
		for n := 1; n < len(parts)-2; n++ {
			if m, err := a.ask(t, desk.Registry, strings.Join(parts[:n], "")); err == nil || len(m.Calls) > 0 {
				t.Errorf("%s, %d of %d parts: %v, %v", a.name, n, len(parts), m, err)
			}
		}
	}
	if _, err := apis[2].ask(t, desk.Registry, `{"choices":[]}`); err == nil {
		t.Error("no choice is no error")
	}
}

// TestLinksOneSDK: a program with one adapter links one SDK.
func TestLinksOneSDK(t *testing.T) { wiretest.LinksOne(t, "github.com/openai/") }

// TestNewcomer: a new application has a program in which a model of this provider works.
func TestNewcomer(t *testing.T) {
	wiretest.Start(t, "openai", response, "OPENAI_API_KEY=none", "OPENAI_BASE_URL=SERVER")
}

// TestAllocations: of a call, from the response that the SDK has decoded to what the SDK sends.
func TestAllocations(t *testing.T) {
	tools, err := models.Definitions(wiretest.NewDesk(t).Registry, dialect.OpenAIStrict)
	if err != nil {
		t.Fatal(err)
	}
	step := wiretest.Calls("refund", `{"order":"1017","cents":4900}`)
	var r responses.Response
	var c sdk.ChatCompletion
	if err := errors.Join(json.Unmarshal([]byte(response(0, step)), &r), json.Unmarshal([]byte(completion(0, step)), &c)); err != nil {
		t.Fatal(err)
	}
	wiretest.Allocations(t, func(of models.Result) {
		if len(openai.Calls(tools, &r)) != 1 || len(openai.Results(&r, []models.Result{models.ResultOf(of.Outcome)})) != 1 {
			t.Error("the call is lost")
		}
	}, func() { _ = r.Output[1].AsAny() })
	wiretest.Allocations(t, func(of models.Result) {
		if len(openai.ChatCalls(tools, &c.Choices[0].Message)) != 1 || len(openai.ChatResults([]models.Result{models.ResultOf(of.Outcome)})) != 1 {
			t.Error("the call is lost")
		}
	}, nil)
}
