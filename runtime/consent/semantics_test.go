package consent_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// The tests of this file and of grant_test.go are named after the sentences of
// the specification of consent.

// SEMANTICS 5.1.1
func TestRequestIsRecordedThenApproversAreNotified(t *testing.T) {
	d := newDesk(t)
	q := question(`{"to":"a"}`, approvers("alice"))
	e, err := d.book.Ask(start, "q1", "n", q)
	require.NoError(t, err)
	assert.Empty(t, d.book.Requests(), "nothing has happened before the event is applied")
	d.rejected(consent.UnknownRequest, d.approve(1, "q1", "alice"))

	e.Seq = d.book.Seq() + 1
	d.apply(e)
	assert.Equal(t, runtime.ResolutionAccepted, d.approve(2, "q1", "alice").Resolution)
}

func TestRequestCarriesWhatAnApproverNeeds(t *testing.T) {
	d := newDesk(t)
	q := question(`{"to":"a","sum":1e2}`, consent.Requirement{Approvers: []string{"bob", "alice"}, Quorum: 2, MaxCover: runtime.CoverArgs})
	q.Call.Preview = &consent.Preview{MediaType: "text/x-diff", Text: "-1\n+2"}
	r, _ := d.book.Request(d.ask(0, q))
	assert.Equal(t, []any{"q1", "c1", "transfer", "pin-1", "agent", "s1", "r1", "v1", "nonce 1", "write", true},
		[]any{r.ID, r.CallID, r.Tool, r.Pin, r.Principal, r.Session, r.Run, r.Revision, r.Nonce, r.Effect, r.Undoable})
	assert.Equal(t, `{"to":"a","sum":100}`, string(r.Args))
	assert.Equal(t, q.Call.Preview, r.Preview)
	assert.Equal(t, q.Reasons, r.Reasons)
	assert.Equal(t, []string{"declared"}, r.Rules())
	assert.Equal(t, []string{"alice", "bob"}, r.Requirement.Approvers)
	assert.Equal(t, []runtime.GrantCover{runtime.CoverExact, runtime.CoverArgs}, r.Requirement.Covers())
	assert.Equal(t, []time.Time{after(0), after(240), after(300)}, []time.Time{r.Created, r.Remind, r.Expires})
	assert.Equal(t, 2, r.Missing())
	assert.Len(t, d.book.Open(), 1)
}

// SEMANTICS 5.2.1
func TestApprovalBindsTheDigestOfEverything(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*consent.Call)
		want   consent.Change
	}{
		"tool":           {func(c *consent.Call) { c.Tool = "other" }, consent.ChangedTool},
		"declaration":    {func(c *consent.Call) { c.Pin = "pin-2" }, consent.ChangedDeclaration},
		"args":           {func(c *consent.Call) { c.Args = wire.Raw(`{"to":"b"}`) }, consent.ChangedArgs},
		"no args":        {func(c *consent.Call) { c.Args = nil }, consent.ChangedArgs},
		"broken args":    {func(c *consent.Call) { c.Args = wire.Raw(`{`) }, consent.ChangedArgs},
		"preview":        {func(c *consent.Call) { c.Preview = &consent.Preview{Text: "+2"} }, consent.ChangedPreview},
		"no preview":     {func(c *consent.Call) { c.Preview = nil }, consent.ChangedPreview},
		"preview's type": {func(c *consent.Call) { c.Preview = &consent.Preview{MediaType: "text/html", Text: "+1"} }, consent.ChangedPreview},
		"principal":      {func(c *consent.Call) { c.Principal = "root" }, consent.ChangedPrincipal},
		"session":        {func(c *consent.Call) { c.Session = "s2" }, consent.ChangedSession},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			q := question(`{"to":"a"}`, approvers("alice"))
			q.Call.Preview = &consent.Preview{Text: "+1"}
			id := d.ask(0, q)
			require.Equal(t, runtime.ResolutionAccepted, d.approve(1, id, "alice").Resolution)
			c := q.Call
			tc.change(&c)
			e := d.use(2, id, c)
			assert.Equal(t, consent.EventMismatch, e.Kind)
			assert.Equal(t, []consent.Change{tc.want}, e.Changed)
			_, err := d.book.Use(after(3), id, q, false)
			assert.ErrorIs(t, err, consent.ErrNotApproved, "a mismatch uses the approval up")
		})
	}
}

// TestApprovalBindsAProgram: an approval of a command is one of its program; where there is none the
// digests are those that were recorded before commands were.
// SEMANTICS 5.2.12
func TestApprovalBindsAProgram(t *testing.T) {
	run := func(approved, now, args string) consent.Event {
		d := newDesk(t)
		q := question(`{"to":"a"}`, approvers("alice"))
		q.Call.Program = approved
		id := d.ask(0, q)
		r, _ := d.book.Request(id)
		assert.Equal(t, approved, r.Program)
		require.Equal(t, runtime.ResolutionAccepted, d.approve(1, id, "alice").Resolution)
		c := q.Call
		c.Program, c.Args = now, wire.Raw(args)
		return d.use(2, id, c)
	}
	assert.Equal(t, consent.EventUsed, run("p1", "p1", `{"to":"a"}`).Kind)
	for _, now := range []string{"p2", ""} {
		e := run("p1", now, `{"to":"a"}`)
		assert.Equal(t, consent.EventMismatch, e.Kind)
		assert.Equal(t, []consent.Change{consent.ChangedProgram}, e.Changed)
	}
	assert.Equal(t, []consent.Change{consent.ChangedProgram}, run("", "p1", `{"to":"a"}`).Changed)
	assert.Equal(t, []consent.Change{consent.ChangedArgs}, run("p1", "p2", `{"to":"b"}`).Changed, "other arguments give another digest")

	binding := func(program string) string {
		q := question(`{}`, approvers("alice"))
		q.Call.Program = program
		e, err := newDesk(t).book.Ask(after(0), "q1", "n", q)
		require.NoError(t, err)
		return e.Asked.Binding.String()
	}
	const recorded = "2e824d0d38e4a270ffb3955dbb21dfd37ed476f86b6019691613b1a42939de68"
	assert.Equal(t, recorded, binding(""))
	assert.NotEqual(t, recorded, binding("p1"))
}

func TestChangesAreListedInOrder(t *testing.T) {
	d := newDesk(t)
	id := d.ask(0, question(`{}`, approvers("alice")))
	d.approve(1, id, "alice")
	e, err := d.book.Use(after(100), id, &consent.Question{Call: consent.Call{Args: wire.Raw(`[]`), Preview: &consent.Preview{}}}, false)
	require.NoError(t, err)
	assert.Equal(t, []consent.Change{
		consent.ChangedTool, consent.ChangedDeclaration, consent.ChangedArgs, consent.ChangedPreview, consent.ChangedPrincipal,
		consent.ChangedSession, consent.ChangedQuestion, consent.ChangedExpired,
	}, e.Changed)
	var names []string
	for c := range consent.ChangedRequest + 1 {
		names = append(names, c.String())
	}
	assert.Equal(t, []string{"tool", "declaration", "args", "program", "preview", "principal", "session", "question", "expired", "request"}, names)
}

// SEMANTICS 5.2.1
func TestApprovalBindsExpiryAndNonce(t *testing.T) {
	q := question(`{}`, approvers("alice"))
	digest := func(nonce string, at float64) consent.Digest {
		e, err := newDesk(t).book.Ask(after(at), "q1", nonce, q)
		require.NoError(t, err)
		return e.Asked.Binding
	}
	assert.Equal(t, digest("n", 0), digest("n", 0))
	assert.NotEqual(t, digest("n", 0), digest("m", 0))
	assert.NotEqual(t, digest("n", 0), digest("n", 1))
}

// SEMANTICS 5.2.1, 5.2.3
func TestStoredRequestThatWasChangedFitsItsDigestNoMore(t *testing.T) {
	other := question(`{"to":"mallory"}`, approvers("alice"))
	others, err := newDesk(t).book.Ask(start, "q1", "n", other)
	require.NoError(t, err)
	// Each change is made to the stored request and to the call.
	for name, change := range map[string]func(*consent.Request, *consent.Call){
		"expires":   func(r *consent.Request, _ *consent.Call) { r.Expires = r.Expires.Add(time.Hour) },
		"nonce":     func(r *consent.Request, _ *consent.Call) { r.Nonce = "another" },
		"binding":   func(r *consent.Request, _ *consent.Call) { r.Binding[0]++ },
		"tool":      func(r *consent.Request, c *consent.Call) { r.Tool, c.Tool = "x", "x" },
		"pin":       func(r *consent.Request, c *consent.Call) { r.Pin, c.Pin = "x", "x" },
		"principal": func(r *consent.Request, c *consent.Call) { r.Principal, c.Principal = "x", "x" },
		"session":   func(r *consent.Request, c *consent.Call) { r.Session, c.Session = "x", "x" },
		"question":  func(r *consent.Request, _ *consent.Call) { r.Reasons = []consent.Reason{{Code: "declared"}} },
		"duties":    func(r *consent.Request, _ *consent.Call) { r.Obligations = []consent.Obligation{{Code: "notify"}} },
		"args": func(r *consent.Request, c *consent.Call) {
			r.ArgsDigest, c.Args = others.Asked.ArgsDigest, other.Call.Args
		},
		"preview": func(r *consent.Request, c *consent.Call) {
			r.Preview = &consent.Preview{Text: "x"}
			c.Preview = r.Preview
		},
		"preview's type": func(r *consent.Request, c *consent.Call) {
			r.Preview = &consent.Preview{MediaType: "x", Text: "+1"}
			c.Preview = r.Preview
		},
		"no preview": func(r *consent.Request, c *consent.Call) { r.Preview, c.Preview = nil, nil },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			q := question(`{}`, approvers("alice"))
			q.Call.Preview = &consent.Preview{Text: "+1"}
			e, err := d.book.Ask(start, "q1", "n", q)
			require.NoError(t, err)
			change(e.Asked, &q.Call)
			d.apply(e)
			d.approve(1, "q1", "alice")
			assert.Equal(t, []consent.Change{consent.ChangedRequest}, d.use(2, "q1", q.Call).Changed)
		})
	}
}

// SEMANTICS 5.2.1
func TestDigestsAreThoseOfEarlierVersions(t *testing.T) {
	q := question(`{"to":"a","n":1}`, approvers("alice"))
	e, err := newDesk(t).book.Ask(start, "q1", "n", q)
	require.NoError(t, err)
	assert.Equal(t, "228707101bfdd2139ae0dec904a79768519f27e4264c77ed36ac6ebb7f8344fc", e.Asked.ArgsDigest.String())
	assert.Equal(t, "f53653913928ed6be22a7cc2e06b598a2c5ca4ac81e06b271e79d3507536ad21", e.Asked.Binding.String())
	q.Call.Preview = &consent.Preview{}
	e, err = newDesk(t).book.Ask(start, "q1", "n", q)
	require.NoError(t, err)
	assert.Equal(t, "fc43f78c592d32a867093afb2bfb68bb55d1c4e64f65bba6af5a37ffef0ddec6", e.Asked.Binding.String())
}

// SEMANTICS 5.2.2, 5.3.1
func TestApprovalIsOfSingleUse(t *testing.T) {
	d := newDesk(t)
	q := question(`{"to":"a"}`, approvers("alice"))
	id := d.ask(0, q)
	_, err := d.book.Use(after(1), id, q, false)
	assert.ErrorIs(t, err, consent.ErrNotApproved, "not approved yet")
	d.approve(1, id, "alice")
	assert.Equal(t, consent.EventUsed, d.use(2, id, q.Call).Kind)
	assert.Equal(t, consent.StatusUsed, d.status(id))
	_, err = d.book.Use(after(3), id, q, false) // also when the execution has failed
	assert.ErrorIs(t, err, consent.ErrNotApproved)
	_, err = d.book.Use(after(3), "unknown", q, false)
	assert.ErrorIs(t, err, consent.ErrNotApproved)
	assert.False(t, d.matches(3, q), "once leaves nothing behind")

	id = d.ask(4, q)
	d.approve(4, id, "alice")
	other := q.Call
	other.Args = wire.Raw(`{"to":"b"}`)
	assert.Equal(t, consent.EventMismatch, d.use(5, id, other).Kind)
	assert.Equal(t, consent.StatusMismatch, d.status(id))
	_, err = d.book.Use(after(6), id, q, false)
	assert.ErrorIs(t, err, consent.ErrNotApproved, "used up by a call that does not match")
}

func TestEqualArgumentsAreTheSameHoweverTheyAreWritten(t *testing.T) {
	d := newDesk(t)
	q := question(`{"n":1,"to":"a"}`, approvers("alice"))
	id := d.ask(0, q)
	d.approve(1, id, "alice")
	c := q.Call
	c.Args = wire.Raw(` {"to":"a", "n":1.0} `)
	assert.Equal(t, consent.EventUsed, d.use(2, id, c).Kind)
}

// SEMANTICS 5.2.1
func TestApprovalThatIsTooOldDoesNotHold(t *testing.T) {
	d := newDesk(t)
	q := question(`{}`, approvers("alice"))
	id := d.ask(0, q)
	d.approve(99, id, "alice")
	assert.Equal(t, []consent.Change{consent.ChangedExpired}, d.use(100, id, q.Call).Changed)
}

func edited(q *consent.Question, args string, m consent.Requirement) *consent.Edit {
	next := *q
	next.Call.Args, next.Requirement = wire.Raw(args), m
	return &consent.Edit{Question: next}
}

// SEMANTICS 5.2.6, 5.2.7
func TestEditedArgumentsAreBoundAnewAndResetAQuorum(t *testing.T) {
	d := newDesk(t)
	m := consent.Requirement{Quorum: 2, AllowEdit: true}
	q := question(`{"sum":9}`, m)
	id := d.ask(0, q)
	assert.Equal(t, runtime.ResolutionRecorded, d.approve(1, id, "alice").Resolution)
	r := d.decide(2, id, consent.Answer{By: "bob", Approve: true, Edit: edited(q, `{"sum":5}`, m)})
	assert.Equal(t, runtime.ResolutionRecorded, r.Resolution, "alice approved something else")
	assert.Equal(t, 1, r.Missing)
	got, _ := d.book.Request(id)
	assert.Equal(t, []string{`{"sum":5}`, "bob"}, []string{string(got.Args), got.EditedBy})

	r = d.approve(3, id, "alice")
	assert.Equal(t, runtime.ResolutionAccepted, r.Resolution)
	e, err := d.book.Use(after(4), id, q, false)
	require.NoError(t, err)
	assert.Equal(t, []consent.Change{consent.ChangedArgs}, e.Changed, "the first arguments are not approved any more")
	c := q.Call
	c.Args = wire.Raw(`{"sum":5}`)
	assert.Equal(t, consent.EventUsed, d.use(4, id, c).Kind)
}

func TestEditOfTheOnlyApproverIsAccepted(t *testing.T) {
	d := newDesk(t)
	m := consent.Requirement{AllowEdit: true}
	q := question(`{"sum":9}`, m)
	id := d.ask(0, q)
	unasked := edited(q, `{"sum":5}`, m)
	unasked.Question.Reasons = nil // the policy has nothing against the new arguments
	assert.Equal(t, runtime.ResolutionAccepted, d.decide(1, id, consent.Answer{By: "bob", Approve: true, Edit: unasked}).Resolution)
	got, _ := d.book.Request(id)
	assert.Equal(t, q.Reasons, got.Reasons)
}

// SEMANTICS 5.2.4
func TestEditThatIsInvalidLeavesTheRequestAsItWas(t *testing.T) {
	d := newDesk(t)
	m := consent.Requirement{AllowEdit: true, Quorum: 2}
	q := question(`{"sum":9}`, m)
	id := d.ask(0, q)
	d.approve(1, id, "alice")
	before, _ := d.book.Request(id)
	for _, edit := range []*consent.Edit{
		{Err: errors.New("sum: want an integer"), Question: *q}, edited(q, `{`, m),
		edited(q, `{}`, consent.Requirement{Approvers: []string{"bob"}, Quorum: 2}),
	} {
		d.rejected(consent.InvalidInput, d.decide(2, id, consent.Answer{By: "bob", Approve: true, Edit: edit}))
	}
	now, _ := d.book.Request(id)
	assert.Equal(t, before, now)
}

// SEMANTICS 5.2.5
func TestEditedArgumentsAreJudgedAnew(t *testing.T) {
	d := newDesk(t)
	q := question(`{"sum":9}`, consent.Requirement{AllowEdit: true, MaxCover: runtime.CoverTool})
	id := d.ask(0, q)
	cfo := consent.Requirement{Approvers: []string{"cfo"}}
	d.rejected(consent.NotPermitted, d.decide(1, id, consent.Answer{By: "bob", Approve: true, Edit: edited(q, `{"sum":9000}`, cfo)}))
	wide := consent.Answer{By: "bob", Approve: true, Offer: session(runtime.CoverTool), Edit: edited(q, `{"sum":5}`, consent.Requirement{})}
	d.rejected(consent.GrantTooWide, d.decide(1, id, wide))

	two := edited(q, `{"sum":10}`, consent.Requirement{Quorum: 2})
	assert.Equal(t, runtime.ResolutionRecorded, d.decide(2, id, consent.Answer{By: "bob", Approve: true, Edit: two}).Resolution)
	assert.Equal(t, runtime.ResolutionAccepted, d.approve(3, id, "alice").Resolution)
}

// SEMANTICS 5.2.8
func TestToolCannotBeChangedByAnEdit(t *testing.T) {
	for name, change := range map[string]func(*consent.Call){
		"tool": func(c *consent.Call) { c.Tool = "other" }, "pin": func(c *consent.Call) { c.Pin = "x" },
		"principal": func(c *consent.Call) { c.Principal = "x" }, "session": func(c *consent.Call) { c.Session = "x" },
		"agent": func(c *consent.Call) { c.Agent = "x" },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			m := consent.Requirement{AllowEdit: true}
			q := question(`{}`, m)
			id := d.ask(0, q)
			edit := edited(q, `{}`, m)
			change(&edit.Question.Call)
			d.rejected(consent.EditNotAllowed, d.decide(1, id, consent.Answer{By: "bob", Approve: true, Edit: edit}))
		})
	}
}
