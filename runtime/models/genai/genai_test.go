package genai_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	sdk "google.golang.org/genai"

	"github.com/ambit-tools/ambit/internal/wiretest"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/models"
	"github.com/ambit-tools/ambit/runtime/models/dialect"
	"github.com/ambit-tools/ambit/runtime/models/genai"
)

func client(t testing.TB, s *wiretest.Server) *sdk.Client {
	t.Helper()
	c, err := sdk.NewClient(t.Context(), &sdk.ClientConfig{APIKey: "none", Backend: sdk.BackendGeminiAPI, HTTPOptions: sdk.HTTPOptions{BaseURL: s.URL}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func candidate(finish string, parts ...string) string {
	return fmt.Sprintf(`{"candidates":[{"content":{"role":"model","parts":[%s]}%s}]}`, strings.Join(parts, ","), finish)
}

func parts(s wiretest.Step) []string {
	var out []string
	if s.Text != "" {
		out = append(out, `{"text":`+wiretest.Quote(s.Text)+`}`)
	}
	for i, c := range s.Calls {
		id := ""
		if s.IDs != nil {
			id = `"id":` + wiretest.Quote(s.IDs[i]) + `,`
		}
		out = append(out, fmt.Sprintf(`{"functionCall":{`+id+`"name":%s,"args":%s},"thoughtSignature":"c2ln"}`, wiretest.Quote(c.Tool), c.Args))
	}
	return out
}

const stop = `,"finishReason":"STOP"`

// answer writes a step as Gemini answers with: without ids.
func answer(_ int, s wiretest.Step) string { return candidate(stop, parts(s)...) }

// stream writes a step as a stream, a part at a time.
func stream(_ int, s wiretest.Step) string {
	var b strings.Builder
	for _, p := range parts(s) {
		b.WriteString("data: " + candidate("", p) + "\n\n")
	}
	b.WriteString("data: " + candidate(stop) + "\n\n")
	return b.String()
}

func TestConversation(t *testing.T) {
	for _, streamed := range []bool{false, true} {
		write := answer
		if streamed {
			write = stream
		}
		desk, server := wiretest.NewDesk(t), wiretest.Serve(t, wiretest.Texts(write)...)
		model, err := genai.New(client(t, server), desk.Registry, "m", nil)
		if err != nil {
			t.Fatal(err)
		}
		model.Stream = streamed
		seen := 0
		model.OnPart = func(*sdk.GenerateContentResponse) { seen++ }
		results := desk.Play(t, model)
		ids := map[string]bool{}
		for _, r := range results {
			ids[r.ID] = true
		}
		if len(ids) != len(results) || (seen > 0) != streamed {
			t.Errorf("%d ids for %d calls, %d parts", len(ids), len(results), seen)
		}
		for n, want := range map[int][]string{
			0: {`"parametersJsonSchema":{"additionalProperties":false`, `"case_open"`, wiretest.Request},
			1: {`"response":{"output":{`, `"response":{"error":{`, `"reason":"prerequisite_missing"`, `"thoughtSignature":"c2ln"`, `"id":"` + results[1].ID + `"`},
			3: {`"artifact":{`, `"sha256":"`, `"preview":{`},
			4: {`the run cannot end yet: call case_close first`},
		} {
			for _, text := range want {
				if !strings.Contains(server.Sent[n], text) {
					t.Errorf("request %d has no %s:\n%s", n, text, server.Sent[n])
				}
			}
		}
	}
}

func TestExchanges(t *testing.T) {
	for name, write := range map[string]func(int, wiretest.Step) string{"contents": answer, "streamed": stream} {
		model := func(t testing.TB, s *wiretest.Server, reg *runtime.Registry) models.Model {
			m, err := genai.New(client(t, s), reg, "m", nil)
			if err != nil {
				t.Fatal(err)
			}
			m.Stream = name == "streamed"
			return m
		}
		t.Run(name, wiretest.Adapter{Write: write, Model: model, Decoded: true, Rounds: true, Failed: `"response":{"error":{`}.Exchanges)
	}
}

// TestLostDigits: a number that the SDK has rounded is refused by name, and the other call runs.
func TestLostDigits(t *testing.T) {
	desk := wiretest.NewDesk(t)
	server := wiretest.Serve(t, answer(0, wiretest.Calls("case_open", `{"customer":"Ida"}`, "refund", `{"order":"1017","cents":9007199254740993}`)), answer(1, wiretest.Step{Text: "Done."}))
	model, err := genai.New(client(t, server), desk.Registry, "m", nil)
	if err != nil {
		t.Fatal(err)
	}
	var results []models.Result
	loop := models.Loop{Run: desk.Run, Model: model, MaxTurns: 2, Saw: func(m models.Message) { results = append(results, m.Results...) }}
	if _, err := loop.Do(t.Context(), wiretest.Request); !errors.Is(err, models.ErrNoEnd) {
		t.Fatal(err)
	}
	if len(results) != 2 || results[0].IsError || !strings.Contains(results[1].Text, `"reason":"invalid_input","message":"/cents: the number 9007199254740992`) {
		t.Errorf("%v", results)
	}
	if n := desk.Run.Status().Invocations["refund"]; n != 0 {
		t.Errorf("refund was called %d times", n)
	}
}

// TestBrokenStream: of an answer that is not whole, nothing runs.
func TestBrokenStream(t *testing.T) {
	desk := wiretest.NewDesk(t)
	ask := func(body string, streamed bool) (models.Message, error) {
		model, err := genai.New(client(t, wiretest.Serve(t, body)), desk.Registry, "m", &sdk.GenerateContentConfig{})
		if err != nil {
			t.Fatal(err)
		}
		model.Stream = streamed
		return model.Next(t.Context(), []models.Message{{Role: models.User, Text: "Help."}})
	}
	whole := stream(0, wiretest.Script[0])
	if m, err := ask(whole[:strings.LastIndex(whole, "data:")], true); err == nil {
		t.Errorf("%v", m)
	}
	if m, err := ask(strings.Replace(answer(0, wiretest.Script[0]), "STOP", "MAX_TOKENS", 1), false); err != nil || len(m.Refused) != 2 {
		t.Errorf("%v, %v", m, err)
	}
	if m, err := ask(`{"candidates":[]}`, false); err == nil {
		t.Errorf("%v", m)
	}
}

// TestUnreadableCalls: a call that Gemini could not read is an error that says so, and a call whose
// arguments come in parts is refused. Neither runs with the arguments that are there.
func TestUnreadableCalls(t *testing.T) {
	desk := wiretest.NewDesk(t)
	malformed := candidate(`,"finishReason":"MALFORMED_FUNCTION_CALL"`)
	opened := `{"functionCall":{"name":"case_open","args":{"customer":"Ida"}}}`
	inParts := candidate(stop, `{"functionCall":{"name":"case_open","args":{"customer":"Ida"},"willContinue":true}}`, `{"functionCall":{"name":"case_open","partialArgs":[{"jsonPath":"$.customer","stringValue":"Ida"}]}}`)
	for _, streamed := range []bool{false, true} {
		ask := func(body string) ([]models.Result, error) {
			if streamed {
				body = "data: " + body + "\n\n"
			}
			model, err := genai.New(client(t, wiretest.Serve(t, body)), desk.Registry, "m", nil)
			if err != nil {
				t.Fatal(err)
			}
			model.Stream = streamed
			var results []models.Result
			loop := models.Loop{Run: desk.Run, Model: model, MaxTurns: 1, Saw: func(m models.Message) { results = append(results, m.Results...) }}
			_, err = loop.Do(t.Context(), wiretest.Request)
			return results, err
		}
		for _, body := range []string{malformed, strings.Replace(malformed, `"parts":[]`, `"parts":[`+opened+`]`, 1)} {
			if _, err := ask(body); err == nil || !strings.Contains(err.Error(), "could not read (MALFORMED_FUNCTION_CALL)") {
				t.Errorf("%v", err)
			}
		}
		results, err := ask(inParts)
		if !errors.Is(err, models.ErrNoEnd) || len(results) != 2 {
			t.Fatalf("%v, %v", results, err)
		}
		for _, r := range results {
			if !strings.Contains(r.Text, `"reason":"invalid_input","message":"the arguments came in parts`) {
				t.Error(r.Text)
			}
		}
	}
	if got := desk.Journal(t); got != "" {
		t.Errorf("calls were made:\n%s", got)
	}
}

// TestIdsAreStable: the same message read again has the same ids, so that it does not run twice.
func TestIdsAreStable(t *testing.T) {
	desk := wiretest.NewDesk(t)
	tools, err := models.Definitions(desk.Registry, dialect.Gemini)
	if err != nil {
		t.Fatal(err)
	}
	content := &sdk.Content{Parts: []*sdk.Part{
		{FunctionCall: &sdk.FunctionCall{Name: "case_open", Args: map[string]any{"customer": "Ida"}}},
		{FunctionCall: &sdk.FunctionCall{Name: "order_find", Args: map[string]any{"order": "1017"}}},
	}}
	for range 2 {
		calls, refused := genai.Calls(tools, content, "conversation-7")
		if len(refused) > 0 || calls[0].ID != "conversation-7-0" || calls[1].ID != "conversation-7-1" {
			t.Fatalf("%v %v", calls, refused)
		}
		models.Dispatch(t.Context(), desk.Run.Turn(engine.TurnConfig{}), calls)
	}
	if n := desk.Run.Status().Invocations["case_open"]; n != 1 {
		t.Errorf("%d invocations", n)
	}
}

// TestLinksOneSDK: a program with one adapter links one SDK.
func TestLinksOneSDK(t *testing.T) { wiretest.LinksOne(t, "google.golang.org/genai") }

// TestNewcomer: a new application has a program in which a model of this provider works.
func TestNewcomer(t *testing.T) {
	wiretest.Start(t, "genai", answer, "GEMINI_API_KEY=none", "GOOGLE_API_KEY=", "GOOGLE_GEMINI_BASE_URL=SERVER")
}

// TestAllocations: of a call, from the message that the SDK has decoded to what the SDK sends.
func TestAllocations(t *testing.T) {
	tools, err := models.Definitions(wiretest.NewDesk(t).Registry, dialect.Gemini)
	if err != nil {
		t.Fatal(err)
	}
	content := &sdk.Content{Parts: []*sdk.Part{{FunctionCall: &sdk.FunctionCall{Name: "refund", Args: map[string]any{"order": "1017", "cents": 4900.0}}}}}
	wiretest.Allocations(t, func(r models.Result) {
		calls, refused := genai.Calls(tools, content, "conversation-7")
		if len(calls) != 1 || len(refused) > 0 || len(genai.Results([]models.Result{models.ResultOf(r.Outcome)}).Parts) != 1 {
			t.Error("the call is lost")
		}
	}, nil)
}
