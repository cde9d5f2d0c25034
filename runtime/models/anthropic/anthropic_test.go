package anthropic_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/ambit-tools/ambit/internal/wiretest"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/models"
	"github.com/ambit-tools/ambit/runtime/models/anthropic"
	"github.com/ambit-tools/ambit/runtime/models/dialect"
	"github.com/ambit-tools/ambit/runtime/models/internal/samples"
)

var params = sdk.MessageNewParams{Model: "some-model", MaxTokens: 100}

func client(s *wiretest.Server) sdk.Client {
	return sdk.NewClient(option.WithBaseURL(s.URL), option.WithAPIKey("none"), option.WithMaxRetries(0)) // the tests repeat requests themselves
}

// message writes a message as the API answers with.
func message(n int, s wiretest.Step) string {
	blocks, reason := []string{`{"type":"text","text":` + wiretest.Quote(s.Text) + `}`}, "end_turn"
	for i, c := range s.Calls {
		blocks, reason = append(blocks, fmt.Sprintf(`{"type":"tool_use","id":%s,"name":%s,"input":%s}`, wiretest.Quote(s.ID(i, fmt.Sprintf("toolu_%d_%d", n, i))), wiretest.Quote(c.Tool), c.Args)), "tool_use"
	}
	return fmt.Sprintf(`{"id":"msg_%d","type":"message","role":"assistant","model":"m","stop_reason":%q,"usage":{"input_tokens":1,"output_tokens":1},"content":[%s]}`,
		n, reason, strings.Join(blocks, ","))
}

// stream writes a message as a stream, the arguments in parts.
func stream(n int, s wiretest.Step) string {
	var b strings.Builder
	event := func(kind, rest string) { fmt.Fprintf(&b, "event: %s\ndata: {\"type\":%q%s}\n\n", kind, kind, rest) }
	event("message_start", fmt.Sprintf(`,"message":{"id":"msg_%d","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}`, n))
	event("content_block_start", `,"index":0,"content_block":{"type":"text","text":""}`)
	event("content_block_delta", `,"index":0,"delta":{"type":"text_delta","text":`+wiretest.Quote(s.Text)+`}`)
	event("content_block_stop", `,"index":0`)
	reason := "end_turn"
	for i, c := range s.Calls {
		reason = "tool_use"
		event("content_block_start", fmt.Sprintf(`,"index":%d,"content_block":{"type":"tool_use","id":%s,"name":%s,"input":{}}`, i+1, wiretest.Quote(s.ID(i, fmt.Sprintf("toolu_%d_%d", n, i))), wiretest.Quote(c.Tool)))
		for _, part := range []string{c.Args[:len(c.Args)/2], c.Args[len(c.Args)/2:]} {
			event("content_block_delta", fmt.Sprintf(`,"index":%d,"delta":{"type":"input_json_delta","partial_json":%s}`, i+1, wiretest.Quote(part)))
		}
		event("content_block_stop", fmt.Sprintf(`,"index":%d`, i+1))
	}
	event("message_delta", fmt.Sprintf(`,"delta":{"stop_reason":%q},"usage":{"output_tokens":1}`, reason))
	event("message_stop", "")
	return b.String()
}

func TestConversation(t *testing.T) {
	for _, streamed := range []bool{false, true} {
		for _, d := range []dialect.Dialect{dialect.Anthropic, dialect.AnthropicStrict} {
			t.Run(fmt.Sprint(d, streamed), func(t *testing.T) {
				write := message
				if streamed {
					write = stream
				}
				desk, server := wiretest.NewDesk(t), wiretest.Serve(t, wiretest.Texts(write)...)
				model, err := anthropic.NewIn(d, client(server), desk.Registry, params)
				if err != nil {
					t.Fatal(err)
				}
				model.Stream = streamed
				events := 0
				model.OnEvent = func(sdk.MessageStreamEventUnion) { events++ }
				desk.Play(t, model)
				for n, want := range map[int][]string{
					0: {`"name":"case_open"`, `"type":"object"`, `"additionalProperties":false`, wiretest.Request},
					1: {`"tool_use_id":"toolu_0_0","is_error":false,`, `"tool_use_id":"toolu_0_1","is_error":true,`, `\"reason\":\"prerequisite_missing\"`},
					3: {`\"artifact\":{\"sha256\":\"`},
					4: {`the run cannot end yet: call case_close first`},
				} {
					for _, text := range want {
						if !strings.Contains(server.Sent[n], text) {
							t.Errorf("request %d has no %s:\n%s", n, text, server.Sent[n])
						}
					}
				}
				if strict := strings.Contains(server.Sent[0], `"strict":true`); strict != (d == dialect.AnthropicStrict) || (events > 0) != streamed {
					t.Errorf("strict %t, %d events", strict, events)
				}
			})
		}
	}
}

// TestStrictIsAskedFor: New does not ask for strict mode, NewIn does with its dialect.
func TestStrictIsAskedFor(t *testing.T) {
	desk := wiretest.NewDesk(t)
	for want, open := range map[bool]func(sdk.Client) (*anthropic.Model, error){
		false: func(c sdk.Client) (*anthropic.Model, error) { return anthropic.New(c, desk.Registry, params) },
		true: func(c sdk.Client) (*anthropic.Model, error) {
			return anthropic.NewIn(dialect.AnthropicStrict, c, desk.Registry, params)
		},
	} {
		server := wiretest.Serve(t, message(0, wiretest.Step{Text: "Done."}))
		model, err := open(client(server))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := model.Next(t.Context(), []models.Message{{Role: models.User, Text: "Help."}}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(server.Sent[0], `"strict"`) != want {
			t.Errorf("strict mode is to be asked for: %t\n%s", want, server.Sent[0])
		}
	}
}

// one lets a model answer once, and returns what it said.
func one(t *testing.T, streamed bool, body string) (models.Message, error) {
	t.Helper()
	desk := wiretest.NewDesk(t)
	model, err := anthropic.New(client(wiretest.Serve(t, body)), desk.Registry, params)
	if err != nil {
		t.Fatal(err)
	}
	model.Stream = streamed
	return model.Next(t.Context(), []models.Message{{Role: models.User, Text: "Help."}})
}

// adapter is the adapter by messages, or by streams.
func adapter(streamed bool) wiretest.Adapter {
	write := message
	if streamed {
		write = stream
	}
	return wiretest.Adapter{
		Write: write, Decoded: !streamed, Failed: `"is_error":true`,
		Model: func(t testing.TB, s *wiretest.Server, reg *runtime.Registry) models.Model {
			model, err := anthropic.New(client(s), reg, params)
			if err != nil {
				t.Fatal(err)
			}
			model.Stream = streamed
			return model
		},
	}
}

func TestExchanges(t *testing.T) {
	t.Run("messages", adapter(false).Exchanges)
	t.Run("streamed", adapter(true).Exchanges)
}

// TestDuplicateNames: a name that is there twice reaches the decoder.
func TestDuplicateNames(t *testing.T) {
	step := wiretest.Calls("refund", `{"order":"1017","cents":9007199254740993,"cents":1}`)
	for _, streamed := range []bool{false, true} {
		m, err := one(t, streamed, adapter(streamed).Write(0, step))
		if err != nil || string(m.Calls[0].Input) != step.Calls[0].Args {
			t.Errorf("the arguments are %s, want %s: %v", m.Calls[0].Input, step.Calls[0].Args, err)
		}
	}
}

// TestBrokenArgumentsOfOneID: of two calls with one id, the one whose streamed arguments are not JSON is refused.
func TestBrokenArgumentsOfOneID(t *testing.T) {
	step := wiretest.Calls("order_find", `{"order":"1017"}`, "order_find", `{"order":`)
	for n, ids := range [][]string{{"x", "x"}, {"", ""}} {
		step.IDs = ids
		m, err := one(t, true, stream(n, step))
		if err != nil || len(m.Calls) != 2 {
			t.Fatalf("%v, %v", m, err)
		}
		for i, c := range m.Calls {
			if string(c.Input) != step.Calls[i].Args {
				t.Errorf("%q: the arguments of call %d are %s", ids, i, c.Input)
			}
		}
	}
}

// TestToolsReadTheTextOfArguments: a name that is there twice reaches the decoder, which refuses it, where the program hands
// over the text. The runner of the SDK has decoded it.
func TestToolsReadTheTextOfArguments(t *testing.T) {
	desk := wiretest.NewDesk(t)
	tools, err := models.Definitions(desk.Registry, dialect.Anthropic)
	if err != nil {
		t.Fatal(err)
	}
	turn := desk.Run.Turn(engine.TurnConfig{})
	for _, tool := range anthropic.BetaTools(tools, func() *engine.Turn { return turn }) {
		if tool.Name() != "case_open" {
			continue
		}
		_, err := tool.Execute(t.Context(), json.RawMessage(`{"customer":"Ida","customer":"Bob"}`))
		if err == nil || !strings.Contains(err.Error(), `"reason":"invalid_input"`) {
			t.Errorf("%v", err)
		}
	}
	if got, want := desk.Journal(t), "case_open: invoked denied invalid_input\n"; got != want {
		t.Errorf("the journal has %q, want %q", got, want)
	}
}

// TestBrokenStream: of a stream that ends in the middle, nothing runs.
func TestBrokenStream(t *testing.T) {
	whole := stream(0, wiretest.Script[0])
	for _, mark := range []string{"input_json_delta", "message_delta", "message_stop"} {
		end := strings.LastIndex(whole[:strings.LastIndex(whole, mark)], "event:")
		m, err := one(t, true, whole[:end])
		if err == nil || len(m.Calls) > 0 {
			t.Errorf("before %s: %v, %v", mark, m, err)
		}
	}
	cut := strings.Replace(message(0, wiretest.Script[0]), `"tool_use","usage"`, `"max_tokens","usage"`, 1)
	m, err := one(t, false, cut)
	if err != nil || len(m.Refused) != 2 || !strings.Contains(m.Refused[0].Text, "cut off") {
		t.Errorf("the answer at the limit of tokens: %v, %v", m, err)
	}
}

// TestRetry: a message that comes again, because its results got lost, runs nothing again.
func TestRetry(t *testing.T) {
	desk := wiretest.NewDesk(t)
	step := wiretest.Calls("case_open", `{"customer":"Ida"}`)
	tools, err := models.Definitions(desk.Registry, dialect.Anthropic)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for range 2 {
		var m sdk.Message
		if err := json.Unmarshal([]byte(message(0, step)), &m); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, models.Dispatch(t.Context(), desk.Run.Turn(engine.TurnConfig{}), anthropic.Calls(tools, &m))[0].Text)
	}
	if n := desk.Run.Status().Invocations["case_open"]; n != 1 || texts[0] != texts[1] {
		t.Errorf("%d invocations, %q", n, texts)
	}
}

func TestToolRunner(t *testing.T) {
	desk := wiretest.NewDesk(t)
	tools, err := models.Definitions(desk.Registry, dialect.Anthropic)
	if err != nil {
		t.Fatal(err)
	}
	steps := []wiretest.Step{
		wiretest.Calls("case_open", `{"customer":"Ida"}`),
		wiretest.Calls("order_find", `{"order":"1017"}`, "order_find", `{"order":"1"}`),
		wiretest.Calls("refund", `{"order":"1017","cents":9007199254740993}`),
		{Text: "Done."},
	}
	var bodies []string
	for n, s := range steps {
		bodies = append(bodies, message(n, s))
	}
	server := wiretest.Serve(t, bodies...)
	turn := desk.Run.Turn(engine.TurnConfig{})
	c := client(server)
	runner := c.Beta.Messages.NewToolRunner(anthropic.BetaTools(tools, func() *engine.Turn { return turn }), sdk.BetaToolRunnerParams{
		BetaMessageNewParams: sdk.BetaMessageNewParams{
			Model: "m", MaxTokens: 100, Messages: []sdk.BetaMessageParam{sdk.NewBetaUserMessage(sdk.NewBetaTextBlock("Help."))},
		},
	})
	if _, err := runner.RunToCompletion(t.Context()); err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int][]string{
		1: {`{\"outcome\":\"completed\",\"output\":{\"case\":1}}`},
		2: {`{\"paid\":4900,\"refunded\":0}`, `\"reason\":\"invalid_input\"`, `"is_error":true`},
		3: {`/cents: the number 9007199254740992 may have lost digits`},
	} {
		for _, text := range want {
			if !strings.Contains(server.Sent[n], text) {
				t.Errorf("request %d has no %s:\n%s", n, text, server.Sent[n])
			}
		}
	}
}

// TestDialectIsAFixpointOfTheSDK: the transform of the SDK changes nothing of a strict schema.
func TestDialectIsAFixpointOfTheSDK(t *testing.T) {
	all, err := samples.Everything("../../..", 200)
	if err != nil {
		t.Fatal(err)
	}
	strict := 0
	for _, sample := range all {
		s, err := dialect.Rewrite(sample.Schema, dialect.AnthropicStrict)
		if err != nil {
			t.Fatal(err)
		}
		if !s.Strict {
			continue
		}
		strict++
		var schema map[string]any
		if err := json.Unmarshal(s.JSON, &schema); err != nil {
			t.Fatal(err)
		}
		if got := sdk.BetaToolInputSchema(schema).ExtraFields; !reflect.DeepEqual(got, schema) {
			t.Errorf("%s: %v became %v", sample.Name, schema, got)
		}
	}
	t.Logf("%d of %d schemas are strict", strict, len(all))
	if strict < 100 {
		t.Errorf("only %d schemas are strict", strict)
	}
}

// TestLinksOneSDK: a program with one adapter links one SDK.
func TestLinksOneSDK(t *testing.T) { wiretest.LinksOne(t, "github.com/anthropics/") }

// TestNewcomer: a new application has a program in which a model of this provider works.
func TestNewcomer(t *testing.T) {
	wiretest.Start(t, "anthropic", message, "ANTHROPIC_API_KEY=none", "ANTHROPIC_BASE_URL=SERVER")
}

// TestAllocations: of a call, from the message that the SDK has decoded to what the SDK sends.
func TestAllocations(t *testing.T) {
	tools, err := models.Definitions(wiretest.NewDesk(t).Registry, dialect.Anthropic)
	if err != nil {
		t.Fatal(err)
	}
	var m sdk.Message
	if err := json.Unmarshal([]byte(message(0, wiretest.Calls("refund", `{"order":"1017","cents":4900}`))), &m); err != nil {
		t.Fatal(err)
	}
	wiretest.Allocations(t, func(r models.Result) {
		if len(anthropic.Calls(tools, &m)) != 1 || len(anthropic.Results([]models.Result{models.ResultOf(r.Outcome)}).Content) != 1 {
			t.Error("the call is lost")
		}
	}, func() { _ = m.Content[1].AsAny() })
}
