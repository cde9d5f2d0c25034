package engine

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/ruleinput"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// TestRest: a call that has ended and is at rest becomes a reference once enough others have ended after it; one that
// is held, is being undone, is unknown or was not recorded whole does not.
func TestRest(t *testing.T) {
	m := sessionMemory(t, true, nil)
	quiet := func(*call) bool { return true }
	for i := range 3 * keepRecent {
		r, _ := m.add(t, fmt.Sprintf("c%d", i), "r")
		r.Recorded(&journal.Record{Mark: journal.MarkOpened, InputMAC: "00112233445566778899aabbccddeeff"}, uint64(2*i+1))
		lost := ""
		switch i {
		case 0:
			m.Keep(r)
		case 1:
			r.Undo.Busy = true
		case 3:
			lost = "too large"
		}
		kind := runtime.Completed
		if i == 2 {
			kind = runtime.Unknown
		}
		r.Recorded(&journal.Record{Mark: journal.MarkEnded, Lost: lost}, uint64(2*i+2))
		r.end(runtime.Outcome{Kind: kind})
		m.Rest(r, quiet)
	}
	for i := range 4 {
		assert.NotNil(t, m.Find(fmt.Sprintf("c%d", i)), i)
	}
	was := m.Reference("c4")
	require.NotNil(t, was)
	assert.Nil(t, m.Find("c4"))
	assert.EqualValues(t, 9, was.Opened)
	assert.EqualValues(t, 10, was.Outcome)
	assert.EqualValues(t, 0x11, was.Input[1])
	assert.Equal(t, runtime.Completed, was.Kind)
	_, again := m.Add(&callRecord{ID: "c4"}, m.Calls("r"))
	assert.NotNil(t, again, "its id is used")
	done := m.Succeeded("r")
	assert.Len(t, done, 3*keepRecent-1)
	assert.Equal(t, fmt.Sprintf("c%d", 3*keepRecent-1), done[0].ID)

	r := &callRecord{ID: "c4", Number: was.Number}
	assert.Same(t, r, m.Hold(r, was))
	assert.Same(t, r, m.Find("c4"))
	assert.Nil(t, m.Reference("c4"))
	assert.Same(t, r, m.Hold(&callRecord{ID: "c4"}, was), "two undos have one record")
	stale := *m.Reference("c5")
	stale.Outcome++
	assert.Nil(t, m.Hold(&callRecord{ID: "c5"}, &stale), "it was read before it changed")
}

// TestACallOfAnEarlierProcess whose outcome a recovery has recorded needs its entries, so that it is not undone once they are archived, and becomes a
// reference as any other.
func TestACallOfAnEarlierProcess(t *testing.T) {
	m := sessionMemory(t, true, nil)
	of := &history.Call{ID: "c", Tool: "a", Opened: 7, InputMAC: "00112233445566778899aabbccddeeff"}
	r := restoredRecord(of)
	m.Add(r, m.Calls("r"))
	assert.Zero(t, r.Needs(), "it has no outcome")
	r.Recorded(&journal.Record{Mark: journal.MarkEnded}, 12)
	r.Store(&runtime.Outcome{Kind: runtime.Completed})
	assert.EqualValues(t, 7, r.Needs())
	m.Rest(r, func(*call) bool { return true })
	for i := range keepRecent {
		next, _ := m.add(t, fmt.Sprint("next", i), "r")
		next.Recorded(&journal.Record{Mark: journal.MarkOpened}, uint64(20+2*i))
		next.Recorded(&journal.Record{Mark: journal.MarkEnded}, uint64(21+2*i))
		next.end(runtime.Outcome{Kind: runtime.Completed})
		m.Rest(next, func(*call) bool { return true })
	}
	was := m.Reference("c")
	require.NotNil(t, was)
	assert.Equal(t, [2]uint64{7, 12}, [2]uint64{was.Opened, was.Outcome})
	assert.Equal(t, callDigestOf(of.InputMAC), was.Input)
}

// TestArchivedCallsAreRemembered when their session is loaded: their ids are used, and none of them is made again.
// SEMANTICS 1.4.4
func TestArchivedCallsAreRemembered(t *testing.T) {
	m := sessionMemory(t, true, nil)
	m.Restore(&history.Session{ByReference: []history.Reference{{
		EndedCall: journal.EndedCall{Call: "call-7", Run: "r", Tool: "a", Opened: 3, Outcome: 5, Kind: "completed"}, Number: 1,
	}}})
	was := m.Reference("call-7")
	require.NotNil(t, was)
	assert.EqualValues(t, 5, was.Outcome)
	made, _ := m.add(t, "", "r")
	assert.Equal(t, "call-8", made.ID)
}

// TestARepeatedInputIsCompared with that of a call that was read.
func TestARepeatedInputIsCompared(t *testing.T) {
	key := ruleinput.Key("key")
	earlier := endedRecord(new(sched.Scheduler), &endedCall{ID: "c"}, &history.Call{
		ID: "c", Tool: "a", InputMAC: key.MAC([]byte("1")), Outcome: &runtime.Outcome{Kind: runtime.Completed},
	})
	assert.True(t, (&callRecord{ID: "c", Tool: "a", By: new(callOrigin), Input: []byte("1")}).Repeats(earlier, nil, key))
	assert.False(t, (&callRecord{ID: "c", Tool: "a", By: new(callOrigin), Input: []byte("2")}).Repeats(earlier, nil, key))
	assert.False(t, (&callRecord{ID: "c", Tool: "a", By: &callOrigin{Principal: "erik"}, Input: []byte("1")}).Repeats(earlier, nil, key))
}
