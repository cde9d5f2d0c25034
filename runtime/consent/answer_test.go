package consent_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
)

// SEMANTICS 5.2.5, 5.5.6
func TestRejectionsAreLookedForInOrder(t *testing.T) {
	m := consent.Requirement{Approvers: []string{"alice", "agent"}, Timeout: 100 * time.Second}
	q := question(`{}`, m)
	edit := &consent.Edit{Err: errors.New("bad"), Question: *q}
	// Every answer has what the later reasons need too.
	all := func(by string) consent.Answer {
		return consent.Answer{By: by, Approve: true, Offer: session(runtime.CoverTool), Edit: edit}
	}
	d := newDesk(t)
	d.rejected(consent.UnknownRequest, d.decide(0, "q9", all("mallory")))

	resolved := d.ask(0, q)
	d.approve(1, resolved, "alice")
	d.rejected(consent.AlreadyResolved, d.decide(200, resolved, all("mallory")))

	ranOut := d.ask(0, q)
	d.rejected(consent.RequestExpired, d.decide(100, ranOut, all("mallory")))

	id := d.ask(0, q)
	d.rejected(consent.NotPermitted, d.decide(1, id, all("mallory")))
	d.rejected(consent.SelfApproval, d.decide(1, id, all("agent")))
	stale := all("alice")
	stale.Binding = consent.Digest{1}
	d.rejected(consent.TermsChanged, d.decide(1, id, stale))
	d.rejected(consent.GrantTooWide, d.decide(1, id, all("alice")))
	a := all("alice")
	a.Offer = session(runtime.CoverExact)
	d.rejected(consent.EditNotAllowed, d.decide(1, id, a))

	m.AllowEdit = true
	id = d.ask(0, question(`{}`, m))
	d.rejected(consent.InvalidInput, d.decide(1, id, a))
	a.Edit = nil
	assert.Equal(t, runtime.ResolutionAccepted, d.decide(1, id, a).Resolution)

	var names []string
	for r := range consent.InvalidInput {
		names = append(names, (r + 1).String())
	}
	assert.Equal(t, []string{
		"unknown_request", "already_resolved", "expired", "not_permitted", "self_approval", "changed", "grant_too_wide", "edit_not_allowed", "invalid_input",
	}, names)
}

// SEMANTICS 5.5.10, 5.5.11
func TestRejectedAttemptsAreAuditedAndLeaveTheRequestOpen(t *testing.T) {
	d := newDesk(t)
	id := d.ask(0, question(`{}`, approvers("alice")))
	before, _ := d.book.Request(id)
	seq := d.book.Seq()
	r := d.decide(1, id, consent.Answer{By: "mallory", Approve: true, Message: "let me"})
	assert.Equal(t, &consent.Result{Rejection: consent.NotPermitted, Approve: true, Status: consent.StatusOpen, Missing: 1}, r)
	e := d.events[len(d.events)-1]
	assert.Equal(t, []any{id, "c1", "mallory", "let me", after(1)}, []any{e.Request, e.Call, e.By, e.Message, e.At})
	d.rejected(consent.NotPermitted, d.decide(1, id, consent.Answer{By: "mallory"}))
	d.rejected(consent.NotPermitted, d.decide(1, id, consent.Answer{}))
	assert.Equal(t, seq+3, d.book.Seq())
	now, _ := d.book.Request(id)
	assert.Equal(t, before, now)
	assert.Equal(t, runtime.ResolutionAccepted, d.approve(2, id, "alice").Resolution)
}

// SEMANTICS 5.5.1, 5.5.2
func TestApproverIsAnIDInTheRulesSet(t *testing.T) {
	d := newDesk(t)
	id := d.ask(0, question(`{}`, approvers("alice", "bob")))
	d.rejected(consent.NotPermitted, d.approve(1, id, "carol"))
	d.rejected(consent.NotPermitted, d.approve(1, id, "Alice"))
	d.rejected(consent.NotPermitted, d.approve(1, id, ""))
	d.rejected(consent.NotPermitted, d.approve(1, id, "agent"))
	assert.Equal(t, runtime.ResolutionAccepted, d.approve(1, id, "bob").Resolution)
}

// SEMANTICS 5.5.1, 5.5.2, 5.5.6
func TestWithoutApproversAnyIDButThePrincipalMayAnswer(t *testing.T) {
	d := newDesk(t)
	id := d.ask(0, question(`{}`, consent.Requirement{}))
	d.rejected(consent.SelfApproval, d.approve(1, id, "agent"))
	d.rejected(consent.SelfApproval, d.decide(1, id, consent.Answer{By: "agent"}))
	d.rejected(consent.NotPermitted, d.approve(1, id, ""))
	assert.Equal(t, runtime.ResolutionAccepted, d.approve(1, id, "anybody").Resolution)
}

// SEMANTICS 5.5.6
func TestPrincipalApprovesOnlyWhereTheDeclarationAllowsIt(t *testing.T) {
	d := newDesk(t)
	assert.Equal(t, runtime.ResolutionAccepted, d.approve(1, d.ask(0, question(`{}`, consent.Requirement{AllowSelf: true})), "agent").Resolution)
	listed := d.ask(0, question(`{}`, consent.Requirement{AllowSelf: true, Approvers: []string{"alice"}}))
	d.rejected(consent.NotPermitted, d.approve(1, listed, "agent"))
}

// SEMANTICS 5.5.7, 5.5.8
func TestQuorumCountsDistinctIDs(t *testing.T) {
	d := newDesk(t)
	id := d.ask(0, question(`{}`, consent.Requirement{Quorum: 3}))
	assert.Equal(t, runtime.ResolutionRecorded, d.approve(1, id, "alice").Resolution)
	r := d.approve(2, id, "alice")
	assert.Equal(t, []any{runtime.ResolutionRecorded, 2}, []any{r.Resolution, r.Missing})
	r = d.approve(3, id, "bob")
	assert.Equal(t, []any{runtime.ResolutionRecorded, 1}, []any{r.Resolution, r.Missing})
	assert.Equal(t, consent.StatusOpen, d.status(id))
	assert.Equal(t, runtime.ResolutionAccepted, d.approve(4, id, "carol").Resolution)
	assert.Equal(t, consent.StatusApproved, d.status(id))
}

// SEMANTICS 5.5.9
func TestOneDenialEndsTheRequest(t *testing.T) {
	d := newDesk(t)
	id := d.ask(0, question(`{}`, consent.Requirement{Quorum: 2}))
	d.approve(1, id, "alice")
	r := d.decide(2, id, consent.Answer{By: "bob", Message: "no"})
	assert.Equal(t, []any{runtime.ResolutionAccepted, consent.StatusDenied, false}, []any{r.Resolution, r.Status, r.Approve})
	assert.Equal(t, "no", d.events[len(d.events)-1].Message)
	r = d.approve(3, id, "carol")
	d.rejected(consent.AlreadyResolved, r)
	assert.Equal(t, []any{consent.StatusDenied, 0}, []any{r.Status, r.Missing})
	assert.Equal(t, consent.StatusDenied, d.status(id))
	assert.Empty(t, d.book.Open())
}

func TestApproverMayThinkBetterOfIt(t *testing.T) {
	d := newDesk(t)
	id := d.ask(0, question(`{}`, consent.Requirement{Quorum: 2}))
	d.approve(1, id, "alice")
	assert.Equal(t, runtime.ResolutionAccepted, d.decide(2, id, consent.Answer{By: "alice"}).Resolution)
	assert.Equal(t, consent.StatusDenied, d.status(id))
}

// SEMANTICS 5.4.1, 5.4.2, 5.4.3, 5.4.4
func TestExpiryIsItsOwnOutcome(t *testing.T) {
	d := newDesk(t)
	id := d.ask(0, question(`{}`, approvers("alice")))
	for _, e := range d.book.Due(after(99.9)) {
		assert.Equal(t, consent.EventReminded, e.Kind)
	}
	for _, e := range d.book.Due(after(100)) {
		d.apply(e)
	}
	assert.Equal(t, consent.StatusExpired, d.status(id))
	d.rejected(consent.RequestExpired, d.approve(101, id, "alice"))
	d.rejected(consent.RequestExpired, d.decide(101, id, consent.Answer{By: "alice"}))
	assert.Equal(t, consent.StatusExpired, d.status(id))
	assert.Empty(t, d.book.Due(after(1000)))
}

// SEMANTICS 5.4.4
func TestLateAnswerIsRejectedThoughNobodyHasLookedAtTheClock(t *testing.T) {
	d := newDesk(t)
	id := d.ask(0, question(`{}`, approvers("alice")))
	d.rejected(consent.RequestExpired, d.approve(100, id, "alice"))
	assert.Equal(t, runtime.ResolutionAccepted, d.approve(99.999, id, "alice").Resolution, "the last moment is in time")
}

func TestRequestsRunOutInEmissionOrder(t *testing.T) {
	d := newDesk(t)
	for i, life := range []time.Duration{30, 10, 20, 500} {
		m := approvers("alice")
		m.Timeout = life * time.Second
		q := question(fmt.Sprintf(`{"n":%d}`, i), m)
		d.ask(0, q)
	}
	var ids []string
	for _, e := range d.book.Due(after(60)) {
		d.apply(e)
		if e.Kind == consent.EventExpired {
			ids = append(ids, e.Request)
		}
	}
	assert.Equal(t, []string{"q1", "q2", "q3"}, ids)
	assert.Equal(t, "q4", d.book.Open()[0].ID)
}

// SEMANTICS 5.4.6
func TestReminderComesOnceAndBeforeExpiry(t *testing.T) {
	d := newDesk(t)
	kinds := func(at float64) (kinds []consent.EventKind) {
		for _, e := range d.book.Due(after(at)) {
			kinds = append(kinds, d.apply(e).Kind)
		}
		return kinds
	}
	_, ok := d.book.Next()
	assert.False(t, ok)
	d.ask(0, question(`{}`, approvers("alice")))
	next, ok := d.book.Next()
	assert.True(t, ok)
	assert.Equal(t, after(80), next)
	assert.Empty(t, kinds(79.9))
	assert.Equal(t, []consent.EventKind{consent.EventReminded}, kinds(80))
	assert.Empty(t, kinds(81))
	next, _ = d.book.Next()
	assert.Equal(t, after(100), next)
	assert.Equal(t, []consent.EventKind{consent.EventExpired}, kinds(100))

	d.ask(200, question(`{}`, approvers("alice")))
	assert.Equal(t, []consent.EventKind{consent.EventReminded, consent.EventExpired}, kinds(900), "even when the clock jumps")
}

func TestCancelledRequestsTakeNoAnswer(t *testing.T) {
	d := newDesk(t)
	q := question(`{}`, approvers("alice"))
	first, approved, kept := d.ask(0, q), d.ask(0, q), d.ask(0, q)
	d.approve(1, approved, "alice")
	for _, id := range []string{first, approved} {
		e, ok := d.book.Cancel(after(2), id)
		require.True(t, ok)
		d.apply(e)
	}
	d.rejected(consent.AlreadyResolved, d.approve(3, first, "alice"))
	d.rejected(consent.AlreadyResolved, d.approve(900, first, "alice"))
	_, err := d.book.Use(after(3), approved, q, false)
	assert.ErrorIs(t, err, consent.ErrNotApproved)
	assert.Equal(t, runtime.ResolutionAccepted, d.approve(3, kept, "alice").Resolution)
	_, ok := d.book.Cancel(after(4), first)
	assert.False(t, ok)
	_, ok = d.book.Cancel(after(4), "unknown")
	assert.False(t, ok)
}

// SEMANTICS 5.7.2, 5.7.4, 5.7.5
func TestPendingRequestIsJudgedAgainWhenItIsAnswered(t *testing.T) {
	d := newDesk(t)
	q := question(`{}`, approvers("alice"))
	reloaded := *q
	reloaded.Call.Revision = "v2"
	other := reloaded
	other.Reasons = []consent.Reason{{Code: "large", Message: "Transfer money", At: "money.rego:7"}}

	refused := d.ask(0, q)
	assert.Equal(t, runtime.ResolutionAccepted, d.approve(1, refused, "alice").Resolution, "now refused: the answer is accepted")
	e, ok := d.book.Cancel(after(1), refused)
	require.True(t, ok, "and the call denied")
	d.apply(e)

	asking := d.ask(0, q)
	assert.Equal(t, runtime.ResolutionAccepted, d.approve(1, asking, "alice").Resolution)
	e, err := d.book.Use(after(1), asking, &other, false)
	require.NoError(t, err)
	assert.Equal(t, consent.EventMismatch, d.apply(e).Kind)
	assert.Equal(t, []consent.Change{consent.ChangedQuestion}, e.Changed)
	assert.Equal(t, "v2", e.Revision)

	same := d.ask(0, q)
	d.approve(1, same, "alice")
	e, err = d.book.Use(after(1), same, &reloaded, false)
	require.NoError(t, err)
	assert.Equal(t, consent.EventUsed, d.apply(e).Kind, "the same question")
	assert.Equal(t, "v2", e.Revision, "both revisions are recorded: the request has the other")

	free := d.ask(0, q)
	d.approve(1, free, "alice")
	e, err = d.book.Use(after(1), free, &other, true)
	require.NoError(t, err)
	assert.Equal(t, consent.EventUsed, e.Kind, "nothing asks any more")
	tampered := reloaded
	tampered.Call.Tool = "other"
	e, err = d.book.Use(after(1), free, &tampered, true)
	require.NoError(t, err)
	assert.Equal(t, []consent.Change{consent.ChangedTool}, e.Changed)
}

// SEMANTICS 5.13.1, 5.13.2
func TestConsentIsOffForAtMostAnHour(t *testing.T) {
	d := newDesk(t)
	for name, bad := range map[string][]any{
		"too long": {after(0), after(3600.1), "root", "migration"}, "past": {after(0), after(0), "root", "migration"},
		"no name": {after(0), after(60), "", "migration"}, "no reason": {after(0), after(60), "root", ""},
	} {
		_, err := d.book.Off(bad[0].(time.Time), bad[1].(time.Time), bad[2].(string), bad[3].(string))
		assert.Error(t, err, name)
	}
	off := func(at float64) bool { _, off := d.book.IsOff(after(at)); return off }
	assert.False(t, off(0))
	e, err := d.book.Off(after(10), after(3610), "root", "migration")
	require.NoError(t, err)
	d.apply(e)
	assert.Equal(t, []bool{false, true, true, false}, []bool{off(9), off(10), off(3609.9), off(3610)})
	pause, _ := d.book.IsOff(after(11))
	assert.Equal(t, consent.Pause{Since: after(10), Until: after(3610), By: "root", Reason: "migration"}, pause)
	e, err = d.book.Off(after(20), after(30), "root", "done")
	require.NoError(t, err)
	d.apply(e)
	assert.False(t, off(30))
}

// SEMANTICS 5.5.3
func TestMemberOfAGroupIsAnApprover(t *testing.T) {
	d := newDesk(t)
	ask := func(m consent.Requirement) string { return d.ask(0, question(`{}`, m)) }
	answer := func(id, by string, groups ...string) *consent.Result {
		return d.decide(1, id, consent.Answer{By: by, Groups: groups, Approve: true})
	}
	id := ask(approvers("alice", "group:finance"))
	d.rejected(consent.NotPermitted, answer(id, "bob"))
	d.rejected(consent.NotPermitted, answer(id, "bob", "sales", "group:finance", ""))
	d.rejected(consent.NotPermitted, answer(id, "group:finance"))
	d.rejected(consent.SelfApproval, answer(id, "agent", "finance"))
	r := answer(id, "bob", "sales", "finance")
	assert.Equal(t, []any{runtime.ResolutionAccepted, "group:finance"}, []any{r.Resolution, r.Entry})

	d.rejected(consent.NotPermitted, answer(ask(approvers("group:", "finance")), "bob", "", "finance"))
	d.rejected(consent.NotPermitted, answer(ask(consent.Requirement{}), "group:finance"))
	r = answer(ask(approvers("alice", "group:finance")), "alice", "finance")
	assert.Equal(t, []any{runtime.ResolutionAccepted, ""}, []any{r.Resolution, r.Entry}, "her id admits her")
}

// SEMANTICS 5.5.4, 5.5.12
func TestOnePersonIsOneVoteHoweverManyGroups(t *testing.T) {
	d := newDesk(t)
	m, err := consent.Merge(&consent.Requirement{Approvers: []string{"group:finance"}, Quorum: 2})
	require.NoError(t, err, "a group has members enough")
	id := d.ask(0, question(`{}`, m))
	vote := func(at float64, by string, groups ...string) *consent.Result {
		return d.decide(at, id, consent.Answer{By: by, Groups: groups, Approve: true, Offer: session(runtime.CoverExact)})
	}
	assert.Equal(t, runtime.ResolutionRecorded, vote(1, "alice", "finance").Resolution)
	assert.Equal(t, 1, vote(2, "alice", "finance", "board").Missing)
	r := vote(3, "bob", "finance")
	require.Equal(t, runtime.ResolutionAccepted, r.Resolution)
	assert.Equal(t, []string{"group:finance", "group:finance"}, r.Granted.Entries)
	now, _ := d.book.Request(id)
	assert.Equal(t, "group:finance", now.Votes[0].Entry)
}

// A grant answers where those who gave it would be admitted by the same entries.
// SEMANTICS 5.5.12
func TestGrantOfAGroupAnswersItsEntry(t *testing.T) {
	for name, c := range map[string]struct {
		approvers []string
		answers   bool
	}{
		"the same group": {[]string{"group:finance"}, true},
		"the person":     {[]string{"bob"}, true},
		"all":            {nil, true},
		"another group":  {[]string{"group:board"}, false},
		"another person": {[]string{"alice"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			id := d.ask(0, question(`{}`, approvers("group:finance")))
			d.decide(1, id, consent.Answer{By: "bob", Groups: []string{"board", "finance"}, Approve: true, Offer: session(runtime.CoverExact)})
			_, ok := d.book.Match(after(2), question(`{}`, consent.Requirement{Approvers: c.approvers, Quorum: 1}))
			assert.Equal(t, c.answers, ok)
		})
	}
}

// SEMANTICS 5.5.2, 5.5.3
func TestGroupsAreIntersectedByEntry(t *testing.T) {
	_, err := consent.Merge(&consent.Requirement{Approvers: []string{"group:finance"}}, runtime.Ask{Approvers: []string{"alice"}})
	require.ErrorIs(t, err, consent.ErrNobody, "whether alice belongs to finance is not known")
	m, err := consent.Merge(&consent.Requirement{Approvers: []string{"group:finance", "alice"}}, runtime.Ask{Approvers: []string{"alice", "group:board"}})
	require.NoError(t, err)
	assert.Equal(t, []string{"alice"}, m.Approvers)
}
