package engine

import (
	"context"
	"fmt"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// A shelf has the entries of a book that are archived.
type shelf struct {
	*journal.Memory
	change func(*journal.Entry) error
	asked  []uint64
}

// Entries implements journal.Segments.
func (s *shelf) Entries(ctx context.Context, seqs ...uint64) ([]journal.Entry, error) {
	s.asked = append(s.asked, seqs...)
	list, err := s.Memory.Entries(ctx, seqs...)
	if err == nil && s.change != nil {
		err = s.change(&list[0])
	}
	return list, err
}

// TestOutcomesOfSegments: a call whose entries are archived is answered from the segments, also where only the first entry is archived, and a
// call that repeats one gets the output. It is not undone.
// SEMANTICS 1.4.4
func TestOutcomesOfSegments(t *testing.T) {
	p := newPast(t, 3, nil)
	files := &shelf{Memory: p.book.Memory}
	p.Segments = files
	for gone, asked := range map[uint64][]uint64{4: {3, 4}, 3: {3}} {
		files.asked = nil
		p.book.set(nil, gone)
		r, refused := p.Recall("c2")
		require.Nil(t, refused)
		assert.Equal(t, []any{runtime.Completed, `"ok"`}, []any{r.Outcome().Kind, string(r.Outcome().Output)})
		assert.Equal(t, asked, files.asked)
	}
	out := runtime.Outcome{Kind: runtime.Duplicate, Of: "c1"}
	r, _ := p.Recall("c2")
	p.Repeat(&out, r)
	assert.Equal(t, `"ok"`, string(out.Output))
	assert.Empty(t, p.reports)
	_, err := p.Hold("c1", nil)
	require.NotNil(t, err)
	assert.Equal(t, action.CodeNotUndoable, err.Code, "what an undo needs may be private")
}

// TestARepeatedCallThatIsNotToldYet: the output of a call whose outcome was recorded before that of the one that repeats it, as a start finds it;
// one that was recorded later is not.
func TestARepeatedCallThatIsNotToldYet(t *testing.T) {
	p := newPast(t, 0, nil)
	record := func(id string, at uint64, out runtime.Outcome) *callRecord {
		r := &callRecord{ID: id}
		p.Lock.Lock()
		defer p.Lock.Unlock()
		p.memory.Add(r, p.memory.Calls("r"))
		r.Store(&out)
		r.Recorded(&journal.Record{Mark: journal.MarkEnded}, at)
		return r
	}
	record("c1", 5, runtime.Outcome{Kind: runtime.Completed, Output: []byte(`"ok"`)})
	for at, output := range map[uint64]string{4: "", 6: `"ok"`} {
		out := runtime.Outcome{Kind: runtime.Duplicate, Of: "c1"}
		r := record(fmt.Sprint("again", at), at, out)
		p.Repeat(&out, r)
		assert.Equal(t, []string{output, output}, []string{string(out.Output), string(r.Outcome().Output)})
	}
}

// TestARepeatedCallOfSegments: an archived call that repeats another has the output of that, if it had ended by then.
func TestARepeatedCallOfSegments(t *testing.T) {
	for of, output := range map[string]string{"c1": `"ok"`, "c3": ""} {
		p := newPast(t, 3, func(c *journal.EndedCall) {
			if c.Call == "c2" {
				c.Kind = "duplicate"
			}
		})
		p.book.set(nil, 6)
		p.Segments = &shelf{Memory: p.book.Memory, change: func(e *journal.Entry) error {
			if e.Seq != 4 {
				return nil
			}
			return changed(t, e, func(r *journal.Record) {
				var err error
				r.Output = nil
				r.Outcome, err = history.EncodeOutcome(&runtime.Outcome{Kind: runtime.Duplicate, Of: of})
				require.NoError(t, err)
			})
		}}
		r, refused := p.Recall("c2")
		require.Nil(t, refused)
		assert.Equal(t, []any{runtime.Duplicate, of, output}, []any{r.Outcome().Kind, r.Outcome().Of, string(r.Outcome().Output)})
	}
}

// changed changes the record of an entry.
func changed(t *testing.T, e *journal.Entry, change func(*journal.Record)) error {
	r, err := journal.Decode(e.Leaf)
	require.NoError(t, err)
	change(r)
	*e, err = journal.NewEntry(e.Seq, r, nil)
	return err
}

// TestSegmentsWithoutTheOutcome: what they do not have, or have otherwise than the reference, is denied with the position of the outcome, and
// reported unless the file is not there.
// SEMANTICS 1.4.4
func TestSegmentsWithoutTheOutcome(t *testing.T) {
	record := func(e *journal.Entry, change func(*journal.Record)) error { return changed(t, e, change) }
	for says, change := range map[string]func(*journal.Entry) error{
		"":                 func(*journal.Entry) error { return fmt.Errorf("1.segment: %w", fs.ErrNotExist) },
		"the disk is away": func(*journal.Entry) error { return errDown },
		"of another call":  func(e *journal.Entry) error { return record(e, func(r *journal.Record) { r.Call = "c3" }) },
		"another input": func(e *journal.Entry) error {
			return record(e, func(r *journal.Record) { r.InputMAC = "ff" + recallMac[2:] })
		},
		"has no output":    func(e *journal.Entry) error { return record(e, func(r *journal.Record) { r.Output = nil }) },
		"has no beginning": func(e *journal.Entry) error { return record(e, func(r *journal.Record) { r.Mark = journal.MarkNone }) },
	} {
		p := newPast(t, 3, nil)
		p.Segments = &shelf{Memory: p.book.Memory, change: change}
		p.book.set(nil, 4)
		_, refused := p.Recall("c2")
		require.NotNil(t, refused, says)
		assert.Equal(t, runtime.ReasonCallIDReused, refused.Reason, says)
		assert.Contains(t, refused.Message, "entry 4", says)
		if says == "" {
			assert.Empty(t, p.reports)
			continue
		}
		require.Len(t, p.reports, 1, says)
		assert.ErrorContains(t, p.reports[0].Err, says)
	}
}
