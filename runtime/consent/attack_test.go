package consent_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// randomValue returns something that json.Marshal can write.
func randomValue(r *rand.Rand, depth int) any {
	switch n := r.IntN(8); {
	case n == 0:
		return r.IntN(2) == 0
	case n == 1:
		return nil
	case n <= 3:
		return json.Number(pick(r, fmt.Sprint(r.Int64()), fmt.Sprint(r.IntN(3)), fmt.Sprint(r.Float64()),
			fmt.Sprintf("118059162071741130342%d", r.IntN(10))))
	case n <= 5 || depth == 0:
		return pick(r, "", "a", "b", "ab", "a\u0000", "é", "e\u0301", "1", "null", strings.Repeat("x", r.IntN(300)))
	case n == 6:
		list := make([]any, r.IntN(4))
		for i := range list {
			list[i] = randomValue(r, depth-1)
		}
		return list
	}
	return randomObject(r, depth-1)
}

func randomObject(r *rand.Rand, depth int) map[string]any {
	m := map[string]any{}
	for range 1 + r.IntN(4) {
		m[pick(r, "a", "b", "c", "to", "sum", "")] = randomValue(r, depth)
	}
	return m
}

// mutate changes one place of a value; the result may be equal all the same.
func mutate(r *rand.Rand, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		names := make([]string, 0, len(v))
		for name, x := range v {
			out[name] = x
			names = append(names, name)
		}
		switch name := names[r.IntN(len(names))]; r.IntN(4) {
		case 0:
			delete(out, name)
		case 1:
			out[name+"x"] = out[name]
		default:
			out[name] = mutate(r, v[name])
		}
		return out
	case []any:
		out := append([]any(nil), v...)
		if len(out) == 0 || r.IntN(3) == 0 {
			return append(out, randomValue(r, 0))
		}
		i := r.IntN(len(out))
		out[i] = mutate(r, out[i])
		return out
	case string:
		return pick(r, v+"x", v+"\u0000", strings.TrimSuffix(v, "a"), "x"+v)
	case json.Number:
		digit := strings.TrimPrefix(string(v), "-")
		if strings.Contains(digit, ".") { // one more digit, maybe beyond what a float64 holds
			return json.Number(string(v) + "1")
		}
		return pick(r, any(json.Number("1"+digit)), any(string(v)), any(json.Number(fmt.Sprint(r.Int64()))))
	}
	return pick(r, any("null"), any("true"), any(json.Number("0")), any([]any{v}))
}

// SEMANTICS 5.2.3
func TestThousandChangesBetweenApprovalAndExecutionRunNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	changes := 0
	for changes < 1000 {
		before := randomObject(r, 3)
		after := mutate(r, before)
		if reflect.DeepEqual(before, after) {
			continue
		}
		changes++
		was, err := json.Marshal(before)
		require.NoError(t, err)
		is, err := json.Marshal(after)
		require.NoError(t, err)
		d := newDesk(t)
		q := question(string(was), approvers("alice"))
		id := d.ask(0, q)
		d.approve(1, id, "alice")
		c := q.Call
		c.Args = wire.Raw(is)
		e := d.use(2, id, c)
		require.Equal(t, consent.EventMismatch, e.Kind, "%s ran as %s", was, is)
		require.Equal(t, []consent.Change{consent.ChangedArgs}, e.Changed)
	}
}

// SEMANTICS 5.1.2
func TestOneOfTenRacingAnswersIsAccepted(t *testing.T) {
	for round := range 50 {
		d := newDesk(t)
		id := d.ask(0, question(`{}`, consent.Requirement{}))
		var door sync.Mutex // the caller's
		var accepted, resolved int
		var all sync.WaitGroup
		for i := range 10 {
			all.Go(func() {
				door.Lock()
				defer door.Unlock()
				a := consent.Answer{By: fmt.Sprint("approver ", i), Approve: (i+round)%2 == 0}
				e := d.book.Decide(after(1), id, &a)
				assert.NoError(t, d.book.Apply(&e))
				switch {
				case e.Result.Resolution == runtime.ResolutionAccepted:
					accepted++
				case e.Result.Rejection == consent.AlreadyResolved:
					resolved++
				}
			})
		}
		all.Wait()
		assert.Equal(t, []int{1, 9}, []int{accepted, resolved})
	}
}

// SEMANTICS 5.1.2
func TestOfAnswersMadeOfOneStateOneCanBeApplied(t *testing.T) {
	d := newDesk(t)
	id := d.ask(0, question(`{}`, consent.Requirement{}))
	var events []consent.Event
	for i := range 10 {
		a := consent.Answer{By: fmt.Sprint("approver ", i), Approve: true, Offer: session(runtime.CoverExact)}
		events = append(events, d.book.Decide(after(1), id, &a))
	}
	applied := 0
	for i := range events {
		if err := d.book.Apply(&events[i]); err == nil {
			applied++
		} else {
			require.ErrorIs(t, err, consent.ErrStale)
		}
	}
	assert.Equal(t, 1, applied)
	assert.Len(t, d.book.Grants(), 1)
}

// SEMANTICS 5.2.2
func TestApprovalIsUsedOnceThoughTwoStartAtOnce(t *testing.T) {
	d := newDesk(t)
	q := question(`{}`, consent.Requirement{})
	id := d.ask(0, q)
	d.approve(1, id, "alice")
	first, err := d.book.Use(after(2), id, q, false)
	require.NoError(t, err)
	second, err := d.book.Use(after(2), id, q, false)
	require.NoError(t, err)
	d.apply(first)
	require.ErrorIs(t, d.book.Apply(&second), consent.ErrStale)
	second.Seq = d.book.Seq() + 1
	require.ErrorContains(t, d.book.Apply(&second), "is used")
}

func TestEventThatCannotFollowChangesNothing(t *testing.T) {
	build := func() *desk {
		d := newDesk(t)
		q := question(`{}`, widest())
		d.ask(0, q) // q1 is open
		d.decide(1, d.ask(0, q), consent.Answer{By: "alice", Approve: true, Offer: session(runtime.CoverTool)})
		d.decide(1, d.ask(0, q), consent.Answer{By: "alice"})
		return d
	}
	d := build()
	asked := d.events[0]
	answered := d.events[2]
	for name, e := range map[string]consent.Event{
		"no kind":            {},
		"another kind":       {Kind: consent.EventOff + 1},
		"asked again":        asked,
		"asked nothing":      {Kind: consent.EventAsked, Request: "q9"},
		"no result":          {Kind: consent.EventAnswered, Request: "q1"},
		"answered again":     answered,
		"unknown answered":   {Kind: consent.EventAnswered, Request: "q9", Result: &consent.Result{Resolution: runtime.ResolutionAccepted}},
		"no offer":           {Kind: consent.EventAnswered, Request: "q1", Result: &consent.Result{Resolution: runtime.ResolutionRecorded, Approve: true}},
		"grant again":        {Kind: consent.EventAnswered, Request: "q1", Result: &consent.Result{Resolution: runtime.ResolutionAccepted, Approve: true, Offer: &consent.Offer{}, Granted: &consent.Grant{ID: "q2"}}},
		"grant makes none":   {Kind: consent.EventAnswered, Request: "q1", Result: &consent.Result{Resolution: runtime.ResolutionAccepted, Approve: true, Offer: &consent.Offer{}, Granted: &consent.Grant{ID: "q1", Where: []consent.Predicate{{}}}}},
		"used unapproved":    {Kind: consent.EventUsed, Request: "q1"},
		"mismatch of denied": {Kind: consent.EventMismatch, Request: "q3"},
		"expired approved":   {Kind: consent.EventExpired, Request: "q2"},
		"reminded approved":  {Kind: consent.EventReminded, Request: "q2"},
		"cancelled denied":   {Kind: consent.EventCancelled, Request: "q3"},
		"cancelled unknown":  {Kind: consent.EventCancelled, Request: "q9"},
		"no such grant used": {Kind: consent.EventGrantUsed, Grant: "q9"},
		"no grant revoked":   {Kind: consent.EventRevoked, Grant: "q9", Result: &consent.Result{Resolution: runtime.ResolutionAccepted}},
	} {
		e.Seq = d.book.Seq() + 1
		require.Error(t, d.book.Apply(&e), name)
		require.Equal(t, build().book, d.book, name)
	}
	_, err := consent.Replay(key, []consent.Event{asked, asked})
	require.ErrorIs(t, err, consent.ErrStale)
}

func TestPruneForgetsWhatHasEnded(t *testing.T) {
	d := newDesk(t)
	q := question(`{}`, widest())
	d.ask(0, q)                                                                                                                      // q1 runs out
	d.decide(1, d.ask(0, q), consent.Answer{By: "alice", Approve: true, Offer: lasting(50)})                                         // q2 is approved, its grant ends
	d.decide(1, d.ask(0, q), consent.Answer{By: "alice", Approve: true, Offer: session(runtime.CoverExact)})                         // q3, its grant lasts
	d.decide(1, d.ask(0, q), consent.Answer{By: "alice", Approve: true, Offer: session(runtime.CoverTool), Message: "not for long"}) // q4, its grant is revoked
	d.apply(d.book.Revoke(after(2), "q4", "bob", ""))
	d.use(3, "q3", q.Call)
	for _, e := range d.book.Due(after(100)) {
		d.apply(e)
	}
	d.book.Prune(after(2), 100)
	assert.Len(t, d.book.Requests(), 4)
	assert.Len(t, d.book.Grants(), 3)
	d.book.Prune(after(500), 100)
	var ids []string
	for _, r := range d.book.Requests() {
		ids = append(ids, r.ID)
	}
	assert.Equal(t, []string{"q2", "q4"}, ids, "approved and not used: their calls are somewhere")
	require.Len(t, d.book.Grants(), 1)
	assert.Equal(t, "q3", d.book.Grants()[0].ID)
	assert.True(t, d.matches(500, q))
	d.rejected(consent.UnknownRequest, d.approve(501, "q1", "alice"))

	for _, id := range ids {
		e, ok := d.book.Cancel(after(501), id)
		require.True(t, ok)
		d.apply(e)
	}
	d.apply(d.book.Revoke(after(501), "q3", "bob", ""))
	d.book.Prune(after(502), 100)
	assert.Zero(t, d.book.Held())
}

func TestInstantsAreKeptAsTheyReadAgain(t *testing.T) {
	d := newDesk(t)
	now := time.Now().In(time.FixedZone("somewhere", 3600))
	e, err := d.book.Ask(now, "q1", "n", question(`{}`, widest()))
	require.NoError(t, err)
	text, err := json.Marshal(e)
	require.NoError(t, err)
	var again consent.Event
	require.NoError(t, json.Unmarshal(text, &again))
	assert.Equal(t, e, again)
	assert.True(t, e.Asked.Created.Equal(now))
}
