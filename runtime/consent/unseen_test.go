package consent_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
)

// TestNobodyApprovesAnEditUnseen: an approval counts for the terms that it names. One that names none
// counts for what was asked and for an edit of its own approver. A denial needs no terms.
// SEMANTICS 5.2.9
func TestNobodyApprovesAnEditUnseen(t *testing.T) {
	d := newDesk(t)
	m := consent.Requirement{Quorum: 2, AllowEdit: true}
	q := question(`{"sum":9}`, m)
	asked := func() (string, consent.Digest) {
		id := d.ask(0, q)
		r, _ := d.book.Request(id)
		return id, r.Binding
	}
	id, shown := asked()
	blind := consent.Answer{By: "alice", Approve: true}
	require.Equal(t, runtime.ResolutionRecorded, d.decide(1, id, blind).Resolution, "nothing was edited")
	edit := consent.Answer{By: "bob", Approve: true, Edit: edited(q, `{"sum":9000}`, m)}
	require.Equal(t, runtime.ResolutionRecorded, d.decide(2, id, edit).Resolution)
	d.rejected(consent.TermsChanged, d.decide(3, id, blind))
	late := blind
	late.Binding = shown
	d.rejected(consent.TermsChanged, d.decide(3, id, late))
	late.Edit = edited(q, `{"sum":1}`, m)
	d.rejected(consent.TermsChanged, d.decide(3, id, late))
	assert.Equal(t, runtime.ResolutionRecorded, d.decide(3, id, consent.Answer{By: "bob", Approve: true}).Resolution, "it repeats bob's own")
	now, _ := d.book.Request(id)
	require.NotEqual(t, shown, now.Binding)
	late.Edit, late.Binding = nil, now.Binding
	assert.Equal(t, runtime.ResolutionAccepted, d.decide(4, id, late).Resolution)

	id, _ = asked()
	require.Equal(t, runtime.ResolutionRecorded, d.decide(5, id, edit).Resolution)
	assert.Equal(t, runtime.ResolutionAccepted, d.decide(6, id, consent.Answer{By: "alice", Binding: shown}).Resolution, "to say no, nothing need be seen")
	assert.Equal(t, consent.StatusDenied, d.status(id))
}

// TestMaskIsNoSecret: an edit in which the mask of a sensitive value stands for one, moved or made up, is
// no valid input. In what is not sensitive the same text is a text.
// SEMANTICS 5.2.10
func TestMaskIsNoSecret(t *testing.T) {
	d := newDesk(t)
	m := consent.Requirement{AllowEdit: true}
	q := question(`{}`, m)
	q.Call.Args = secretCall()
	id := d.ask(0, q)
	r, _ := d.book.Request(id)
	var shown map[string]string
	require.NoError(t, json.Unmarshal(r.Args, &shown))
	edit := func(change func(*secretArgs)) consent.Answer {
		next := *q
		args := secretCall()
		change(args)
		next.Call.Args = args
		return consent.Answer{By: "alice", Approve: true, Edit: &consent.Edit{Question: next}}
	}
	for _, mask := range []string{shown["token"], shown["pin"], shown["flag"], shown["keys"], "(sensitive: 1 characters, 0123456789abcdef)"} {
		d.rejected(consent.InvalidInput, d.decide(1, id, edit(func(a *secretArgs) { a.Token = mask })))
	}
	assert.Equal(t, runtime.ResolutionAccepted, d.decide(2, id, edit(func(a *secretArgs) {
		a.To, a.Token = shown["token"], "(sensitive: a topic)"
	})).Resolution)
}

// TestRewrittenEditIsApprovedAnew: what the policy made of an edit is approved by no one yet, not even by its editor, whose
// next approval names it. The same edit again changes nothing and approves nothing.
//
// SEMANTICS 5.2.7, 5.2.9, 5.5.8
func TestRewrittenEditIsApprovedAnew(t *testing.T) {
	d := newDesk(t)
	m := consent.Requirement{Quorum: 2, AllowEdit: true}
	q := question(`{"sum":50}`, m)
	id := d.ask(0, q)
	require.Equal(t, runtime.ResolutionRecorded, d.decide(1, id, consent.Answer{By: "alice", Approve: true}).Resolution)

	edit := consent.Answer{By: "bob", Approve: true, Edit: edited(q, `{"sum":100}`, m)}
	edit.Edit.Rewritten = true
	res := d.decide(2, id, edit)
	assert.Equal(t, []any{runtime.ResolutionRecorded, 2, true}, []any{res.Resolution, res.Missing, res.Rewritten})
	now, _ := d.book.Request(id)
	assert.Empty(t, now.Votes)
	assert.True(t, now.Rewritten)
	assert.JSONEq(t, `{"sum":100}`, string(now.Args))

	d.rejected(consent.TermsChanged, d.decide(3, id, consent.Answer{By: "bob", Approve: true}))
	edit.Binding = now.Binding
	res = d.decide(4, id, edit)
	assert.Equal(t, []any{runtime.ResolutionRecorded, 2, true}, []any{res.Resolution, res.Missing, res.Rewritten})
	assert.Nil(t, res.Terms)
	assert.Equal(t, 1, d.decide(5, id, consent.Answer{By: "bob", Approve: true, Binding: now.Binding}).Missing)
	assert.Equal(t, 1, d.decide(6, id, edit).Missing, "the vote for what the policy makes of it stays")
	assert.Equal(t, runtime.ResolutionAccepted, d.decide(7, id, consent.Answer{By: "alice", Approve: true, Binding: now.Binding}).Resolution)
}

// TestFormerEditIsApprovedAnew: of an edit that commit 89cfa63 recorded nobody knows whether the policy rewrote it, so its
// editor approves it by another answer, whether the request is read from its entries or from a snapshot of that commit.
//
// SEMANTICS 5.2.7, 5.5.8
func TestFormerEditIsApprovedAnew(t *testing.T) {
	m := consent.Requirement{Quorum: 2, AllowEdit: true}
	q := question(`{"sum":50}`, m)
	edit := consent.Answer{By: "bob", Approve: true, Edit: edited(q, `{"sum":100}`, m)}
	d := newDesk(t)
	id := d.ask(0, q)
	asked := d.book.Snapshot()
	decided := d.book.Decide(after(1), id, &edit)
	decided.Result.Terms.Written = false // as it was recorded
	former, err := consent.Restore(key, asked)
	require.NoError(t, err)
	require.NoError(t, former.Apply(&decided))
	of, _ := former.Request(id)
	assert.Empty(t, of.Votes)
	assert.True(t, of.Rewritten)

	require.NoError(t, d.book.Apply(&decided))
	held := d.book.Snapshot()
	held.Requests[0].Request.Rewritten = false
	held.Requests[0].Request.Votes = []consent.Vote{{By: "bob"}, {By: "carol"}}
	again, err := consent.Restore(key, held)
	require.NoError(t, err)
	of, _ = again.Request(id)
	assert.Equal(t, []consent.Vote{{By: "carol"}}, of.Votes)
	assert.True(t, of.Rewritten)
	blind := again.Decide(after(2), id, &consent.Answer{By: "bob", Approve: true})
	assert.Equal(t, consent.TermsChanged, blind.Result.Rejection)
	seen := again.Decide(after(2), id, &consent.Answer{By: "bob", Approve: true, Binding: of.Binding})
	assert.Equal(t, runtime.ResolutionAccepted, seen.Result.Resolution)
}

// TestEditThatChangesNothing: an edit that leaves the call as it is asked about, or repeats that of another approver, is an
// approval of it.
//
// SEMANTICS 5.2.7, 5.5.8
func TestEditThatChangesNothing(t *testing.T) {
	d := newDesk(t)
	m := consent.Requirement{Quorum: 2, AllowEdit: true}
	q := question(`{"sum":50}`, m)
	same := func(by, args string) consent.Answer {
		return consent.Answer{By: by, Approve: true, Edit: edited(q, args, m)}
	}
	id := d.ask(0, q)
	require.Equal(t, runtime.ResolutionRecorded, d.decide(1, id, consent.Answer{By: "alice", Approve: true}).Resolution)
	assert.Equal(t, runtime.ResolutionRecorded, d.decide(2, id, same("alice", `{"sum":50}`)).Resolution, "one person is one vote")
	assert.Equal(t, runtime.ResolutionAccepted, d.decide(3, id, same("bob", `{"sum":50}`)).Resolution)
	r, _ := d.book.Request(id)
	assert.Empty(t, r.EditedBy)

	id = d.ask(4, q)
	stale, _ := d.book.Request(id)
	require.Equal(t, 1, d.decide(5, id, same("alice", `{"sum":60}`)).Missing)
	again := same("bob", `{"sum":60}`)
	again.Binding = stale.Binding // bob has written what he approves
	assert.Equal(t, runtime.ResolutionAccepted, d.decide(6, id, again).Resolution)
	r, _ = d.book.Request(id)
	assert.Equal(t, "alice", r.EditedBy)

	id = d.ask(7, q)
	require.Equal(t, 1, d.decide(8, id, same("alice", `{"sum":60}`)).Missing)
	shown := same("bob", `{"sum":60}`)
	shown.Edit.Question.Call.Preview = &consent.Preview{Text: "pays 60"}
	d.rejected(consent.TermsChanged, d.decide(9, id, shown))
	r, _ = d.book.Request(id)
	shown.Binding = r.Binding
	assert.Equal(t, 1, d.decide(10, id, shown).Missing, "another preview is other terms")
}
