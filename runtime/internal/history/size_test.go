package history_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// after returns the journal of a session after so many calls, each in a run of its own with a request that was denied, and half of them
// behind snapshots and pages.
func after(t *testing.T, calls int, ended bool) *counted {
	t.Helper()
	c := &counted{Memory: new(journal.Memory)}
	c.append(t, journal.Record{Kind: journal.KindSessionOpened, Session: "s", Principal: "alice", Setup: &journal.Setup{}})
	seq := uint64(0)
	for i := range calls {
		run, id := fmt.Sprintf("run-%06d", i), fmt.Sprintf("call-%06d", i)
		c.append(t, journal.Record{Kind: journal.KindRunStarted, Session: "s", Run: run, Principal: "alice", Metadata: map[string]string{"n": run}, Rules: []rules.Event{{Kind: rules.EventRunStarted, Run: run}}})
		c.call(t, "s", id)
		asked := consent.Request{ID: "q" + id, Session: "s", CallID: id, Expires: began.Add(5 * time.Minute)}
		c.append(t, journal.Record{Kind: journal.KindConsent, Session: "s", Consent: []consent.Event{
			{Seq: seq + 1, Kind: consent.EventAsked, Request: asked.ID, At: began, Asked: &asked},
			{Seq: seq + 2, Kind: consent.EventCancelled, Request: asked.ID, At: began},
		}})
		seq += 2
		if i == calls/2 {
			c.snapshot(t, "s", 2)
		}
	}
	if ended {
		c.append(t, journal.Record{Kind: journal.KindSessionEnded, Session: "s", Principal: "alice"})
	}
	return c
}

// TestTheSizeOfAnEndedSession: its snapshot is of the same size after any number of calls, runs and requests, once these are
// not retained any more, and so is the next one.
// SEMANTICS 6.14.6
func TestTheSizeOfAnEndedSession(t *testing.T) {
	for round, age := range []time.Duration{history.Retained + 6*time.Minute, 2 * history.Retained} {
		var sizes []int
		for _, calls := range []int{2, 200} {
			c := after(t, calls, true)
			if round == 1 {
				c.snapshot(t, "s", 1)
			}
			s := c.session(t, "s")
			r := s.Snapshot(began.Add(age), 0)
			require.Equal(t, calls, r.Snapshot.Runs)
			r.Snapshot.Last, r.Snapshot.Runs, r.Snapshot.Book.Seq = 0, 0, 0 // numbers grow by their digits
			text, err := json.Marshal(r)
			require.NoError(t, err)
			sizes = append(sizes, len(text))
		}
		assert.Equal(t, sizes[0], sizes[1])
		assert.Less(t, sizes[1], 512)
	}
}

// TestASessionRetainsItsRequests for as long as a late answer gets their result, whether it has ended or goes on.
// SEMANTICS 6.14.6
func TestASessionRetainsItsRequests(t *testing.T) {
	for _, ends := range []bool{true, false} {
		c := after(t, 3, ends)
		require.Equal(t, ends, c.session(t, "s").Over)
		assert.Len(t, c.session(t, "s").Snapshot(began.Add(history.Retained+5*time.Minute), 0).Snapshot.Book.Requests, 3)
		assert.Empty(t, c.session(t, "s").Snapshot(began.Add(history.Retained+5*time.Minute+1), 0).Snapshot.Book.Requests)
	}
}
