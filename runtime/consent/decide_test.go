package consent_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
)

// SEMANTICS 5.1.2
func TestResolvedRequestTakesNoFurtherAnswerWhoeverMadeTheEvent(t *testing.T) {
	d := newDesk(t)
	id := d.ask(0, question(`{}`, approvers("alice", "bob")))
	late := d.book.Decide(after(1), id, &consent.Answer{By: "bob", Approve: true})
	d.decide(1, id, consent.Answer{By: "alice"})
	late.Seq = d.book.Seq() + 1
	require.ErrorContains(t, d.book.Apply(&late), "is not open")
	assert.Equal(t, consent.StatusDenied, d.status(id))
}

// SEMANTICS 5.1.2
func TestResolvedRequestRefusesAFurtherAnswer(t *testing.T) {
	for _, first := range []bool{true, false} {
		for _, second := range []bool{true, false} {
			d := newDesk(t)
			id := d.ask(0, question(`{}`, approvers("alice", "bob")))
			d.decide(1, id, consent.Answer{By: "alice", Approve: first})
			resolved := d.status(id)
			e := d.book.Decide(after(2), id, &consent.Answer{By: "bob", Approve: second})
			assert.Equal(t, consent.AlreadyResolved, e.Result.Rejection, "first %t, second %t", first, second)
			require.NoError(t, d.book.Apply(&e))
			assert.Equal(t, resolved, d.status(id))
		}
	}
}

// SEMANTICS 5.2.7
func TestQuorumOfAnEditHasNoVotesForWhatItReplaced(t *testing.T) {
	d := newDesk(t)
	m := consent.Requirement{Quorum: 3, AllowEdit: true}
	q := question(`{"sum":9}`, m)
	id := d.ask(0, q)
	d.approve(1, id, "alice")
	assert.Equal(t, 2, d.decide(2, id, consent.Answer{By: "bob", Approve: true, Edit: edited(q, `{"sum":5}`, m)}).Missing)
	got, _ := d.book.Request(id)
	assert.Len(t, got.Votes, 1)
	assert.Equal(t, 1, d.approve(3, id, "carol").Missing)
	assert.Equal(t, runtime.ResolutionAccepted, d.approve(4, id, "alice").Resolution)
}
