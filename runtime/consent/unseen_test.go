package consent_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
	require.Equal(t, consent.Recorded, d.decide(1, id, blind).Resolution, "nothing was edited")
	edit := consent.Answer{By: "bob", Approve: true, Edit: edited(q, `{"sum":9000}`, m)}
	require.Equal(t, consent.Recorded, d.decide(2, id, edit).Resolution)
	d.rejected(consent.TermsChanged, d.decide(3, id, blind))
	late := blind
	late.Binding = shown
	d.rejected(consent.TermsChanged, d.decide(3, id, late))
	late.Edit = edited(q, `{"sum":1}`, m)
	d.rejected(consent.TermsChanged, d.decide(3, id, late))
	assert.Equal(t, consent.Recorded, d.decide(3, id, consent.Answer{By: "bob", Approve: true}).Resolution, "it repeats bob's own")
	now, _ := d.book.Request(id)
	require.NotEqual(t, shown, now.Binding)
	late.Edit, late.Binding = nil, now.Binding
	assert.Equal(t, consent.Accepted, d.decide(4, id, late).Resolution)

	id, _ = asked()
	require.Equal(t, consent.Recorded, d.decide(5, id, edit).Resolution)
	assert.Equal(t, consent.Accepted, d.decide(6, id, consent.Answer{By: "alice", Binding: shown}).Resolution, "to say no, nothing need be seen")
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
	assert.Equal(t, consent.Accepted, d.decide(2, id, edit(func(a *secretArgs) {
		a.To, a.Token = shown["token"], "(sensitive: a topic)"
	})).Resolution)
}
