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
	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host/terminal"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/models"
)

// A Call is a call of the scripted model.
type Call struct{ Tool, Args string }

// A Step is a message of the scripted model: a text, or calls.
type Step struct {
	Text  string
	Calls []Call
	IDs   []string // of Calls; nil: those that the provider of the wire format would give
}

// ID returns the id of a call, or that which the provider would give.
func (s Step) ID(call int, given string) string {
	if s.IDs == nil {
		return given
	}
	return s.IDs[call]
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
// for consent and is approved, an unknown tool, an artifact, arguments that break the schema, a
// reminder, the end.
var Script = []Step{
	{Calls: []Call{{"case_open", `{"customer":"Ida <ida@example.com>"}`}, {"refund", `{"order":"1017","cents":4900}`}}},
	{Calls: []Call{{"order_find", `{"order":"1017"}`}, {"refund", `{"order":"1017","cents":4900}`}}},
	{Calls: []Call{{"coffee_make", `{}`}, {"order_history", `{"order":"1017"}`}, {"order_find", `{"order":"17","more":true}`}}},
	{Text: "Done."},
	{Calls: []Call{{"reply", `{"text":"Here you are."}`}}},
	{Calls: []Call{{"case_close", `{"note":"Order 1017 came broken."}`}}},
}

// results are the outcomes of the calls of Script, in their order.
const results = "completed, denied prerequisite_missing, completed, completed, denied unknown_tool, completed, denied invalid_input, completed, completed"

// A Server plays the part of a provider.
type Server struct {
	URL  string
	Sent []string // the bodies of the requests, in their order
}

// Cut at the end of a body breaks the connection there, before the response is whole.
const Cut = "\x00cut"

// Serve returns a server that answers the requests with bodies, one after the other. A body that
// begins with "event:" or "data:" is a stream. The connection breaks where a body ends with Cut.
func Serve(t testing.TB, bodies ...string) *Server {
	t.Helper()
	s := &Server{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked, _ := io.ReadAll(r.Body)
		n := len(s.Sent)
		s.Sent = append(s.Sent, string(asked))
		if n >= len(bodies) {
			http.Error(w, "the script is over", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if strings.HasPrefix(bodies[n], "event:") || strings.HasPrefix(bodies[n], "data:") {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		body, broken := strings.CutSuffix(bodies[n], Cut)
		io.WriteString(w, body) //nolint:errcheck // the client says what it got
		if broken {
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// A Desk is the service desk of examples/agent_loop with a run and a journal.
type Desk struct {
	Executor *engine.Executor
	Registry *runtime.Registry
	Run      *engine.Run
	journal  journal.Memory
}

// NewDesk returns a desk whose run is open, with a manager who approves.
func NewDesk(t testing.TB) *Desk {
	t.Helper()
	manager := terminal.Func(func(context.Context, *consent.Notice) (action.Answer, bool) {
		return action.Answer{By: runtime.ProgramActor("manager"), Approve: true}, true
	})
	d := open(t, engine.WithApprover(manager))
	serving, stop := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = manager.Serve(serving, d.Executor) // it ends with serving
	}()
	t.Cleanup(func() {
		stop()
		<-over
	})
	return d
}

// NewPolledDesk returns a desk whose run is open. The test answers the requests for consent by
// Executor.Decide.
func NewPolledDesk(t testing.TB) *Desk {
	t.Helper()
	return open(t, engine.WithPendingRequests())
}

// open returns a desk with an open run.
func open(t testing.TB, consent engine.Option) *Desk {
	t.Helper()
	d := &Desk{}
	exec, err := agent.Setup(consent, engine.WithJournal(&d.journal))
	if err != nil {
		t.Fatal(err)
	}
	d.begin(t, exec)
	return d
}

// begin opens a run of an executor. The executor is shut down when the test is over.
func (d *Desk) begin(t testing.TB, exec *engine.Executor) {
	t.Helper()
	err := exec.Recover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := exec.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	d.Executor, d.Registry = exec, exec.Registry()
	if d.Run, err = exec.Session(engine.SessionConfig{Principal: "agent"}).StartRun(t.Context(), engine.RunConfig{}); err != nil {
		t.Fatal(err)
	}
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
	d.CheckEnd(t, status)
	var outcomes []string
	for _, r := range all {
		outcomes = append(outcomes, strings.TrimSpace(fmt.Sprint(r.Outcome.Kind, " ", r.Outcome.Reason)))
	}
	if got := strings.Join(outcomes, ", "); got != results {
		t.Errorf("the results are %s\nwant %s", got, results)
	}
	return all
}

// CheckEnd checks that a run is finished, and that the journal is that of Script.
func (d *Desk) CheckEnd(t testing.TB, status engine.RunStatus) {
	t.Helper()
	if status.State != runtime.RunFinished {
		t.Errorf("the run is %v", status.State)
	}
	if got := d.Journal(t); got != Journal {
		t.Errorf("the journal has\n%swant\n%s", got, Journal)
	}
}

// Journal returns what the journal has of each call, by tool: its events, the arguments that the handler
// ran with, why the call was denied, and the output that is no artifact.
func (d *Desk) Journal(t testing.TB) string {
	t.Helper()
	var order []string
	lines := map[string]string{}
	for _, r := range d.records(t) {
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
		var outcome struct{ Reason string }
		if r.Outcome != nil {
			if err := json.Unmarshal(r.Outcome, &outcome); err != nil {
				t.Fatal(err)
			}
		}
		if outcome.Reason != "" {
			lines[r.Call] += " " + outcome.Reason
		}
		if r.Output != nil && r.Artifact == nil {
			lines[r.Call] += string(r.Output.Value)
		}
	}
	var b strings.Builder
	for _, id := range order {
		b.WriteString(lines[id] + "\n")
	}
	return b.String()
}

// Journal is what the journal has after Script, by whichever adapter and in each exchange: Desk.CheckEnd
// compares it. The modules of the providers and the examples with frameworks all play Script.
const Journal = `case_open: invoked validated{"customer":"Ida <ida@example.com>"} authorized started completed{"case":1}
refund: invoked validated{"order":"1017","cents":4900} denied prerequisite_missing
order_find: invoked validated{"order":"1017"} authorized started completed{"paid":4900,"refunded":0}
refund: invoked validated{"order":"1017","cents":4900} approval.requested approval.decided authorized started completed{"refunded":4900}
coffee_make: invoked denied unknown_tool
order_history: invoked validated{"order":"1017"} authorized started completed
order_find: invoked denied invalid_input
reply: invoked validated{"text":"Here you are."} authorized started completed{}
case_close: invoked validated{"note":"Order 1017 came broken."} authorized started completed{}
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

// Allocations fails when what an adapter does for one call allocates more than 40 times beyond the SDK:
// once is what it does with the call and with its result, own is what the SDK does of that, nil for
// nothing. The race detector adds some.
func Allocations(t *testing.T, once func(models.Result), own func()) {
	t.Helper()
	result := models.ResultOf(runtime.Outcome{CallID: "1", Tool: "refund", Kind: runtime.Completed, Output: []byte(`{"refunded":4900}`)})
	n := testing.AllocsPerRun(100, func() { once(result) })
	if own != nil {
		n -= testing.AllocsPerRun(100, own)
	}
	t.Logf("%v allocations", n)
	most := 40.0
	if battery.Race {
		most = 50
	}
	if n > most {
		t.Errorf("%v allocations a call, want at most %v", n, most)
	}
}
