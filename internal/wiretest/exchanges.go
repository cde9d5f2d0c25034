package wiretest

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/models"
)

// An Adapter connects a model by one wire format of a provider.
type Adapter struct {
	Write func(n int, s Step) string // writes a step in the wire format, whatever its arguments are
	Model func(t testing.TB, s *Server, reg *runtime.Registry) models.Model

	Decoded bool   // arguments are JSON within the JSON of the message: when they are broken, the message is
	Rounds  bool   // the SDK reads numbers as float64
	Nulls   bool   // the model has to write null for what it leaves out
	Failed  string // how the wire format says that a call did not do what it was for; empty: the text alone says it
}

// Exchanges holds the adapter to every exchange that all adapters have in common.
func (a Adapter) Exchanges(t *testing.T) {
	t.Run("script", a.script)
	t.Run("pending, then approved", a.pending)
	t.Run("retry after a dropped response", a.dropped)
	t.Run("retry after lost results", a.lost)
	t.Run("ids of calls", a.ids)
	if !strings.HasPrefix(a.Write(0, Script[0]), "{") { // a response that is no stream is cut by dropped
		t.Run("broken stream", a.broken)
	}
	t.Run("bad JSON", a.badJSON)
	t.Run("digits", a.digits)
	t.Run("nulls and aliases", a.nulls)
	t.Run("offered tools", a.offered)
}

// bodies are the responses to steps.
func (a Adapter) bodies(steps ...Step) []string {
	var out []string
	for n, s := range steps {
		out = append(out, a.Write(n, s))
	}
	return out
}

func (a Adapter) script(t *testing.T) {
	d := NewDesk(t)
	all := d.Play(t, a.Model(t, Serve(t, a.bodies(Script...)...), d.Registry))
	for n, want := range told {
		if n >= len(all) || !strings.Contains(all[n].Text, want) {
			t.Errorf("result %d has no %s: %v", n, want, all)
		}
	}
}

// told is what the model is told of the calls of Script, in their order.
var told = []string{
	`{"outcome":"completed","output":{"case":1}}`,
	`{"outcome":"denied","reason":"prerequisite_missing"`,
	`{"outcome":"completed","output":{"paid":4900,"refunded":0}}`,
	`{"outcome":"completed","output":{"refunded":4900}}`,
	`{"outcome":"denied","reason":"unknown_tool"`,
	`{"outcome":"completed","artifact":{`,
	`{"outcome":"denied","reason":"invalid_input"`,
	`{"outcome":"completed"`,
	`{"outcome":"completed"`,
}

// pending: the model is told that the refund waits, says that it waits too, and is told how it ended.
// The journal is the same as when the call was waited for.
func (a Adapter) pending(t *testing.T) {
	d := NewPolledDesk(t)
	server := Serve(t, a.bodies(slices.Insert(slices.Clone(Script), 2, Step{Text: "I wait for the manager."})...)...)
	var waited []models.Result
	loop := models.Loop{Run: d.Run, Model: a.Model(t, server, d.Registry), Wait: time.Nanosecond}
	loop.Saw = func(m models.Message) {
		for _, r := range m.Results {
			if r.Outcome.Kind == runtime.Pending {
				waited = append(waited, r)
				requests := d.Executor.Requests()
				if len(requests) != 1 || strings.Contains(d.Journal(t), "decided") {
					t.Errorf("%d requests\n%s", len(requests), d.Journal(t))
				}
				d.Executor.Decide(t.Context(), requests[0].ID, action.Answer{By: runtime.ProgramActor("manager"), Approve: true})
			}
		}
	}
	status, err := loop.Do(t.Context(), Request)
	if err != nil {
		t.Fatal(err)
	}
	d.CheckEnd(t, status)
	if len(waited) != 1 || !waited[0].IsError {
		t.Fatalf("%v", waited)
	}
	sent := strings.ReplaceAll(server.Sent[2], `\"`, `"`)
	for _, want := range []string{`"outcome":"pending"`, `"reason":"consent_required"`, `"` + waited[0].ID + `"`} {
		if !strings.Contains(sent, want) {
			t.Errorf("the model is not told %s:\n%s", want, sent)
		}
	}
	if n := strings.Count(sent, a.Failed); a.Failed != "" && n != 2 { // the refused one and this one
		t.Errorf("%d results have %s:\n%s", n, a.Failed, sent)
	}
	sent = strings.ReplaceAll(server.Sent[3], `\"`, `"`)
	if want := `The call ` + waited[0].ID + ` of refund has ended: {"outcome":"completed","output":{"refunded":4900}}`; !strings.Contains(sent, want) {
		t.Errorf("the model is not told %s:\n%s", want, sent)
	}
}

// A repeater is a program that asks the model again.
type repeater struct {
	models.Model
	broken int                  // responses that were not whole
	lost   func(models.Message) // makes the calls of the first response; nil: the first response is not whole
	t      testing.TB
}

func (r *repeater) Next(ctx context.Context, said []models.Message) (models.Message, error) {
	first, err := r.Model.Next(ctx, said)
	if r.lost == nil {
		if err == nil || len(first.Calls) > 0 {
			r.t.Errorf("of a response that is not whole the adapter made %v", first)
			return first, err
		}
		r.broken++
		return r.Model.Next(ctx, said)
	}
	if err != nil {
		return first, err
	}
	r.lost(first)
	again, err := r.Model.Next(ctx, said)
	if !reflect.DeepEqual(again, first) {
		r.t.Errorf("%v was %v", again, first)
	}
	return again, err
}

// repeated checks that a server got each request of Script twice.
func repeated(t *testing.T, s *Server) {
	t.Helper()
	if len(s.Sent) != 2*len(Script) {
		t.Fatalf("%d requests, want each of %d twice", len(s.Sent), len(Script))
	}
	for n := 0; n < len(s.Sent); n += 2 {
		if s.Sent[n] != s.Sent[n+1] {
			t.Errorf("request %d is\n%s\nand was\n%s", n/2, s.Sent[n+1], s.Sent[n])
		}
	}
}

// dropped: the connection breaks in the middle of each response, and the program repeats the request.
func (a Adapter) dropped(t *testing.T) {
	d := NewDesk(t)
	var bodies []string
	for _, body := range a.bodies(Script...) {
		bodies = append(bodies, body[:len(body)/2]+Cut, body)
	}
	server := Serve(t, bodies...)
	program := &repeater{Model: a.Model(t, server, d.Registry), t: t}
	d.Play(t, program)
	repeated(t, server)
	if program.broken != len(Script) {
		t.Errorf("%d responses were not whole", program.broken)
	}
}

// lost: the calls of each message were made when their results got lost. The program repeats the
// request and gets the same calls again.
func (a Adapter) lost(t *testing.T) {
	d := NewDesk(t)
	var bodies []string
	for _, body := range a.bodies(Script...) {
		bodies = append(bodies, body, body)
	}
	server := Serve(t, bodies...)
	made := 0
	program := &repeater{Model: a.Model(t, server, d.Registry), t: t, lost: func(m models.Message) {
		made += len(models.Dispatch(t.Context(), d.Run.Turn(engine.TurnConfig{}), m.Calls))
	}}
	all := d.Play(t, program)
	repeated(t, server)
	if made != len(told) || len(all) != made {
		t.Errorf("%d calls were made, and %d again", made, len(all))
	}
}

// broken: of a stream that ends before its message does, with or without an error of the connection, nothing runs.
func (a Adapter) broken(t *testing.T) {
	whole := a.Write(0, Script[0])
	events := strings.SplitAfter(whole, "\n\n")
	events = events[:len(events)-1]
	d := NewDesk(t)
	ask := func(body string) {
		t.Helper()
		server := Serve(t, body)
		loop := models.Loop{Run: d.Run, Model: a.Model(t, server, d.Registry)}
		if _, err := loop.Do(t.Context(), Request); err == nil || len(server.Sent) != 1 || d.Journal(t) != "" {
			t.Errorf("%v after %s: %s", err, body, d.Journal(t))
		}
	}
	at := 0
	for n, event := range events {
		ask(whole[:at+len(event)/2] + Cut)
		if n < len(events)-1 && !strings.HasPrefix(events[n+1], "data: [DONE]") {
			ask(whole[:at+len(event)])
		}
		at += len(event)
	}
}

// one lets a model make one call, and returns its result and the last request.
func (n *Notes) one(t *testing.T, a Adapter, args string) (models.Result, string, error) {
	t.Helper()
	server := Serve(t, a.bodies(Calls("takeNote", args), Step{Text: "Done."})...)
	var results []models.Result
	loop := models.Loop{Run: n.Run, Model: a.Model(t, server, n.Registry), Saw: func(m models.Message) { results = append(results, m.Results...) }}
	if _, err := loop.Do(t.Context(), Request); err != nil {
		return models.Result{}, "", err
	}
	if len(results) != 1 || len(server.Sent) != 2 {
		t.Fatalf("%v", results)
	}
	return results[0], strings.ReplaceAll(server.Sent[1], `\"`, `"`), nil
}

// badJSON: arguments that are not JSON are refused, and the model is told so. They are not taken for
// arguments that are empty.
func (a Adapter) badJSON(t *testing.T) {
	for _, args := range []string{`{"text":`, `{"text":"a"}}`, `{}{"text":"a"`, `hello`} {
		n := NewNotes(t)
		r, sent, err := n.one(t, a, args)
		if len(n.Got) > 0 {
			t.Fatalf("%s: the tool ran with %v", args, n.Got)
		}
		if a.Decoded {
			if err == nil || n.Journal(t) != "" {
				t.Errorf("%s: a message that is not JSON is %v", args, r)
			}
			continue
		}
		if err != nil || !r.IsError || !strings.Contains(sent, `"reason":"invalid_input"`) || n.Journal(t) != "note: invoked denied invalid_input\n" {
			t.Errorf("%s: %v, %v\n%s\n%s", args, r, err, sent, n.Journal(t))
		}
	}
}

// digits: a number that no float64 has reaches the tool as the model wrote it, or is refused by name.
func (a Adapter) digits(t *testing.T) {
	n := NewNotes(t)
	args := `{"text":"a","count":9007199254740993,"also":null}`
	r, sent, err := n.one(t, a, args)
	if err != nil {
		t.Fatal(err)
	}
	if !a.Rounds {
		if r.IsError || len(n.Got) != 1 || n.Got[0] != args {
			t.Errorf("%v, the tool ran with %v", r, n.Got)
		}
		return
	}
	for _, want := range []string{`"reason":"invalid_input"`, `/count: the number 9007199254740992 may have lost digits`} {
		if !strings.Contains(sent, want) {
			t.Errorf("the model is not told %s:\n%s", want, sent)
		}
	}
	if len(n.Got) > 0 || n.Journal(t) != "" {
		t.Errorf("the tool ran with %v\n%s", n.Got, n.Journal(t))
	}
}

// nulls: null stands for what is left out only where the model has to write it, in the branches of a
// union too. The model calls the tool by its alias, and is told of it by that.
func (a Adapter) nulls(t *testing.T) {
	for written, restored := range map[string]string{
		`{"text":"a","count":1,"tag":null,"also":null}`:                                  `{"text":"a","count":1,"also":null}`,
		`{"text":"a","count":1,"tag":"b","also":null,"edit":{"kind":"put","with":null}}`: `{"text":"a","count":1,"tag":"b","also":null,"edit":{"kind":"put"}}`,
		`{"text":"a","count":1,"tag":null,"also":"b","edit":{"kind":"cut","with":null}}`: `{"text":"a","count":1,"also":"b","edit":{"kind":"cut","with":null}}`,
		`{"text":"a","count":1,"tag":"b","also":"b","edit":{"move":"c","with":null}}`:    `{"text":"a","count":1,"tag":"b","also":"b","edit":{"move":"c"}}`,
		`{"text":"a","count":1,"tag":"b","also":"b","edit":{"drop":"c","with":null}}`:    `{"text":"a","count":1,"tag":"b","also":"b","edit":{"drop":"c","with":null}}`,
	} {
		n := NewNotes(t)
		want := written
		if a.Nulls {
			want = restored
		}
		r, sent, err := n.one(t, a, written)
		if err != nil || r.IsError || len(n.Got) != 1 {
			t.Fatalf("%v, %v, %v", r, n.Got, err)
		}
		if !strings.Contains(sent, `"name":"takeNote"`) || strings.Contains(sent, `"name":"note"`) {
			t.Errorf("the tool is not called by its alias:\n%s", sent)
		}
		var got, wanted any
		if err := errors.Join(json.Unmarshal([]byte(n.Got[0]), &got), json.Unmarshal([]byte(want), &wanted)); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, wanted) {
			t.Errorf("the tool ran with %s, want %s", n.Got[0], want)
		}
	}
}
