package engine_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// slow is a journal with slow appends. It knows the last entry of each of its
// transactions.
type slow struct {
	journal.Memory
	last []uint64
}

func (s *slow) Append(ctx context.Context, entries []journal.Entry) error {
	time.Sleep(50 * time.Microsecond)
	s.last = append(s.last, entries[len(entries)-1].Seq)
	return s.Memory.Append(ctx, entries)
}

// transaction returns the number of the transaction of an entry.
func (s *slow) transaction(seq uint64) (n int) {
	for n = range s.last {
		if seq <= s.last[n] {
			break
		}
	}
	return n
}

// TestApprovalIsUsedUpWithTheStart checks that an approval is used up in the
// transaction of the start, while entries of other sessions include changes of the
// requests.
// SEMANTICS 6.6.3
func TestApprovalIsUsedUpWithTheStart(t *testing.T) {
	var j slow
	r := recovered(t, &j, readTool(okRead, asking()), readTool(okRead, named("other")))
	turn := func(session string) *engine.Turn {
		run, err := r.exec.Session(engine.SessionConfig{ID: session, Principal: "agent"}).StartRun(t.Context(), engine.RunConfig{ID: "r"})
		require.NoError(t, err)
		return run.Turn(engine.TurnConfig{})
	}
	var asked []string
	for i := range 500 {
		asked = append(asked, turn(fmt.Sprint("s", i)).Execute(t.Context(), callOf(fmt.Sprint("c", i), "file_read", goodInput)).RequestID)
	}
	ctx, end := context.WithCancel(t.Context())
	var others, answers sync.WaitGroup
	for i := range 8 {
		turn := turn(fmt.Sprint("other", i))
		others.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				turn.Execute(t.Context(), callOf(fmt.Sprint(n), "other", goodInput))
			}
		})
	}
	for i := range 16 {
		answers.Go(func() {
			for n := i; n < len(asked); n += 16 {
				assert.Equal(t, runtime.ResolutionAccepted, r.exec.Decide(t.Context(), asked[n], yes("alice")).Kind)
			}
		})
	}
	answers.Wait()
	end()
	others.Wait()

	used, started := map[string]int{}, map[string]int{}
	entries, err := j.Read(t.Context(), 0, 1<<30)
	require.NoError(t, err)
	for i := range entries {
		rec, err := journal.Decode(entries[i].Leaf)
		require.NoError(t, err)
		for _, ev := range rec.Consent {
			if ev.Kind == consent.EventUsed {
				used[ev.Call] = j.transaction(entries[i].Seq)
			}
		}
		if rec.Mark == journal.MarkStarted && rec.Tool == "file_read" {
			started[rec.Call] = j.transaction(entries[i].Seq)
		}
	}
	assert.Len(t, used, len(asked))
	assert.Equal(t, started, used)
}
