// Package wiretest holds adapters to the same conversation: what a model says is played to them in
// the wire format of its provider, and results and journal must be the same for all.
package wiretest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"

	"github.com/ambit-tools/ambit/examples/agent_loop/agent"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/models"
	"github.com/ambit-tools/ambit/runtime/terminal"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A Call is a call of the scripted model.
type Call struct{ Tool, Args string }

// A Step is a message of the scripted model: a text, or calls.
type Step struct {
	Text  string
	Calls []Call
}

// Calls returns a step of calls, by tools and arguments in turn.
func Calls(pairs ...string) Step {
	var s Step
	for i := 0; i+1 < len(pairs); i += 2 {
		s.Calls = append(s.Calls, Call{pairs[i], pairs[i+1]})
	}
	return s
}

// Request is what the user asks for.
const Request = "Ida writes: order 1017 came broken."

// Script is the conversation: two calls in one message of which one is refused, a call that waits
// for consent and is approved, an unknown tool, arguments that break the schema, a reminder, the end.
var Script = []Step{
	{Calls: []Call{{"case_open", `{"customer":"Ida <ida@example.com>"}`}, {"refund", `{"order":"1017","cents":4900}`}}},
	{Calls: []Call{{"order_find", `{"order":"1017"}`}, {"refund", `{"order":"1017","cents":4900}`}}},
	{Calls: []Call{{"coffee_make", `{}`}, {"order_find", `{"order":"17","more":true}`}}},
	{Text: "Done."},
	{Calls: []Call{{"reply", `{"text":"Here you are."}`}}},
	{Calls: []Call{{"case_close", `{"note":"Order 1017 came broken."}`}}},
}

// results are the outcomes of the calls of Script, in their order.
const results = "completed, denied prerequisite_missing, completed, completed, denied unknown_tool, denied invalid_input, completed, completed"

// A Server plays the part of a provider.
type Server struct {
	URL  string
	Sent []string // the bodies of the requests, in their order
}

// Serve returns a server that answers the requests with bodies, one after the other. A body that
// begins with "event:" or "data:" is a stream.
func Serve(t testing.TB, bodies ...string) *Server {
	t.Helper()
	s := &Server{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		n := len(s.Sent)
		s.Sent = append(s.Sent, string(body))
		if n >= len(bodies) {
			http.Error(w, "the script is over", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if strings.HasPrefix(bodies[n], "event:") || strings.HasPrefix(bodies[n], "data:") {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		io.WriteString(w, bodies[n]) //nolint:errcheck // the client says what it got
	}))
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// A Desk is the service desk of examples/agent_loop with a run, a journal and a manager who approves.
type Desk struct {
	Registry *runtime.Registry
	Run      *engine.Run
	journal  journal.Memory
}

// NewDesk returns a desk whose run is open.
func NewDesk(t testing.TB) *Desk {
	t.Helper()
	manager := terminal.Func(func(context.Context, *runtime.ConsentRequest) (engine.Answer, bool) {
		return engine.Answer{By: "manager", Approve: true}, true
	})
	d := &Desk{}
	exec, err := agent.Setup(engine.WithApprover(manager), engine.WithJournal(&d.journal))
	if err != nil {
		t.Fatal(err)
	}
	if err := exec.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	serving, stop := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = manager.Serve(serving, exec) // it ends with serving
	}()
	t.Cleanup(func() {
		stop()
		<-over
		if err := exec.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	d.Registry = exec.Registry()
	if d.Run, err = exec.Session(engine.SessionConfig{Principal: "agent"}).StartRun(t.Context(), engine.RunConfig{}); err != nil {
		t.Fatal(err)
	}
	return d
}

// Optional returns a registry with the tool note, whose member tag may be left out and whose member
// also may be null.
func Optional() (*runtime.Registry, error) {
	schema := `{"type":"object","properties":{"text":{"type":"string"},"tag":{"type":"string"},"also":{"type":["string","null"]}},"required":["text","also"],"additionalProperties":false}`
	return runtime.NewRegistry(runtime.NewDynamicTool(&runtime.Spec{Name: "note", InputSchema: &schema}, anything{},
		func(context.Context, wire.Value) (wire.Value, error) { return wire.Raw(`{}`), nil }))
}

// anything decodes any JSON.
type anything struct{}

func (anything) Decode(b []byte, l wire.Limits) (wire.Value, []wire.Violation) {
	return wire.ParseRaw(b, l)
}

// Play lets a model work at the desk on Script, and checks the results and the journal.
func (d *Desk) Play(t testing.TB, model models.Model) []models.Result {
	t.Helper()
	var all []models.Result
	loop := models.Loop{Run: d.Run, Model: model, Saw: func(m models.Message) { all = append(all, m.Results...) }}
	status, err := loop.Do(t.Context(), Request)
	if err != nil {
		t.Fatal(err)
	}
	if status.State != runtime.RunFinished {
		t.Errorf("the run is %v", status.State)
	}
	var outcomes []string
	for _, r := range all {
		outcomes = append(outcomes, strings.TrimSpace(fmt.Sprint(r.Outcome.Kind, " ", r.Outcome.Reason)))
	}
	if got := strings.Join(outcomes, ", "); got != results {
		t.Errorf("the results are %s\nwant %s", got, results)
	}
	if got := d.Journal(t); got != Journal {
		t.Errorf("the journal has\n%swant\n%s", got, Journal)
	}
	return all
}

// Journal returns what the journal has of each call, by tool: its events, and the arguments that the
// handler ran with.
func (d *Desk) Journal(t testing.TB) string {
	t.Helper()
	entries, err := d.journal.Read(t.Context(), 0, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	lines := map[string]string{}
	for i := range entries {
		r, err := journal.Decode(entries[i].Leaf)
		if err != nil {
			t.Fatal(err)
		}
		if r.Call == "" {
			continue
		}
		if _, ok := lines[r.Call]; !ok {
			order = append(order, r.Call)
			lines[r.Call] = r.Tool + ":"
		}
		lines[r.Call] += " " + strings.TrimPrefix(r.Kind, "tool.")
		if r.Args != nil {
			lines[r.Call] += string(r.Args.Value)
		}
	}
	var b strings.Builder
	for _, id := range order {
		b.WriteString(lines[id] + "\n")
	}
	return b.String()
}

// Journal is what the journal has after Script.
const Journal = `case_open: invoked validated{"customer":"Ida <ida@example.com>"} authorized started completed
refund: invoked validated{"order":"1017","cents":4900} denied
order_find: invoked validated{"order":"1017"} authorized started completed
refund: invoked validated{"order":"1017","cents":4900} approval.requested approval.decided authorized started completed
coffee_make: invoked denied
order_find: invoked denied
reply: invoked validated{"text":"Here you are."} authorized started completed
case_close: invoked validated{"note":"Order 1017 came broken."} authorized started completed
`

// LinksOne fails when the package in the working folder links another SDK than that whose import paths
// begin with own.
func LinksOne(t testing.TB, own string) {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for line := range strings.Lines(string(out)) {
		for _, sdk := range []string{"github.com/anthropics/", "github.com/openai/", "google.golang.org/genai"} {
			if strings.HasPrefix(line, sdk) {
				found = found || sdk == own
				if sdk != own {
					t.Errorf("it links %s", strings.TrimSpace(line))
				}
			}
		}
	}
	if !found {
		t.Errorf("it does not link %s", own)
	}
}

// Texts returns the bodies that a provider answers Script with, by a function that writes a step in
// its wire format. n counts the messages.
func Texts(write func(n int, s Step) string) []string {
	var out []string
	for n, s := range Script {
		out = append(out, write(n, s))
	}
	return out
}

// Quote returns s as a JSON text.
func Quote(s string) string {
	b, _ := json.Marshal(s) // a text has a JSON form
	return string(b)
}
