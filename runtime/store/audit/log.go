package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// A Log keeps the Merkle log of a journal and signs checkpoints of it. Its
// methods are safe for concurrent use. It is to be closed before what it was
// made of.
type Log struct {
	inner    journal.Journal
	store    Checkpoints
	signer   note.Signer
	verifier note.Verifier
	report   func(error)
	after    func(time.Duration, func()) func() bool
	restored []uint64 // down to which sizes the journal was restored before

	hasher hasher      // of Append, which one goroutine at a time calls
	hashes []tlog.Hash // likewise

	telling sync.Mutex // held while report runs

	mu      sync.Mutex
	tree    tree
	pending []tlog.Hash // of the leaves after saved, unless short
	short   bool        // too many were pending, and dropped
	tried   uint64      // up to where a checkpoint was tried
	saved   uint64      // up to where one was stored
	stop    func() bool // of the timer; nil: it does not run
	queued  bool        // a goroutine is about to make a checkpoint
	closed  bool
	working sync.WaitGroup // goroutines that make checkpoints

	turn    chan struct{} // held by the goroutine that makes a checkpoint; guards the next field
	anchors []anchor
}

// An anchor is one, and up to where it has got the log.
type anchor struct {
	to   Anchor
	size uint64
}

// New returns the log of a journal. It continues from the last checkpoint in
// store: entries after it, which a crash has left without one, are added. It
// refuses, with ErrTampered, a journal that is not the one of which that
// checkpoint was made, or not the one of the newest note of an anchor that is a
// [NoteReader]. It compares only the entries of the last interval; Verify
// compares all.
//
// The key's name is the origin of the log, and all checkpoints of a journal have
// one key.
func New(ctx context.Context, inner journal.Journal, store Checkpoints, signer note.Signer, opts ...Option) (*Log, error) {
	l := newLog(inner, store, signer, opts)
	if err := l.resume(ctx); err != nil {
		return nil, err
	}
	return l, nil
}

func newLog(inner journal.Journal, store Checkpoints, signer note.Signer, opts []Option) *Log {
	l := &Log{
		inner: inner, store: store, signer: signer,
		report: reportError, after: afterFunc, turn: make(chan struct{}, 1),
	}
	for _, o := range opts {
		o(l)
	}
	return l
}

// Journal returns the journal to append to from now on; no other writer may append
// to the inner one. See [journal.Wrap].
func (l *Log) Journal() journal.Journal { return journal.Wrap(l.inner, l.append) }

// append stores entries and then adds them to the tree: what is in the tree is
// durable. It waits for no checkpoint.
func (l *Log) append(ctx context.Context, entries []journal.Entry) error {
	l.mu.Lock()
	next, closed := l.tree.Size+1, l.closed
	l.mu.Unlock()
	if closed {
		return fmt.Errorf("the audit log: %w", journal.ErrClosed)
	}
	// Were the inner journal to take it, the tree would miss what is between.
	if len(entries) > 0 && entries[0].Seq != next {
		return fmt.Errorf("entry %d where the audit log continues with %d: %w", entries[0].Seq, next, journal.ErrConflict)
	}
	if err := l.inner.Append(ctx, entries); err != nil {
		return err
	}
	l.hashes = l.hashes[:0]
	ends := false
	for i := range entries {
		l.hashes = append(l.hashes, l.hasher.Leaf(entries[i].Leaf))
		ends = ends || entries[i].Kind == journal.KindRunClosed || entries[i].Kind == journal.KindSessionEnded
	}
	l.add(l.hashes, ends)
	return nil
}

// add adds leaves to the tree, and sees to it that they get a checkpoint.
func (l *Log) add(hashes []tlog.Hash, now bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.grow(hashes)
	l.arm(now)
}

// grow adds leaves to the tree. The caller holds the lock.
func (l *Log) grow(hashes []tlog.Hash) {
	for _, h := range hashes {
		l.tree.Add(h)
	}
	if len(l.pending)+len(hashes) > maxPending {
		l.short, l.pending = true, nil
	}
	if !l.short {
		l.pending = append(l.pending, hashes...)
	}
}

// arm sees to it that there will be a checkpoint of what there is. The caller
// holds the lock.
func (l *Log) arm(now bool) {
	switch {
	case l.closed || l.tree.Size == l.tried:
	case now || l.tree.Size-l.tried >= Interval:
		l.start()
	case l.stop == nil:
		l.stop = l.after(Delay, l.due)
	}
}

// due is called by the timer.
func (l *Log) due() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stop = nil
	if !l.closed && l.tree.Size != l.tried {
		l.start()
	}
}

// start makes a checkpoint in a goroutine, unless one is about to begin that will
// see all there is. The caller holds the lock.
func (l *Log) start() {
	if l.queued {
		return
	}
	l.queued = true
	l.working.Go(func() {
		l.turn <- struct{}{}
		_ = l.flush(context.Background()) // it has reported the error
	})
}

// Checkpoint makes a checkpoint now of all there is, and returns when it is stored
// and anchored. Calling it is optional: it is for a program that may end without Close.
func (l *Log) Checkpoint(ctx context.Context) error {
	select {
	case l.turn <- struct{}{}:
		return l.flush(ctx)
	case <-ctx.Done():
		err := fmt.Errorf("no checkpoint was made, because the one before took too long: %w", ctx.Err())
		l.tell(err)
		return err
	}
}

// Close makes the last checkpoint and waits for what is under way. The journal
// fails with journal.ErrClosed from then on; the inner one is not closed. The
// error is that of the checkpoint, which was reported too; or that ctx ended before
// an anchor has answered. What has no checkpoint then gets one from the next New.
func (l *Log) Close(ctx context.Context) error {
	l.mu.Lock()
	l.closed = true
	l.disarm()
	l.mu.Unlock()
	err := l.Checkpoint(ctx)
	done := make(chan struct{})
	go func() {
		l.working.Wait()
		close(done)
	}()
	select {
	case <-done:
		return err
	case <-ctx.Done():
		return errors.Join(err, fmt.Errorf("a checkpoint is still being made: %w", ctx.Err()))
	}
}

// disarm stops the timer. The caller holds the lock.
func (l *Log) disarm() {
	if l.stop != nil {
		l.stop()
		l.stop = nil
	}
}

// flush makes a checkpoint, unless the last one needs no successor. The caller has
// taken the turn, which flush releases.
func (l *Log) flush(ctx context.Context) error {
	defer func() { <-l.turn }()
	l.mu.Lock()
	l.queued = false
	l.disarm()
	t, leaves, from := l.tree.Clone(), slices.Clone(l.pending), l.saved
	if l.short {
		leaves = nil
	}
	l.tried = t.Size
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := l.write(ctx, &t, leaves, from)
	if err != nil {
		l.tell(err)
	}
	return err
}

// write signs, stores and anchors a checkpoint, as far as it is not. What fails is
// made up for by the next one, which says all that this one says. The first is not
// anchored before it is stored: a journal without checkpoints of which an anchor has
// a note is one whose checkpoints were removed.
func (l *Log) write(ctx context.Context, t *tree, leaves []tlog.Hash, saved uint64) error {
	if t.Size == 0 || t.Size == saved && !slices.ContainsFunc(l.anchors, func(a anchor) bool { return a.size != t.Size }) {
		return nil
	}
	signed, err := sign(t, l.restored, l.signer)
	if err != nil {
		return fmt.Errorf("the checkpoint of %d entries was not signed, the next one will be tried: %w", t.Size, err)
	}
	var errs []error
	if t.Size != saved {
		if err := l.store.SaveCheckpoint(ctx, t.Size, pack(signed, t, leaves)); err != nil {
			errs = append(errs, fmt.Errorf("the checkpoint of %d entries was not stored, the next one will be tried: %w", t.Size, err))
			if saved == 0 {
				return errors.Join(errs...)
			}
		} else {
			l.settle(t.Size)
		}
	}
	for i := range l.anchors {
		a := &l.anchors[i]
		if a.size == t.Size {
			continue
		}
		if err := a.take(ctx, signed); err != nil {
			errs = append(errs, fmt.Errorf("the checkpoint of %d entries was not anchored, the next one will be tried: %w", t.Size, err))
		} else {
			a.size = t.Size
		}
	}
	return errors.Join(errs...)
}

// take anchors a note. It turns a panic of the anchor into an error: the panic would
// end the process, and with it the calls that are running.
func (a *anchor) take(ctx context.Context, signed []byte) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the anchor panicked: %v", r)
		}
	}()
	return a.to.Anchor(ctx, signed)
}

// tell reports an error.
func (l *Log) tell(err error) {
	l.telling.Lock()
	defer l.telling.Unlock()
	l.report(err)
}

// settle forgets the hashes of leaves that are stored with a checkpoint.
func (l *Log) settle(size uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.saved = size
	if l.short {
		// What came since was not kept. The next interval begins with what is to come.
		l.short = l.tree.Size != size
		return
	}
	rest := l.tree.Size - size
	l.pending = append(l.pending[:0], l.pending[uint64(len(l.pending))-rest:]...)
}
