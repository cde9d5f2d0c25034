package consent_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/runtime/consent"
)

// TestEndedRequestsAreListedByPage: the newest first, each once, whatever ends meanwhile; those that wait
// are not among them, and one whose time is over is, as expired.
func TestEndedRequestsAreListedByPage(t *testing.T) {
	d := newDesk(t)
	q := question(`{}`, approvers("alice"))
	var ids []string
	for range 6 {
		ids = append(ids, d.ask(0, q))
	}
	page := func(at float64, before string, n int) (got []string) {
		for _, r := range d.book.Ended(after(at), before, n) {
			got = append(got, r.ID+" "+r.Status.String())
		}
		return got
	}
	assert.Empty(t, page(1, "", 10))
	d.approve(1, ids[0], "alice")
	d.decide(1, ids[2], consent.Answer{By: "alice"})
	d.approve(1, ids[4], "alice")
	d.use(1, ids[4], q.Call)
	assert.Equal(t, []string{"q5 used", "q3 denied"}, page(2, "", 2))
	d.decide(2, ids[5], consent.Answer{By: "alice"})
	assert.Equal(t, []string{"q1 approved"}, page(2, "q3", 2), "what ended since is on no later page")
	assert.Empty(t, page(2, "q1", 2))
	assert.Empty(t, page(2, "unknown", 2))
	assert.Empty(t, page(2, "", 0))
	assert.Equal(t, []string{"q6 denied", "q5 used", "q4 expired", "q3 denied", "q2 expired", "q1 approved"}, page(100, "", 10))
}
