package consent_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/consent"
)

// asked is a question of two rules, with a condition.
func asked() *consent.Question {
	q := question(`{"to":"a"}`, approvers("alice", "bob"))
	q.Reasons = consent.Reasons([]consent.Ask{
		{ID: "large", Message: "more than 100", Approvers: []string{"alice", "bob"}, Quorum: 1, MaxCover: consent.CoverArgs, At: "money.rego:7"},
		{ID: "abroad", Message: "leaves the country", Timeout: time.Minute, At: "money.rego:12"},
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

		"another rule":     {func(q *consent.Question) { q.Reasons[1].Code = "away" }, false},
		"one rule more":    {func(q *consent.Question) { q.Reasons = append(q.Reasons, consent.Reason{Code: "night"}) }, false},
		"one rule less":    {func(q *consent.Question) { q.Reasons = q.Reasons[:1] }, false},
		"no rule":          {func(q *consent.Question) { q.Reasons = nil }, false},
		"another message":  {func(q *consent.Question) { q.Reasons[0].Message += "0" }, false},
		"other approvers":  {func(q *consent.Question) { q.Reasons[0].Approvers = []string{"alice"} }, false},
		"another approver": {func(q *consent.Question) { q.Reasons[0].Approvers = []string{"alice", "carol"} }, false},
		"no approvers":     {func(q *consent.Question) { q.Reasons[0].Approvers = nil }, false},
		"a higher quorum":  {func(q *consent.Question) { q.Reasons[0].Quorum = 2 }, false},
		"a wider cover":    {func(q *consent.Question) { q.Reasons[0].MaxCover = consent.CoverTool }, false},
		"swapped messages": {func(q *consent.Question) {
			q.Reasons[0].Message, q.Reasons[1].Message = q.Reasons[1].Message, q.Reasons[0].Message
		}, false},
		"another duty":  {func(q *consent.Question) { q.Obligations[0].Code = "redact_output" }, false},
		"other args":    {func(q *consent.Question) { q.Obligations[0].Args = []byte(`{"who":"boss"}`) }, false},
		"one duty less": {func(q *consent.Question) { q.Obligations = q.Obligations[:1] }, false},
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
	now.Call.Revision, now.Reasons[0].Message = "v2", "Transfer less money"
	require.Equal(t, consent.Accepted, d.decide(1, id, consent.Answer{By: "alice", Approve: true, Edit: &consent.Edit{Question: *now}}).Resolution)
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
