package consent_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A duel gives the same random orders to a book and to the model.
type duel struct {
	*desk
	model model
	rnd   *rand.Rand
	now   int
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func (d *duel) at() time.Time { return after(float64(d.now)) }

func (d *duel) randomCall() modelCall {
	return modelCall{
		tool: pick(d.rnd, "t", "t", "u"), session: pick(d.rnd, "s", "s", "s2"), run: pick(d.rnd, "r1", "r2"),
		principal: pick(d.rnd, "agent", "agent", "bot"), agent: pick(d.rnd, "", "", "", "sub"),
		pin: pick(d.rnd, "p", "p", "p", "p2"), revision: pick(d.rnd, "v1", "v1", "v2"), n: d.rnd.IntN(4),
	}
}

func (d *duel) randomNeed() modelNeed {
	return modelNeed{
		approvers: pick(d.rnd, nil, nil, []string{"alice", "bob"}, []string{"agent", "alice", "carol"}, []string{"alice", "group:f"}, []string{"group:f", "group:g"}),
		quorum:    pick(d.rnd, 1, 1, 1, 2), life: pick(d.rnd, 10, 50, 100), cover: d.rnd.IntN(3),
		edit: d.rnd.IntN(2) == 0, self: d.rnd.IntN(4) == 0,
	}
}

func (d *duel) randomOffer() modelOffer {
	o := modelOffer{lasting: pick(d.rnd, "once", "duration", "session"), seconds: pick(d.rnd, 0, 5, 20, 80), cover: d.rnd.IntN(3)}
	for range d.rnd.IntN(3) {
		o.above = append(o.above, d.rnd.IntN(4)-1)
	}
	return o
}

func (d *duel) rules() []string {
	return pick(d.rnd, []string{"x"}, []string{"x"}, []string{"y"}, []string{"x", "y"}, []string{"x", "y", "z"})
}

func numbered(n int) wire.Raw { return wire.Raw(fmt.Sprintf(`{"n":%d}`, n)) }

func questionOf(c modelCall, need modelNeed, rules []string) *consent.Question {
	q := &consent.Question{
		Call: consent.Call{
			ID: "call", Tool: c.tool, Pin: c.pin, Session: c.session, Run: c.run, Principal: c.principal, Agent: c.agent,
			Args: numbered(c.n), Revision: c.revision,
		},
		Requirement: consent.Requirement{
			Approvers: need.approvers, Quorum: need.quorum, Timeout: time.Duration(need.life) * time.Second,
			MaxCover: runtime.GrantCover(need.cover), AllowEdit: need.edit, AllowSelf: need.self,
		},
	}
	for _, r := range rules {
		q.Reasons = append(q.Reasons, consent.Reason{Code: r})
	}
	return q
}

func answerOf(a modelAnswer, r *modelRequest) *consent.Answer {
	out := &consent.Answer{By: a.by, Groups: a.groups, Approve: a.approve}
	out.Offer.Cover = runtime.GrantCover(a.offer.cover)
	out.Offer.For = time.Duration(a.offer.seconds) * time.Second
	_ = out.Offer.Lasting.UnmarshalText([]byte(a.offer.lasting))
	for _, bound := range a.offer.above {
		out.Offer.Where = append(out.Offer.Where, where("n", consent.OpGreater, fmt.Sprint(bound)))
	}
	if a.edit != nil && r != nil {
		c := r.call
		c.n = a.edit.n
		out.Edit = &consent.Edit{Question: *questionOf(c, a.edit.need, r.rules), Rewritten: a.edit.rewritten}
		if a.edit.invalid {
			out.Edit.Err = errors.New("invalid")
		}
	}
	return out
}

// step gives one random order to both.
func (d *duel) step() {
	d.now += d.rnd.IntN(5)
	switch d.rnd.IntN(12) {
	case 0, 1:
		c, need, rules := d.randomCall(), d.randomNeed(), d.rules()
		d.model.ask(d.now, d.ask(float64(d.now), questionOf(c, need, rules)), c, need, rules)
	case 2, 3, 4, 5:
		d.stepDecide()
	case 6, 7:
		d.stepUse()
	case 8, 9:
		d.stepMatch()
	case 10:
		var got []string
		for batch := d.book.Due(d.at()); batch != nil; batch = d.book.Due(d.at()) {
			for _, e := range batch {
				got = append(got, d.apply(e).Kind.String()+" "+e.Request)
			}
		}
		require.Equal(d.t, d.model.due(d.now), got)
	case 11:
		d.stepEnd()
	}
}

func (d *duel) someID() string { return fmt.Sprintf("q%d", max(d.asked-d.rnd.IntN(6), 0)) }

func (d *duel) stepDecide() {
	id := d.someID()
	a := modelAnswer{by: pick(d.rnd, "alice", "bob", "carol", "agent", "bot", "", "group:f"), groups: pick(d.rnd, nil, []string{"f"}, []string{"g", "f"}), approve: d.rnd.IntN(6) > 0, offer: d.randomOffer()}
	r := d.model.request(id)
	if d.rnd.IntN(5) == 0 {
		a.edit = &modelEdit{invalid: d.rnd.IntN(4) == 0, rewritten: d.rnd.IntN(4) == 0, n: d.rnd.IntN(4), need: d.randomNeed()}
		if r != nil && d.rnd.IntN(2) == 0 {
			a.edit.need = r.need
		}
	}
	a.saw = pick(d.rnd, "current", "current", "current", "", "", "other")
	answer := answerOf(a, r)
	switch of, _ := d.book.Request(id); a.saw {
	case "current":
		answer.Binding = of.Binding
	case "other":
		answer.Binding = of.Binding
		answer.Binding[d.rnd.IntN(len(answer.Binding))]++
	}
	resolution, reason := d.model.decide(d.now, id, a)
	got := d.decide(float64(d.now), id, *answer)
	require.Equal(d.t, []string{resolution, reason}, []string{got.Resolution.String(), got.Rejection.String()}, "%s %+v", id, a)
	require.Len(d.t, d.book.Grants(), len(d.model.grants))
}

func (d *duel) stepUse() {
	id := d.someID()
	r, unasked := d.model.request(id), d.rnd.IntN(5) == 0
	c := d.randomCall()
	if r != nil && d.rnd.IntN(3) > 0 {
		c = r.call
	}
	rules := d.rules()
	if r != nil && d.rnd.IntN(3) > 0 {
		rules = slices.Clone(r.rules)
		d.rnd.Shuffle(len(rules), func(i, j int) { rules[i], rules[j] = rules[j], rules[i] })
	}
	changed, ok := d.model.use(d.now, id, c, rules, unasked)
	e, err := d.book.Use(d.at(), id, questionOf(c, modelNeed{}, rules), unasked)
	require.Equal(d.t, ok, err == nil, "%s %v", id, err)
	if !ok {
		return
	}
	var got []string
	for _, change := range d.apply(e).Changed {
		got = append(got, change.String())
	}
	require.Equal(d.t, changed, got)
}

func (d *duel) stepMatch() {
	c, need, rules := d.randomCall(), d.randomNeed(), d.rules()
	if n := len(d.model.grants); n > 0 && d.rnd.IntN(4) > 0 {
		g := d.model.grants[max(n-1-d.rnd.IntN(4), 0)]
		c = g.call
		c.n = pick(d.rnd, c.n, c.n, d.rnd.IntN(4))
		if d.rnd.IntN(2) == 0 {
			need, rules = modelNeed{quorum: 1, cover: 2, life: 9}, g.rules
		}
	}
	q := questionOf(c, need, rules)
	want := d.model.match(d.now, c, need, rules)
	got, ok := d.book.Match(d.at(), q)
	require.Equal(d.t, want != nil, ok)
	if want == nil {
		return
	}
	require.Equal(d.t, want.id, got.ID)
	e, err := d.book.UseGrant(d.at(), got.ID, q)
	require.NoError(d.t, err)
	d.apply(e)
	want.uses++
}

func (d *duel) stepEnd() {
	switch d.rnd.IntN(5) {
	case 0:
		id := d.someID()
		e, ok := d.book.Cancel(d.at(), id)
		require.Equal(d.t, d.model.cancel(id), ok, id)
		if ok {
			d.apply(e)
		}
	case 1, 2:
		id, by := d.someID(), pick(d.rnd, "alice", "alice", "")
		if n := len(d.model.grants); n > 0 && d.rnd.IntN(4) > 0 {
			id = d.model.grants[max(n-1-d.rnd.IntN(4), 0)].id
		}
		resolution, reason := d.model.revoke(d.now, id, by)
		r := d.apply(d.book.Revoke(d.at(), id, by, "why")).Result
		require.Equal(d.t, []string{resolution, reason}, []string{r.Resolution.String(), r.Rejection.String()})
	case 3:
		gone := consent.Rule{Tool: pick(d.rnd, "t", "u"), Code: pick(d.rnd, "x", "y", "z")}
		d.model.retire(gone.Tool, gone.Code)
		if e, ok := d.book.Retire(d.at(), func(r consent.Rule) bool { return r != gone }); ok {
			d.apply(e)
		}
	case 4:
		for _, r := range d.model.requests {
			require.Equal(d.t, r.state, d.status(r.id).String(), r.id)
		}
		for i, g := range d.book.Grants() {
			require.Equal(d.t, d.model.grants[i].uses, g.Uses)
			require.Equal(d.t, d.model.grants[i].live(d.now), g.Live(d.at()))
		}
	}
}

// play returns a duel after some steps.
func play(t testing.TB, seed uint64, steps int) *duel {
	d := &duel{desk: newDesk(t), rnd: rand.New(rand.NewPCG(seed, 7))}
	for range steps {
		d.step()
	}
	return d
}

// SEMANTICS 5.3.7
func TestBookAnswersLikeTheSlowModel(t *testing.T) {
	count := map[string]int{}
	for seed := range uint64(300) {
		for _, e := range play(t, seed, 300).events {
			name := e.Kind.String()
			if e.Result != nil {
				name += " " + e.Result.Resolution.String() + " " + e.Result.Rejection.String()
			}
			count[name]++
		}
	}
	require.Len(t, count, 24, "every kind of event was played")
	for name, n := range count {
		require.Greater(t, n, 100, name)
	}
}

func TestBookIsWhatItsEventsMakeOfANewOne(t *testing.T) {
	for seed := range uint64(40) {
		d := play(t, seed, 200)
		var stored bytes.Buffer
		encoder := json.NewEncoder(&stored)
		encoder.SetEscapeHTML(false)
		require.NoError(t, encoder.Encode(d.events))
		var events []consent.Event
		require.NoError(t, json.Unmarshal(stored.Bytes(), &events))
		again, err := consent.Replay(key, events)
		require.NoError(t, err)
		require.Equal(t, d.book, again)

		half := d.rnd.IntN(len(events))
		again, err = consent.Replay(key, events[:half])
		require.NoError(t, err)
		for i := range events[half:] {
			require.NoError(t, again.Apply(&events[half+i]))
		}
		require.Equal(t, d.book, again, "and goes on from any of them")
	}
}
