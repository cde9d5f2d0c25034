package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/rules"
	"github.com/ambit-tools/ambit/runtime/wire"
)

const recallMac = "00112233445566778899aabbccddeeff"

var errDown = errors.New("the disk is away")

// A live is a call that can change.
// A book is a journal of calls c1, c2 and so on that have completed, two entries each.
type book struct {
	*journal.Memory
	mu    sync.Mutex
	fault error  // of each read
	gone  uint64 // the last entry that is archived
	wait  func() // before each read of a call
}

func (b *book) set(fault error, gone uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fault, b.gone = fault, gone
}

// Call implements journal.Journal.
func (b *book) Call(ctx context.Context, key journal.CallKey) ([]journal.Entry, error) {
	if b.wait != nil {
		b.wait()
	}
	list, err := b.Memory.Call(ctx, key)
	if err == nil && len(list) > 0 {
		err = b.refuse(list[0].Seq)
	}
	return list, err
}

// Entries implements journal.Journal.
func (b *book) Entries(ctx context.Context, seqs ...uint64) ([]journal.Entry, error) {
	if err := b.refuse(seqs[0]); err != nil {
		return nil, err
	}
	return b.Memory.Entries(ctx, seqs...)
}

func (b *book) refuse(seq uint64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fault == nil && seq <= b.gone {
		return &journal.ArchivedError{Seq: seq, Last: b.gone, Segment: "1.segment"}
	}
	return b.fault
}

// A past is the calls of a session that ended, and what was reported of them.
type past struct {
	*endedReader
	book    *book
	memory  *memory
	lock    sync.Mutex
	reports []*action.CallError
}

// newPast returns calls that ended, by reference. change changes what the references say.
func newPast(t *testing.T, calls int, change func(*journal.EndedCall)) *past {
	t.Helper()
	engine, err := rules.Compile(rules.Config{Tools: []rules.Tool{{Name: "t"}}})
	require.NoError(t, err)
	out, err := history.EncodeOutcome(&runtime.Outcome{Kind: runtime.Completed})
	require.NoError(t, err)
	memory := newMemory(engine, true, nil)
	p := &past{book: &book{Memory: new(journal.Memory)}, memory: &memory}
	restored := &history.Session{State: engine.NewState()}
	for n := range calls {
		id, opened := fmt.Sprint("c", n+1), uint64(2*n+1)
		for i, r := range []journal.Record{
			{Kind: runtime.EventInvoked.String(), Mark: journal.MarkOpened, To: "DECLARED", InputMAC: recallMac, Principal: "alice"},
			{Kind: runtime.EventCompleted.String(), Mark: journal.MarkEnded, To: "COMPLETED", Outcome: out, Output: &journal.Payload{Bytes: 4, Value: []byte(`"ok"`)}},
		} {
			r.Session, r.Run, r.Call, r.Tool, r.At = "s", "r", id, "t", time.Unix(1, 0).UTC()
			e, err := journal.NewEntry(opened+uint64(i), &r, nil)
			require.NoError(t, err)
			require.NoError(t, p.book.Append(t.Context(), []journal.Entry{e}))
		}
		c := journal.EndedCall{Call: id, Run: "r", Tool: "t", Opened: opened, Outcome: opened + 1, Kind: "completed", InputMAC: recallMac, Started: true}
		if change != nil {
			change(&c)
		}
		restored.ByReference = append(restored.ByReference, history.Reference{EndedCall: c, Number: n + 1})
	}
	memory.Restore(restored)
	p.endedReader = &endedReader{
		Session: "s", Lock: &p.lock, Memory: p.memory, Journal: p.book, Sched: new(sched.Scheduler), Quiet: func(*call) bool { return true },
		Report: func(e *action.CallError) { p.reports = append(p.reports, e) }, Pin: func() func() { return func() {} },
	}
	return p
}

// hold holds a call, and counts how often it was made a record again.
func (p *past) hold(id string, revived *int) (*callRecord, *action.Error) {
	return p.Hold(id, func(*history.Call, *callRecord) { *revived++ })
}

// TestAJournalThatFails refuses what asks for a call, tells the error handler why, and answers when it can be read again.
// SEMANTICS 1.4.7
func TestAJournalThatFails(t *testing.T) {
	p := newPast(t, 2, nil)
	p.book.set(errDown, 0)
	revived := 0
	r, refused := p.Recall("c1")
	assert.Nil(t, r)
	require.NotNil(t, refused)
	assert.Equal(t, runtime.Denied, refused.Kind)
	assert.Equal(t, runtime.ReasonJournalUnavailable, refused.Reason, "it is not a call that was never made")
	_, was := p.Find("c1")
	_, refused = p.Earlier(nil, was, "c1", func(tool string) bool { return tool == "t" })
	require.NotNil(t, refused)
	assert.Equal(t, runtime.ReasonJournalUnavailable, refused.Reason, "nothing is carried out")
	_, err := p.hold("c1", &revived)
	require.NotNil(t, err)
	assert.Equal(t, action.CodeJournalUnavailable, err.Code)
	require.Len(t, p.reports, 3)
	for _, e := range p.reports {
		require.ErrorIs(t, e.Err, errDown)
		assert.Equal(t, "c1", e.CallID)
		assert.Equal(t, runtime.ReasonJournalUnavailable, e.Reason)
	}

	p.book.set(nil, 0)
	r, refused = p.Recall("c1")
	require.Nil(t, refused)
	assert.Equal(t, `"ok"`, string(r.Outcome().Output))
	r, err = p.hold("c1", &revived)
	require.Nil(t, err)
	assert.Equal(t, 1, revived)
	p.LetGo(r)
	assert.Len(t, p.reports, 3)
}

// TestOtherEntriesAreRefused: a call whose entries are not those that memory refers to is neither answered nor taken for a new one.
// SEMANTICS 1.4.7
func TestOtherEntriesAreRefused(t *testing.T) {
	for what, change := range map[string]func(*journal.EndedCall){
		"input":    func(c *journal.EndedCall) { c.InputMAC = "ff" + recallMac[2:] },
		"outcome,": func(c *journal.EndedCall) { c.Kind = "failed" },
		"entries":  func(c *journal.EndedCall) { c.Outcome++ },
	} {
		p := newPast(t, 1, change)
		r, refused := p.Recall("c1")
		assert.Nil(t, r, what)
		require.NotNil(t, refused, what)
		assert.Equal(t, runtime.ReasonJournalUnavailable, refused.Reason, what)
		require.Len(t, p.reports, 1, what)
		require.ErrorContains(t, p.reports[0].Err, what)
		revived := 0
		_, err := p.hold("c1", &revived)
		require.NotNil(t, err, what)
		assert.Equal(t, action.CodeJournalUnavailable, err.Code, what)
		assert.Zero(t, revived, what)
	}
}

// TestArchivedCalls: their ids are used, and they are not undone, whether or not their record is in memory.
func TestArchivedCalls(t *testing.T) {
	p := newPast(t, 3, func(c *journal.EndedCall) { c.Undone = c.Call == "c2" })
	revived := 0
	held, err := p.hold("c3", &revived) // a record again
	require.Nil(t, err)
	p.book.set(nil, 6)
	_, refused := p.Recall("c1")
	require.NotNil(t, refused)
	assert.Equal(t, runtime.ReasonCallIDReused, refused.Reason)
	assert.Contains(t, refused.Message, "entry 2")
	for id, code := range map[string]action.Code{"c1": action.CodeNotUndoable, "c2": action.CodeAlreadyUndone, "c3": action.CodeNotUndoable} {
		_, err := p.hold(id, &revived)
		require.NotNil(t, err, id)
		assert.Equal(t, code, err.Code, id)
	}
	held.Undo.Done = true
	r, err := p.hold("c3", &revived)
	require.Nil(t, err, "what was undone needs no entry")
	assert.Same(t, held, r)
	p.LetGo(held, r)
	assert.Equal(t, 1, revived)
	assert.Empty(t, p.reports, "archived entries are no fault of the journal")
}

// TestOneRecordOfTwoHolds: two undos that read one call at the same time have one record of it.
func TestOneRecordOfTwoHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPast(t, 1, nil)
		open := make(chan struct{})
		p.book.wait = func() { <-open }
		var records [2]*callRecord
		var wg sync.WaitGroup
		for i := range records {
			wg.Go(func() {
				r, err := p.Hold("c1", func(*history.Call, *callRecord) {})
				if err == nil {
					records[i] = r
				}
			})
		}
		synctest.Wait() // both read the journal, and neither has the lock
		require.True(t, p.lock.TryLock())
		p.lock.Unlock()
		close(open)
		wg.Wait()
		require.NotNil(t, records[0])
		assert.Same(t, records[0], records[1])
		p.LetGo(records[:]...)
	})
}

// TestARepeatedIDWhileItsSessionLoads waits for the load: it is not taken for an id that is new.
func TestARepeatedIDWhileItsSessionLoads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loaded := newPast(t, 1, nil)
		p := newPast(t, 0, nil)
		p.book = loaded.book
		p.Journal = p.book
		ready := make(chan struct{})
		p.Pin = func() func() { <-ready; return func() {} }
		kinds := make([]runtime.OutcomeKind, 2)
		var wg sync.WaitGroup
		for i := range kinds {
			wg.Go(func() {
				if r, refused := p.Recall("c1"); refused == nil {
					kinds[i] = r.Outcome().Kind
				} else {
					kinds[i] = refused.Kind
				}
			})
		}
		synctest.Wait()
		p.lock.Lock()
		p.memory.Restore(&history.Session{State: p.memory.Rules(), ByReference: []history.Reference{{
			EndedCall: journal.EndedCall{Call: "c1", Run: "r", Tool: "t", Opened: 1, Outcome: 2, Kind: "completed", InputMAC: recallMac}, Number: 1,
		}}})
		p.lock.Unlock()
		close(ready)
		wg.Wait()
		assert.Equal(t, []runtime.OutcomeKind{runtime.Completed, runtime.Completed}, kinds)
	})
}

// TestLaterCallsThatCannotBeRead may share anything with the calls that are undone.
func TestLaterCallsThatCannotBeRead(t *testing.T) {
	p := newPast(t, 2, nil)
	revived := 0
	r, err := p.hold("c1", &revived)
	require.Nil(t, err)
	tool := &tools.Tool{Spec: &runtime.Spec{Name: "t", Effect: runtime.SideEffectWrite, Undo: &runtime.UndoSpec{TTL: time.Hour}}}
	o := overlapRules{Tool: func(string) *tools.Tool { return tool }, Final: func(*call) wire.Value { return nil }}
	p.book.set(errDown, 0)
	calls := []action.UndoneCall{{CallID: "c1", Tool: "t"}}
	p.AddLater(calls, o)
	require.Len(t, calls[0].Later, 1)
	assert.Equal(t, "c2", calls[0].Later[0].CallID)
	assert.Equal(t, []string{"what it was about cannot be read"}, calls[0].Later[0].Shares)
	p.LetGo(r)
}
