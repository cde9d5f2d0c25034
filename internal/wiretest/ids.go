package wiretest

import (
	"slices"
	"strings"
	"testing"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/models"
)

// identified returns a step of calls of takeNote, by their ids and texts in turn.
func identified(pairs ...string) Step {
	s := Step{IDs: []string{}}
	for i := 0; i+1 < len(pairs); i += 2 {
		s.IDs = append(s.IDs, pairs[i])
		s.Calls = append(s.Calls, Call{"takeNote", `{"also":"` + pairs[i+1] + `","count":1,"text":"note"}`})
	}
	return s
}

// ids: the ids of calls begin again with each message, come twice in one, are empty, or long. Each call runs, once, in each
// conversation of the session, and its result answers it: by the id that the provider gave it, which the journal keeps, or by
// the one that the adapter put in the place of none.
func (a Adapter) ids(t *testing.T) {
	long := strings.Repeat("signature", 2000)
	steps := []Step{
		identified("call_0", "a"), identified("call_0", "a"), identified("call_0", "b", "call_1", "c"),
		identified("x", "d", "x", "e", "x", "d"), identified("", "f", "", "g", "", "f"), identified("", "f", "call_0", "a"),
		identified(long, "h", long+"y", "h"), {Text: "Done."},
	}
	n := NewNotes(t)
	var ran []string
	for conversation := range 2 {
		run, err := n.Executor.Session(engine.SessionConfig{ID: "notes", Principal: "agent"}).StartRun(t.Context(), engine.RunConfig{})
		if err != nil {
			t.Fatal(err)
		}
		server := Serve(t, a.bodies(steps...)...)
		var results []models.Result
		loop := models.Loop{Run: run, Model: a.Model(t, server, n.Registry), Saw: func(m models.Message) { results = append(results, m.Results...) }}
		if _, err := loop.Do(t.Context(), Request); err != nil {
			t.Fatal(err)
		}
		sent := server.Sent[len(server.Sent)-1]
		named := map[string]int{}
		at := 0
		for _, s := range steps {
			for i := range s.Calls {
				r := results[at]
				at++
				if r.Outcome.Kind != runtime.Completed || s.IDs[i] != "" && r.ID != s.IDs[i] || r.ID == "" {
					t.Errorf("the call %.20q of conversation %d has the result %v", s.IDs[i], conversation, r)
				}
				if slices.Contains(ran, r.Outcome.CallID) {
					t.Errorf("two calls have the id %s", r.Outcome.CallID)
				}
				ran = append(ran, r.Outcome.CallID)
				named[r.ID]++
				if s.IDs[i] == "" && named[r.ID] > 1 {
					t.Errorf("two calls without an id have %s", r.ID)
				}
			}
		}
		for id, calls := range named {
			if got := strings.Count(sent, Quote(id)); got != 2*calls { // in the call and in its result
				t.Errorf("%d calls have the id %.40q, which the last request has %d times", calls, id, got)
			}
		}
	}
	if len(n.Got) != len(ran) {
		t.Errorf("%d calls were made, and the tool ran %d times", len(ran), len(n.Got))
	}
	provided := map[string]int{}
	for _, r := range n.records(t) {
		if id := r.Metadata[models.ProviderID]; id != "" {
			provided[id[:min(len(id), 40)]]++
		}
	}
	if provided["call_0"] != 8 || provided["call_1"] != 2 || provided["x"] != 6 || provided[long[:40]] != 4 {
		t.Errorf("the journal has the ids %v", provided)
	}
}

// records returns the records of the journal.
func (d *Desk) records(t testing.TB) (list []*journal.Record) {
	t.Helper()
	entries, err := d.journal.Read(t.Context(), 0, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	for i := range entries {
		r, err := journal.Decode(entries[i].Leaf)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}
