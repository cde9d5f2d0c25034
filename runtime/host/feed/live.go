package feed

import (
	"context"
	"iter"
	"slices"
	"strconv"

	"github.com/ambit-tools/ambit/runtime/journal"
)

const (
	// kindLive is the kind by which a filter asks for live output.
	kindLive = "tool.output"
	// maxPieces is how many pieces wait for a subscriber, beside those from before.
	maxPieces = 64
)

// An Item is an entry, or a piece of live output.
type Item struct {
	Entry  *journal.Entry // nil: it is a piece
	Live   *journal.Live
	Missed uint64 // with Live: how many pieces were dropped before it, because the subscriber was slow
}

// Live passes a piece of live output on to the subscribers that follow the feed (engine.WithLive). It
// waits for none of them, and keeps no piece for later ones.
func (f *Feed) Live(p journal.Live) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.following.each(p.Session, func(s *subscriber) {
		if !s.filter.matchesLive(&p) {
			return
		}
		if len(s.pieces)-s.kept == maxPieces {
			s.pieces = slices.Delete(s.pieces, s.kept, s.kept+1)
			s.missed++
		}
		s.pieces = append(s.pieces, p)
		f.offer(s)
	})
}

// offer wakes a subscriber that waits when it may have one of its pieces. It need not see any entry up
// to the head then.
func (f *Feed) offer(s *subscriber) {
	if !slices.ContainsFunc(s.pieces, func(p journal.Live) bool { return p.After > f.head }) {
		delete(f.early, s)
	} else if f.early == nil {
		f.early = map[*subscriber]struct{}{s: {}}
	} else {
		f.early[s] = struct{}{}
	}
	if s.piece(f.head+1) >= 0 && f.waiting.has(s) {
		s.position = f.head
		f.waiting.remove(s)
		s.wake()
	}
}

// piece returns the index of the first piece that comes before an entry, -1 when there is none.
func (s *subscriber) piece(before uint64) int {
	return slices.IndexFunc(s.pieces, func(p journal.Live) bool { return p.After < before })
}

// Follow is Subscribe with the live output of the calls that match the filter, when that lets
// tool.output pass. A piece comes after the entry that it names and before later entries of its call.
// The pieces are those that are reported while the loop runs. A subscriber that is slow misses pieces,
// the oldest first, and no entry.
//
// kept returns pieces of one call from before, such as engine.Executor.Output, and is called once. They come
// before all reported pieces, and these do not repeat them. It may be nil.
func (f *Feed) Follow(ctx context.Context, after uint64, filter Filter, kept func() []journal.Live) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		s, err := f.subscriber(after, filter)
		if err != nil {
			yield(Item{}, err)
			return
		}
		f.mu.Lock()
		f.following.add(s)
		f.mu.Unlock()
		defer f.unfollow(s)
		if kept != nil {
			if pieces := kept(); len(pieces) > 0 {
				f.keep(s, pieces)
			}
		}
		for {
			page, err := f.next(ctx, s)
			for i := range page {
				e := &page[i]
				if !f.pass(s, e.Seq, yield) || s.filter.matches(e) && !yield(Item{Entry: e}, nil) {
					return
				}
			}
			if !f.pass(s, s.position+1, yield) {
				return
			}
			if err != nil {
				yield(Item{}, err)
				return
			}
		}
	}
}

// unfollow ends the pieces of a subscriber.
func (f *Feed) unfollow(s *subscriber) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.following.remove(s)
	delete(f.early, s)
}

// keep puts pieces from before in front of those that a subscriber has not got, without what they repeat.
// What is reported from now on comes after them.
func (f *Feed) keep(s *subscriber, kept []journal.Live) {
	end := map[[2]string]int64{} // of the streams of the process, by attempt
	for i := range kept {
		end[streamOf(&kept[i])] = kept[i].End
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	later := slices.DeleteFunc(s.pieces, func(p journal.Live) bool {
		return p.Session == kept[0].Session && p.Call == kept[0].Call && p.Stream != "" && p.End <= end[streamOf(&p)]
	})
	s.pieces, s.kept = slices.Concat(kept, later), len(kept)
	f.offer(s)
}

// streamOf returns a stream of one of the processes of a call.
func streamOf(p *journal.Live) [2]string { return [2]string{strconv.Itoa(p.Attempt), p.Stream} }

// pass gives a subscriber its pieces that come before an entry. It reports false when the subscriber
// wants no more.
func (f *Feed) pass(s *subscriber, before uint64, yield func(Item, error) bool) bool {
	for {
		f.mu.Lock()
		i := s.piece(before)
		if i < 0 {
			f.mu.Unlock()
			return true
		}
		p := s.pieces[i]
		item := Item{Live: &p}
		if s.pieces = slices.Delete(s.pieces, i, i+1); i < s.kept {
			s.kept--
		} else {
			item.Missed, s.missed = s.missed, 0
		}
		f.mu.Unlock()
		if !yield(item, nil) {
			return false
		}
	}
}
