package crashtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/disk"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/archive"
)

// The owner archives what it may at times, and the segments are on the disk for files.

// archiving is how many operations an archive takes, so that not each is cut off.
const archiving = 80

// archive archives at times the entries up to a checkpoint that was anchored.
func (w *world) archive() error {
	if w.cuts.IntN(4) > 0 {
		return nil
	}
	folder, err := w.segments()
	if err != nil {
		return err
	}
	if w.cuts.IntN(2) == 0 {
		w.m.later(archiving)
	}
	if w.cuts.IntN(4) > 0 {
		err = w.perform(func() error {
			_ = w.audit.Checkpoint(w.ctx)
			_ = w.hooks.Snapshot(w.ctx, "", 1) // the last entry stays; both fail when the machine dies
			return nil
		})
		if err != nil {
			return err
		}
	}
	var notes [][]byte
	w.m.note(func(m *model) { notes = m.anchors[:len(m.anchors)-w.cuts.IntN(min(2, len(m.anchors)+1))] })
	var done *archive.Done
	var failed error
	forget := w.forget()
	err = w.perform(func() error {
		done, failed = archive.Write(disk.With(w.ctx, folder), &archive.Config{
			Store: w.store, Verifier: w.verifier, Notes: notes, Before: w.clock.Now().Add(time.Hour), To: "/archive",
			Forget: forget, Snapshot: w.exec.Snapshots().Above, Now: w.clock.Now().Add(1000 * 24 * time.Hour), // also what a window of a tool needs
		})
		return nil
	})
	w.say("archive: %+v %v", done, failed)
	if err != nil || w.m.dead() {
		return err
	}
	refused := (*archive.Refusal)(nil)
	switch {
	case errors.As(failed, &refused):
		w.tally["archive refused: nothing may go"]++
	case failed != nil && !w.faulty:
		return fmt.Errorf("archive: %w", failed)
	}
	if failed != nil && w.faulty {
		w.tally["archive on a disk that fails"]++
	}
	return w.moved()
}

// moved finds out where the store begins, which goes up and never down.
func (w *world) moved() error {
	low, err := w.store.Archived(w.ctx)
	if err != nil {
		if w.faulty {
			err = nil
		}
		return err
	}
	if f, ok := w.shop.(*front); ok {
		f.begins(low)
	}
	w.m.note(func(m *model) {
		if low > m.low {
			w.tally["archives"]++
		}
		if low < m.low {
			err = fmt.Errorf("the entries up to %d were archived, and the store begins after %d", m.low, low)
		}
		m.low = low
	})
	return err
}

// low returns the last entry that was archived.
func (w *world) low() (low uint64) {
	w.m.note(func(m *model) { low = m.low })
	return low
}

// entries returns all entries, from segments and from the store.
func (w *world) entries() ([]journal.Entry, error) {
	if f, ok := w.shop.(*front); ok {
		return f.all(), nil
	}
	return w.readAll()
}

// readAll reads all entries, which the segments must prove.
func (w *world) readAll() (list []journal.Entry, err error) {
	from, gone, closing, err := w.joined()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closing()) }()
	for {
		more, err := from.Read(w.ctx, uint64(len(list)), 1<<20)
		if err != nil {
			return nil, err
		}
		if len(more) == 0 {
			return list, w.checkDeleted(w.ctx, list, gone)
		}
		list = append(list, more...)
	}
}

// joined returns a reader of all entries, the segments that are deleted, and what closes its files. The files are those that the store
// names.
func (w *world) joined() (_ *archive.Joined, gone []journal.Segment, closing func() error, err error) {
	folder, err := w.segments()
	if err != nil {
		return nil, nil, nil, err
	}
	segments, err := w.store.Segments(w.ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	var files []*archive.File
	closing = func() (err error) {
		for _, f := range files {
			err = errors.Join(err, f.Close())
		}
		return err
	}
	for _, of := range segments {
		f, deleted, err := w.opened(folder, &of)
		if err != nil {
			return nil, nil, nil, errors.Join(err, closing())
		}
		if deleted {
			gone = append(gone, of)
		}
		files = append(files, f)
		if f.Digest() != of.Digest {
			err = errors.New("another digest than the store says")
		}
		if err = errors.Join(err, f.Signed(w.verifier), f.Prove(w.ctx)); err != nil {
			return nil, nil, nil, errors.Join(fmt.Errorf("the segment %s: %w", of.File, err), closing())
		}
	}
	from, err := archive.Join(w.store, files...)
	return from, gone, closing, err
}

// whole returns a journal with all entries.
func (w *world) whole() (journal.Journal, error) {
	if w.low() == 0 {
		return w.shop, nil
	}
	list, err := w.entries()
	j := new(journal.Memory)
	return j, errors.Join(err, j.Append(w.ctx, list))
}

// segments returns the folder of the segments.
func (w *world) segments() (disk.Dir, error) { return w.m.files.Root().Sub("archive") }

// fate returns the code of an undo that can be told from the entries: a call whose entries are archived is not undone any
// more, and may have been before its caller was told.
func (w *world) fate(id string, code action.Code) (action.Code, error) {
	if code != action.CodeNotUndoable {
		return code, nil
	}
	of, err := w.archived(id)
	if err == nil && of.Undone {
		code = action.CodeAlreadyUndone
	}
	w.tally["undo of an archived call"]++
	return code, err
}

// archived returns what the entries say of a call of which the program says that its outcome is archived.
func (w *world) archived(id string) (*history.Call, error) {
	c, err := w.entriesOf(id)
	if err == nil && (c == nil || c.Outcome == nil || c.Opened > w.low()) {
		err = fmt.Errorf("call %s is said to be archived, and the entries say %+v", id, c)
	}
	return c, err
}

// entriesOf returns what all entries say of a call; nil: nothing.
func (w *world) entriesOf(id string) (*history.Call, error) {
	list, err := w.entries()
	if err != nil {
		return nil, err
	}
	j := &told{Memory: new(journal.Memory)}
	of := w.session().ID
	for i := range list {
		if list[i].Session == of && list[i].Call != "" {
			j.entries = append(j.entries, list[i])
		}
	}
	return history.ReadCall(w.ctx, j, journal.CallKey{Session: of, Call: id})
}

// A told journal has the entries of some calls.
type told struct {
	*journal.Memory
	entries []journal.Entry
}

// Call implements journal.Journal.
func (t *told) Call(_ context.Context, key journal.CallKey) (list []journal.Entry, err error) {
	for i := range t.entries {
		if t.entries[i].Call == key.Call {
			list = append(list, t.entries[i])
		}
	}
	return list, nil
}

// An archives value gives the executor the segments of a world, as far as they are not deleted.
type archives struct{ w *world }

// Entries implements journal.Segments.
func (s archives) Entries(ctx context.Context, seqs ...uint64) ([]journal.Entry, error) {
	folder, err := s.w.segments()
	if err != nil {
		return nil, err
	}
	list, err := archive.Segments{Store: s.w.store}.Entries(disk.With(ctx, folder), seqs...)
	if err == nil {
		s.w.m.note(func(*model) { s.w.tally["entries read from segments"]++ })
	}
	return list, err
}

// fetch puts the outcome that a segment has in the place of the answer that it is archived, and the output that it has of the call
// that was repeated in that of a call that repeats it.
func (w *world) fetch(id string, out *runtime.Outcome) error {
	if out.Reason == runtime.ReasonCallIDReused {
		of, err := w.archived(id)
		if err != nil {
			return err
		}
		w.tally["outcomes in segments"]++
		*out = *of.Outcome
	}
	if out.Kind != runtime.Duplicate || out.Output != nil || out.Artifact != nil || w.low() == 0 {
		return nil
	}
	of, err := w.entriesOf(id)
	if err != nil || of == nil || of.Outcome == nil {
		return err
	}
	out.Message, _, _ = strings.Cut(out.Message, "; the call id")
	out.Output, out.Artifact = of.Outcome.Output, of.Outcome.Artifact // none where the other call had not ended by then
	return nil
}

// after returns the notes of more than low entries: notes of fewer cannot be compared with checkpoints that were archived.
func after(low uint64, notes [][]byte) (list [][]byte) {
	for _, n := range notes {
		if sizeOf(n) >= low {
			list = append(list, n)
		}
	}
	return list
}

// sizeOf returns how many entries a note is about.
func sizeOf(note []byte) (size uint64) {
	if _, err := fmt.Sscan(strings.Split(string(note), "\n")[1], &size); err != nil {
		panic(err) // the audit log has made it
	}
	return size
}

// begins says after which entry the store begins.
func (f *front) begins(low uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.low = low
}

// all returns all entries.
func (f *front) all() []journal.Entry {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.entries[:len(f.entries):len(f.entries)]
}
