package consent_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// asked is a question of two rules, with a condition.
func asked() *consent.Question {
	q := question(`{"to":"a"}`, approvers("alice", "bob"))
	q.Reasons = consent.Reasons([]runtime.Ask{
		{ID: "large", Message: "more than 100", Approvers: []string{"alice", "bob"}, Quorum: 1, MaxCover: runtime.CoverArgs, At: "money.rego:7"},
		{ID: "abroad", Message: "leaves the country", Timeout: time.Minute, At: "money.rego:12", Bound: wire.Raw(`{"rate":1,"country":"NZ"}`)},
	})
	q.Obligations = []consent.Obligation{{Code: "notify", Args: []byte(`{"who":"desk"}`)}, {Code: "notify", Args: []byte(`{"who":"audit"}`)}}
	return q
}

// An approval outlives every edit of the policy that asks the same question, and
// no other one.
// SEMANTICS 5.7.3, 5.7.5
func TestWhatIsAQuestion(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*consent.Question)
		same bool
	}{
		"nothing":            {func(*consent.Question) {}, true},
		"another revision":   {func(q *consent.Question) { q.Call.Revision = "v2" }, true},
		"other lines":        {func(q *consent.Question) { q.Reasons[0].At, q.Reasons[1].At = "money.rego:8", "other.rego:1" }, true},
		"another order":      {func(q *consent.Question) { q.Reasons[0], q.Reasons[1] = q.Reasons[1], q.Reasons[0] }, true},
		"asked twice":        {func(q *consent.Question) { q.Reasons = append(q.Reasons, q.Reasons[1]) }, true},
		"order of approvers": {func(q *consent.Question) { q.Reasons[0].Approvers = []string{"bob", "alice", "bob"} }, true},
		"no quorum":          {func(q *consent.Question) { q.Reasons[0].Quorum = 0 }, true},
		"order of duties":    {func(q *consent.Question) { q.Obligations[0], q.Obligations[1] = q.Obligations[1], q.Obligations[0] }, true},
		"white space":        {func(q *consent.Question) { q.Obligations[0].Args = []byte(`{ "who": "desk" }`) }, true},
		"a shorter timeout":  {func(q *consent.Question) { q.Requirement.Timeout = time.Second }, true},
		"another message":    {func(q *consent.Question) { q.Reasons[0].Message += "0" }, true},
		"one message more": {func(q *consent.Question) {
			more := q.Reasons[0]
			more.Message = "more than 99"
			q.Reasons = append(q.Reasons, more)
		}, true},
		"the same bound values": {func(q *consent.Question) { q.Reasons[1].Bound = []byte(`{"country": "NZ", "rate": 10e-1}`) }, true},

		"another rule":     {func(q *consent.Question) { q.Reasons[1].Code = "away" }, false},
		"one rule more":    {func(q *consent.Question) { q.Reasons = append(q.Reasons, consent.Reason{Code: "night"}) }, false},
		"one rule less":    {func(q *consent.Question) { q.Reasons = q.Reasons[:1] }, false},
		"no rule":          {func(q *consent.Question) { q.Reasons = nil }, false},
		"other values":     {func(q *consent.Question) { q.Reasons[1].Bound = []byte(`{"rate":1,"country":"FR"}`) }, false},
		"no bound values":  {func(q *consent.Question) { q.Reasons[1].Bound = nil }, false},
		"a bound value":    {func(q *consent.Question) { q.Reasons[0].Bound = []byte(`{}`) }, false},
		"other approvers":  {func(q *consent.Question) { q.Reasons[0].Approvers = []string{"alice"} }, false},
		"another approver": {func(q *consent.Question) { q.Reasons[0].Approvers = []string{"alice", "carol"} }, false},
		"no approvers":     {func(q *consent.Question) { q.Reasons[0].Approvers = nil }, false},
		"a higher quorum":  {func(q *consent.Question) { q.Reasons[0].Quorum = 2 }, false},
		"a wider cover":    {func(q *consent.Question) { q.Reasons[0].MaxCover = runtime.CoverTool }, false},
		"another duty":     {func(q *consent.Question) { q.Obligations[0].Code = "redact_output" }, false},
		"other args":       {func(q *consent.Question) { q.Obligations[0].Args = []byte(`{"who":"boss"}`) }, false},
		"one duty less":    {func(q *consent.Question) { q.Obligations = q.Obligations[:1] }, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			id := d.ask(0, asked())
			d.approve(1, id, "alice")
			now := asked()
			c.edit(now)
			e, err := d.book.Use(after(2), id, now, false)
			require.NoError(t, err)
			if c.same {
				assert.Equal(t, consent.EventUsed, e.Kind, e.Changed)
				return
			}
			assert.Equal(t, consent.EventMismatch, e.Kind)
			assert.Equal(t, []consent.Change{consent.ChangedQuestion}, e.Changed)
		})
	}
}

// An edit is asked about by the policy as it is then, and bound to that.
// SEMANTICS 5.7.5
func TestEditIsBoundToTheQuestionAboutIt(t *testing.T) {
	requirement := approvers("alice")
	requirement.AllowEdit = true
	d := newDesk(t)
	old := question(`{"n":1}`, requirement)
	id := d.ask(0, old)
	now := question(`{"n":2}`, requirement)
	now.Call.Revision, now.Reasons[0].Message, now.Reasons[0].Approvers = "v2", "Transfer less money", []string{"alice"}
	require.Equal(t, runtime.ResolutionAccepted, d.decide(1, id, consent.Answer{By: "alice", Approve: true, Edit: &consent.Edit{Question: *now}}).Resolution)
	r, _ := d.book.Request(id)
	assert.Equal(t, "v2", r.Revision, "the revision that asks about the edit")
	assert.Equal(t, now.Reasons, r.Reasons)
	e, err := d.book.Use(after(2), id, now, false)
	require.NoError(t, err)
	assert.Equal(t, consent.EventUsed, e.Kind, e.Changed)
	assert.Empty(t, e.Revision)
	now.Reasons = old.Reasons
	e, err = d.book.Use(after(2), id, now, false)
	require.NoError(t, err)
	assert.Equal(t, []consent.Change{consent.ChangedQuestion}, e.Changed)
}

// TestMessageThatVaries: an approval holds though the message of a rule tells another time when the call starts, and the
// digest of the request still covers the message that was shown. So does a request that an earlier version has recorded.
//
// SEMANTICS 5.7.3, 5.2.1
func TestMessageThatVaries(t *testing.T) {
	d := newDesk(t)
	id := d.ask(0, asked())
	d.approve(1, id, "alice")
	now := asked()
	now.Reasons[0].Message, now.Reasons[1].Message = "more than 100, at 10:01", "the second of this run"
	e, err := d.book.Use(after(2), id, now, false)
	require.NoError(t, err)
	assert.Equal(t, consent.EventUsed, e.Kind, e.Changed)

	id = d.ask(3, asked())
	r, _ := d.book.Request(id)
	r.Reasons[0].Message = "nothing to worry about" // in what the book holds
	d.approve(4, id, "alice")
	e, err = d.book.Use(after(5), id, asked(), false)
	require.NoError(t, err)
	assert.Equal(t, []consent.Change{consent.ChangedRequest}, e.Changed)
}

// recordedAsked is the event of a request as an earlier version recorded it, before messages left the comparison.
const recordedAsked = `{"seq":1,"kind":"asked","at":"2026-01-02T03:04:05.000000006Z","request":"q1","call":"c1","asked":{"id":"q1","call":"c1",` +
	`"tool":"transfer","pin":"pin-1","session":"s1","run":"r1","principal":"agent","args":{"to":"a","n":1},` +
	`"args_digest":"228707101bfdd2139ae0dec904a79768519f27e4264c77ed36ac6ebb7f8344fc","reasons":[{"code":"large","message":"asked at 10:00",` +
	`"approvers":["alice","bob"],"quorum":1,"max_cover":"args","at":"money.rego:7"},{"code":"abroad","message":"payment 1 of this run","at":"money.rego:12"}],` +
	`"requirement":{"approvers":["alice"],"quorum":1,"timeout_ns":100000000000,"max_cover":"exact","max_for_ns":86400000000000},"revision":"v1",` +
	`"binding":"b9c0b0668523536354df6e185ffb5ea08f02abc4d561a6487cc66120b3234354","effect":"write","undoable":true,` +
	`"created":"2026-01-02T03:04:05.000000006Z","remind":"2026-01-02T03:05:25.000000006Z","expires":"2026-01-02T03:05:45.000000006Z","nonce":"n","status":"open"}}`

// TestRecordedRequestsHold: an open request of an earlier version is approved and used though the messages are others by now.
//
// SEMANTICS 5.7.3
func TestRecordedRequestsHold(t *testing.T) {
	var e consent.Event
	require.NoError(t, json.Unmarshal([]byte(recordedAsked), &e))
	d := newDesk(t)
	d.apply(e)
	d.approve(1, "q1", "alice")
	q := question(`{"to":"a","n":1}`, approvers("alice"))
	q.Reasons = slices.Clone(e.Asked.Reasons)
	q.Reasons[0].Message, q.Reasons[1].Message = "asked at 10:01", "payment 2 of this run"
	used, err := d.book.Use(after(2), "q1", q, false)
	require.NoError(t, err)
	assert.Equal(t, consent.EventUsed, used.Kind, used.Changed)
}

// TestGrantHoldsForBoundValues: a grant answers a rule with the values that the rule was bound to, and not with others.
//
// SEMANTICS 5.7.10
func TestGrantHoldsForBoundValues(t *testing.T) {
	d := newDesk(t)
	q := asked()
	q.Requirement.MaxCover = runtime.CoverTool
	id := d.ask(0, q)
	res := d.decide(1, id, consent.Answer{By: "alice", Approve: true, Offer: session(runtime.CoverTool)})
	require.NotNil(t, res.Granted)
	next := *q
	next.Reasons = asked().Reasons
	next.Reasons[0].Message = "another amount"
	assert.True(t, d.matches(2, &next))
	next.Reasons[1].Bound = []byte(`{"country":"NZ", "rate": 1.0}`)
	assert.True(t, d.matches(2, &next))
	next.Reasons[1].Bound = []byte(`{"country":"FR","rate":1}`)
	assert.False(t, d.matches(2, &next))
	next.Reasons[1].Bound = nil
	assert.True(t, d.matches(2, &next), "it asks for less")
	next.Reasons[0].Bound = []byte(`{}`)
	assert.False(t, d.matches(2, &next), "no grant was given for a value")
}
