package feed

import (
	"context"
	"fmt"
	"iter"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// pageSize is how many entries a subscriber takes at once.
const pageSize = 256

// A PositionError says that a subscription cannot begin after a position, because the journal has no
// such entry.
type PositionError struct {
	After uint64 // where it was to begin
	Head  uint64 // position of the last entry
}

// Error names both positions.
func (e *PositionError) Error() string {
	return fmt.Sprintf("there is no entry %d: the journal ends with entry %d", e.After, e.Head)
}

// Subscribe returns the entries after a position that match a filter, in their order, each once; 0
// begins with the first entry. At the end of the journal the iteration waits for more. The loop body
// may take as long as it wants.
//
// An error is the last element: the cause of the end of ctx, an error of the journal,
// journal.ErrClosed once the feed was closed, or a *PositionError. The position of the last entry
// that the caller has handled is where it resumes. The entries must not be changed. Each loop is a
// subscription of its own.
func (f *Feed) Subscribe(ctx context.Context, after uint64, filter Filter) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		s, err := f.subscriber(after, filter)
		if err != nil {
			yield(journal.Entry{}, err)
			return
		}
		for {
			page, err := f.next(ctx, s)
			for i := range page {
				if e := &page[i]; s.filter.matches(e) && !yield(*e, nil) {
					return
				}
			}
			if err != nil {
				yield(journal.Entry{}, err)
				return
			}
		}
	}
}

// subscriber returns a subscriber that has seen the entries up to a position.
func (f *Feed) subscriber(after uint64, filter Filter) (*subscriber, error) {
	if head := f.Head(); after > head {
		return nil, &PositionError{After: after, Head: head}
	}
	return &subscriber{filter: filter, position: after, woken: make(chan struct{}, 1)}, nil
}

// next returns the next entries for a subscriber; they may match its filter or not. It waits while
// there are none, and no piece that the subscriber may have: then it returns neither entries nor an
// error. Entries may come with an error.
func (f *Feed) next(ctx context.Context, s *subscriber) ([]journal.Entry, error) {
	for {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		f.mu.Lock()
		head := f.head
		page, ok := f.recent.after(s.position, pageSize)
		wait := s.position == head
		if wait && s.piece(head+1) >= 0 {
			f.mu.Unlock()
			return nil, nil
		}
		if wait && f.closed {
			f.mu.Unlock()
			return nil, fmt.Errorf("the feed: %w", journal.ErrClosed)
		}
		if wait {
			f.waiting.add(s)
		}
		f.mu.Unlock()
		switch {
		case wait:
			f.wait(ctx, s)
		case ok:
			s.position = page[len(page)-1].Seq
			return page, nil
		default:
			return f.read(ctx, s, head)
		}
	}
}

// wait waits until the subscriber is woken or ctx ends.
func (f *Feed) wait(ctx context.Context, s *subscriber) {
	select {
	case <-s.woken:
	case <-ctx.Done():
		f.mu.Lock()
		f.waiting.remove(s)
		f.mu.Unlock()
	}
}

// read returns the next entries up to head from the journal. What is after head may not be durable.
func (f *Feed) read(ctx context.Context, s *subscriber, head uint64) ([]journal.Entry, error) {
	entries, err := f.inner.Read(ctx, s.position, int(min(head-s.position, pageSize)))
	page := make([]journal.Entry, len(entries))
	for i := range entries {
		page[i] = public(&entries[i])
		s.position = page[i].Seq
	}
	if err == nil && len(page) == 0 {
		err = fmt.Errorf("the journal has no entry after %d, although it ends with entry %d", s.position, head)
	}
	return page, err
}
