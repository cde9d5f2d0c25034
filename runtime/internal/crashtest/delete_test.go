package crashtest

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"time"

	"github.com/ambit-tools/ambit/runtime/internal/disk"
	"github.com/ambit-tools/ambit/runtime/internal/simfs"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/archive"
)

// The owner deletes segments at times. The test has copies of them, so that it can still read all entries.

// erase deletes at times the segments that end before a moment.
func (w *world) erase() error {
	if w.low() == 0 || w.forgets.IntN(3) > 0 {
		return nil
	}
	folder, err := w.segments()
	if err != nil {
		return err
	}
	segments, err := w.copied(folder)
	if err != nil || w.m.dead() {
		return err
	}
	before := w.clock.Now().Add(time.Second - time.Duration(w.forgets.IntN(4))*time.Minute)
	if w.forgets.IntN(2) == 0 {
		w.m.later(archiving)
	}
	w.m.note(func(m *model) {
		if before.After(m.erased) {
			m.erased = before
		}
	})
	err = w.perform(func() error {
		return archive.Delete(disk.With(w.ctx, folder), &archive.Deletion{
			Store: w.store, Before: before, Reason: "battery", Record: w.exec.Snapshots().Record, Sign: w.audit.Checkpoint,
		})
	})
	w.say("delete: %v", err)
	switch {
	case w.m.dead():
		return nil
	case err != nil && w.faulty:
		w.tally["deletions on a disk that fails"]++
		return nil
	case err != nil:
		return fmt.Errorf("delete: %w", err)
	}
	for i := range segments {
		if _, err := folder.Lstat(path.Base(segments[i].File)); err == nil {
			break // it is not old enough, and neither are those behind it
		}
		w.tally["deletions"]++
	}
	return nil
}

// copied copies the segments, as far as that was not done, and returns them.
func (w *world) copied(folder disk.Dir) ([]journal.Segment, error) {
	segments, err := w.store.Segments(w.ctx)
	for i := range segments {
		name := path.Base(segments[i].File)
		var text []byte
		if text, err = textOf(folder, name); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				err = nil // it is deleted, and was copied before that
				continue
			}
			break
		}
		w.m.note(func(m *model) { m.copies[name] = text })
	}
	if err != nil && w.faulty {
		return nil, nil
	}
	return segments, err
}

// textOf returns what is in a file.
func textOf(dir disk.Dir, name string) ([]byte, error) {
	f, err := dir.Open(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(f)
	return text, errors.Join(err, f.Close())
}

// opened opens a segment, or the copy of one that is deleted.
func (w *world) opened(folder disk.Dir, of *journal.Segment) (f *archive.File, deleted bool, err error) {
	f, err = archive.OpenOn(folder, of.File)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, false, err
	}
	name := path.Base(of.File)
	var text []byte
	w.m.note(func(m *model) { text = m.copies[name] })
	if text == nil {
		return nil, true, err
	}
	aside := simfs.New(1).Root()
	file, err := aside.Open(name, os.O_WRONLY|os.O_CREATE, 0o600)
	if err == nil {
		_, err = file.Write(text)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		return nil, true, err
	}
	f, err = archive.OpenOn(aside, of.File)
	return f, true, err
}

// checkDeleted requires of each segment that is not there that its deletion was asked for, and that the audit log has signed and
// anchored the record of it.
func (w *world) checkDeleted(ctx context.Context, list []journal.Entry, gone []journal.Segment) error {
	recorded := map[journal.Deleted]uint64{}
	for i := range list {
		if list[i].Kind != journal.KindDeleted {
			continue
		}
		r, err := journal.Decode(list[i].Leaf)
		if err != nil {
			return err
		}
		if recorded[*r.Deleted] == 0 {
			recorded[*r.Deleted] = list[i].Seq
		}
	}
	anchored, erased := w.anchored()
	for i := range gone {
		of := &gone[i]
		record := journal.Deleted{First: of.First, Last: of.Last, File: of.File, Digest: base64.StdEncoding.EncodeToString(of.Digest[:]), Reason: "battery"}
		at := recorded[record]
		switch {
		case at == 0:
			return fmt.Errorf("the segment %q is deleted without a record", of.File)
		case at > anchored:
			return fmt.Errorf("the segment %q is deleted, of which entry %d tells, and an anchor has %d entries", of.File, at, anchored)
		case !list[of.Last-1].At.Before(erased):
			return fmt.Errorf("the segment %q is deleted, whose last entry is of %s", of.File, list[of.Last-1].At)
		}
		delete(recorded, record)
	}
	w.tally["deletions that were cut off"] += len(recorded)
	return ctx.Err()
}

// anchored returns the largest size of which a note is anchored, and the time before which segments were to be deleted.
func (w *world) anchored() (size uint64, erased time.Time) {
	w.m.note(func(m *model) {
		for _, n := range m.anchors {
			size = max(size, sizeOf(n))
		}
		erased = m.erased
	})
	return size, erased
}
