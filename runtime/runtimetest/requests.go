package runtimetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// TestRequests tests how a journal finds requests for consent against the contract of [journal.Requester]. The
// journal is one.
func TestRequests(t *testing.T, open Opener) {
	t.Run("one request", func(t *testing.T) { testOneRequest(t, open) })
	t.Run("many requests", func(t *testing.T) { testManyRequests(t, open) })
}

// noon is when the requests are made.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// An asking appends entries that tell of requests.
type asking struct {
	t      *testing.T
	j      journal.Journal
	reopen func() journal.Journal
	all    []journal.Entry
}

// add appends one entry of a session with events.
func (a *asking) add(session string, events ...consent.Event) uint64 {
	a.t.Helper()
	seq := uint64(len(a.all) + 1)
	e, err := journal.NewEntry(seq, &journal.Record{Kind: journal.KindConsent, At: noon, Session: session, Consent: events}, nil)
	if err != nil {
		a.t.Fatal(err)
	}
	a.all = append(a.all, e)
	appendAll(a.t, a.j, e)
	return seq
}

// find returns what a journal finds, which the journal that is opened again finds too.
func (a *asking) find(f journal.RequestFilter) []journal.Request {
	a.t.Helper()
	var found [2][]journal.Request
	for i := range found {
		list, err := a.j.(journal.Requester).Requests(a.t.Context(), f)
		if err != nil {
			a.t.Fatalf("Requests(%+v): %v", f, err)
		}
		found[i] = list
		if i == 0 && len(a.all)%8 == 0 {
			a.j = a.reopen()
		}
	}
	if a, b := fmt.Sprint(found[0]), fmt.Sprint(found[1]); a != b {
		panic("opened again: " + b + ", want " + a)
	}
	return found[0]
}

// want compares the ids that are found.
func (a *asking) want(f journal.RequestFilter, ids ...string) {
	a.t.Helper()
	var got []string
	for _, r := range a.find(f) {
		got = append(got, r.ID)
	}
	if !slices.Equal(got, ids) {
		a.t.Fatalf("Requests(%+v): %q, want %q", f, got, ids)
	}
}

// asked is the event of a request that waits for an hour.
func asked(session, id, call string) consent.Event {
	return consent.Event{Kind: consent.EventAsked, At: noon, Request: id, Call: call, Asked: &consent.Request{ID: id, Session: session, CallID: call, Expires: noon.Add(time.Hour)}}
}

// answered is the event of an approval, which gives a grant until a time; nil: it gives none.
func answered(id, call string, until *time.Time) consent.Event {
	e := consent.Event{Kind: consent.EventAnswered, At: noon, Request: id, Call: call, Result: &consent.Result{Resolution: runtime.ResolutionAccepted, Approve: true, Status: consent.StatusApproved}}
	if until != nil {
		e.Result.Granted = &consent.Grant{ID: id, Expires: *until}
	}
	return e
}

func testOneRequest(t *testing.T, open Opener) {
	j, reopen := open(t)
	a := &asking{t: t, j: j, reopen: reopen}
	waiting, ended := journal.RequestFilter{At: noon, Waiting: true}, journal.RequestFilter{At: noon, Ended: true}
	granted, live := journal.RequestFilter{At: noon, Granted: true}, journal.RequestFilter{At: noon, Live: true}
	for _, f := range []journal.RequestFilter{{}, waiting, ended, granted, live, {Retired: true}} {
		a.want(f)
	}
	a.add("s")
	a.add("s", asked("s", "q", "c"))
	a.want(waiting, "q")
	a.want(ended)
	a.want(journal.RequestFilter{At: noon.Add(time.Hour), Waiting: true})
	a.want(journal.RequestFilter{At: noon.Add(time.Hour), Ended: true}, "q")
	a.add("s", consent.Event{Kind: consent.EventAnswered, Request: "q", Call: "c", Result: &consent.Result{Rejection: consent.NotPermitted}}) // changes nothing
	a.add("s", consent.Event{Kind: consent.EventReminded, Request: "q", Call: "c"})
	a.add("s", consent.Event{Kind: consent.EventAnswered, Request: "q", Call: "c", Result: &consent.Result{Resolution: runtime.ResolutionRecorded, Approve: true}})
	a.want(waiting, "q")
	until := noon.Add(time.Minute)
	a.add("s", answered("q", "c", &until))
	a.want(waiting)
	a.want(ended, "q")
	a.want(live, "q")
	a.want(journal.RequestFilter{At: until, Live: true})
	a.want(journal.RequestFilter{At: until, Granted: true}, "q")
	a.add("s", consent.Event{Kind: consent.EventUsed, Request: "q", Call: "c"})
	for range 3 {
		a.add("s", consent.Event{Kind: consent.EventGrantUsed, Grant: "q", Call: "c2"})
	}
	a.want(live, "q")
	if got := a.find(live)[0]; !slices.Equal(got.Entries(), []uint64{2, 4, 5, 6, 7, 10}) || got.Session != "s" || got.Call != "c" || !got.Until.Equal(until) || !got.Expires.Equal(noon.Add(time.Hour)) {
		t.Fatalf("the request is %+v", got)
	}
	a.add("s", consent.Event{Kind: consent.EventRevoked, Grant: "q", Call: "c", Result: &consent.Result{Rejection: consent.NotPermitted}})
	a.want(live, "q")
	a.add("s", consent.Event{Kind: consent.EventRevoked, Grant: "q", Call: "c", Result: &consent.Result{Resolution: runtime.ResolutionAccepted}})
	a.want(live)
	a.want(granted, "q")
	a.add("", consent.Event{Kind: consent.EventRetired, Retired: []consent.Rule{{Tool: "t", Code: "r"}}}, consent.Event{Kind: consent.EventOff, Until: until})
	a.want(journal.RequestFilter{}, "q")
	if got := a.find(journal.RequestFilter{Retired: true}); len(got) != 1 || !slices.Equal(got[0].Entries(), []uint64{13}) {
		t.Fatalf("the retirements are %+v", got)
	}
	testEndings(t, a)
	testFound(t, a)
}

// testEndings ends requests and grants in every way.
func testEndings(t *testing.T, a *asking) {
	for i, c := range []struct {
		event   consent.Event
		granted bool // a grant was given before
		live    bool // and answers afterwards
	}{
		{consent.Event{Kind: consent.EventExpired}, false, false},
		{consent.Event{Kind: consent.EventCancelled}, false, false},
		{consent.Event{Kind: consent.EventAnswered, Result: &consent.Result{Resolution: runtime.ResolutionAccepted, Status: consent.StatusDenied}}, false, false},
		{answered("", "", nil), false, false},
		{consent.Event{Kind: consent.EventMismatch, Changed: []consent.Change{consent.ChangedArgs}}, true, false},
		{consent.Event{Kind: consent.EventMismatch, Changed: []consent.Change{consent.ChangedExpired}}, true, true},
		{consent.Event{Kind: consent.EventCancelled}, true, true},
	} {
		id := fmt.Sprint("e", i)
		a.add("s", asked("s", id, "c"))
		if c.granted {
			a.add("s", answered(id, "c", new(time.Time)))
		} else {
			a.want(journal.RequestFilter{At: noon, Waiting: true}, id)
		}
		c.event.Request = id
		a.add("s", c.event)
		a.want(journal.RequestFilter{At: noon, Waiting: true})
		got := slices.ContainsFunc(a.find(journal.RequestFilter{At: noon.AddDate(99, 0, 0), Live: true}), func(r journal.Request) bool { return r.ID == id })
		if got != c.live {
			t.Fatalf("%s: the grant answers: %v, want %v", c.event.Kind, got, c.live)
		}
	}
}

// testFound finds requests by their ids and calls.
func testFound(_ *testing.T, a *asking) {
	a.add("s", asked("s", "abc", "call1"), asked("s", "abd", "call2"))
	a.add("t", asked("t", "abd", "call1"))
	a.want(journal.RequestFilter{ID: "abc"}, "abc")
	a.want(journal.RequestFilter{ID: "ab"})
	a.want(journal.RequestFilter{ID: "ab", Prefix: true}, "abd", "abd", "abc")
	a.want(journal.RequestFilter{Call: "call1"}, "abd", "abc")
	a.want(journal.RequestFilter{Call: "call1", Session: "s"}, "abc")
	a.want(journal.RequestFilter{Call: "call", Session: "s", Prefix: true}, "abd", "abc")
	a.want(journal.RequestFilter{Limit: 1}, "abd")
	a.want(journal.RequestFilter{At: noon, Waiting: true, Limit: 2, Before: uint64(len(a.all))}, "abd", "abc")
	a.want(journal.RequestFilter{Before: 3}, "q")
}

// testManyRequests compares what is found with what all entries say.
func testManyRequests(t *testing.T, open Opener) {
	j, reopen := open(t)
	a := &asking{t: t, j: j, reopen: reopen}
	r := rand.New(rand.NewPCG(1, 2))
	model := map[string]*journal.Request{}
	for i := range 400 {
		session, id := fmt.Sprint("s", r.IntN(3)), fmt.Sprint("q", r.IntN(40))
		until := noon.Add(time.Duration(r.IntN(5)-1) * time.Hour)
		e := consent.Event{Kind: []consent.EventKind{consent.EventReminded, consent.EventExpired, consent.EventUsed, consent.EventGrantUsed, consent.EventCancelled, consent.EventMismatch}[r.IntN(6)], Request: id, Call: "c"}
		switch r.IntN(4) {
		case 0:
			id = fmt.Sprint("n", i)
			e = asked(session, id, fmt.Sprint("c", i%9))
		case 1:
			e = answered(id, "c", &until)
		}
		seq := a.add(session, e)
		for _, c := range journal.RequestChanges(&a.all[seq-1]) {
			key := session + "/" + c.ID
			if model[key] == nil {
				model[key] = &journal.Request{Session: session, ID: c.ID}
			}
			model[key].Add(seq, &c)
		}
		if i%50 != 49 {
			continue
		}
		for _, f := range []journal.RequestFilter{
			{}, {At: noon, Waiting: true}, {At: noon, Ended: true}, {At: noon, Granted: true}, {At: noon, Live: true}, {At: noon.Add(2 * time.Hour), Live: true},
			{Session: "s1", Call: "c"}, {Call: "c", Prefix: true}, {ID: "q1", Prefix: true}, {Before: seq / 2}, {At: noon, Ended: true, Before: seq / 2},
		} {
			var want []string
			for _, q := range model {
				if f.Matches(q) {
					want = append(want, fmt.Sprintf("%020d %s %v %d", q.Asked(), q.ID, q.Steps, q.Used))
				}
			}
			slices.Sort(want)
			slices.Reverse(want)
			for n, q := range a.find(f) {
				if got := fmt.Sprintf("%020d %s %v %d", q.Asked(), q.ID, q.Steps, q.Used); n >= len(want) || got != want[n] {
					t.Fatalf("Requests(%+v): %s at %d, want %q", f, got, n, want)
				}
			}
			f.Limit = 7
			if got := len(a.find(f)); got != min(7, len(want)) {
				t.Fatalf("Requests(%+v): %d, want %d", f, got, min(7, len(want)))
			}
		}
	}
}
