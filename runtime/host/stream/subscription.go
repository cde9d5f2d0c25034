package stream

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/host/feed"
	"github.com/ambit-tools/ambit/runtime/host/internal/httpguard"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// errRevoked says that what authenticated the reader was revoked.
var errRevoked = errors.New("the token was revoked")

// oldest is the first position that a journal keeps: it has every entry from 1 on, without gaps.
const oldest = 1

// A subscription says what a reader wants.
type subscription struct {
	After *uint64 `json:"after"` // nil: from now on

	Session string   `json:"session"`
	Run     string   `json:"run"`
	Call    string   `json:"call"`
	Kinds   []string `json:"kinds"`
}

// check returns the position that a subscription begins after, and its filter.
func (s *subscription) check(f *feed.Feed) (after uint64, filter feed.Filter, p *httpguard.Problem) {
	head := f.Head()
	after, filter = head, feed.Filter{Session: s.Session, Run: s.Run, Call: s.Call, Kinds: s.Kinds}
	if s.After != nil {
		after = *s.After
	}
	if len(filter.Kinds) == 0 {
		filter.Kinds = kinds
	}
	for _, k := range filter.Kinds {
		if !slices.Contains(kinds, k) {
			return 0, filter, httpguard.ProblemOf(httpguard.BadRequest, "kinds: there are events of tool and approval, by their whole names")
		}
	}
	if after > head {
		return 0, filter, badPosition(head)
	}
	return after, filter, nil
}

// badPosition says that the journal has no such position, and which ones it has.
func badPosition(head uint64) *httpguard.Problem {
	p := httpguard.ProblemOf(httpguard.BadPosition, "resume after a position from 0 to head")
	p.Oldest, p.Head = min(oldest, head), head
	return p
}

// follow pushes to a queue what the journal tells a viewer, until ctx ends, the feed is closed or the
// reader stalls. It pushes nothing after it has returned.
func (s *Stream) follow(ctx context.Context, q *queue, v viewer, after uint64, filter feed.Filter) error {
	want, missed := filter.Kinds, uint64(0)
	if slices.Contains(want, ended) {
		filter.Kinds = nil
	}
	pieces := len(want) == 0 || slices.Contains(want, runtime.EventOutput.String())
	for item, err := range s.feed.Follow(ctx, after, filter, keptFor(v, &filter, pieces)) {
		if err != nil {
			return err
		}
		if item.Live != nil {
			if !pieces {
				continue
			}
			missed += item.Missed
			f, ok, err := v.live(ctx, item.Live, missed)
			if action.Undecided(err) && item.Live.Kept == 0 {
				missed++ // no stream stands still for a piece
				continue
			}
			if err != nil {
				f, ok, err = s.again(ctx, func() (frame, bool, error) { return v.live(ctx, item.Live, missed) })
			}
			if err != nil {
				return s.giveUp(q, item.Live.After, err)
			}
			if ok && item.Live.Kept > 0 {
				if err := s.push(ctx, q, f); err != nil {
					return err
				}
			} else if ok && q.add(f) {
				missed = 0
			} else if ok {
				missed++ // the reader is slow: what is kept goes before
			}
			continue
		}
		f, ok, err := s.again(ctx, func() (frame, bool, error) { return v.frame(ctx, item.Entry, want) })
		if err != nil {
			return s.giveUp(q, item.Entry.Seq-1, err)
		}
		if !ok {
			continue
		}
		if err := s.push(ctx, q, f); err != nil {
			return err
		}
	}
	return journal.ErrClosed
}

// again makes a frame. While the operator policy cannot say whether the viewer may get it, the stream stands still: it
// is made again after pauses, for as long as standstill.
func (s *Stream) again(ctx context.Context, frameOf func() (frame, bool, error)) (f frame, ok bool, err error) {
	began := time.Now()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		f, ok, err = frameOf()
		if !action.Undecided(err) || time.Since(began)+pause > standstill {
			return f, ok, err
		}
		t := time.NewTimer(pause)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return f, false, context.Cause(ctx)
		}
	}
}

// giveUp ends a stream that could not be continued after a position. Where that is for the operator policy, the reader
// first gets what it was sent, and then the position.
func (s *Stream) giveUp(q *queue, after uint64, err error) error {
	if !action.Undecided(err) {
		return err
	}
	q.end(frameAbout(undecided, time.Now(), positionData{Position: after, Missed: s.feed.Head() - after}))
	return errStalled
}

// push pushes a frame, and ends the stream of a reader that stalls.
func (s *Stream) push(ctx context.Context, q *queue, f frame) error {
	err := q.push(ctx, f)
	if errors.Is(err, errStalled) {
		q.finish(s.missed)
	}
	return err
}

// keptFor returns what a viewer gets first who follows one call: what its command has written so far.
func keptFor(v viewer, filter *feed.Filter, pieces bool) func() []journal.Live {
	if !pieces || filter.Call == "" || filter.Session == "" {
		return nil
	}
	return func() []journal.Live {
		list := v.exec.Output(filter.Session, filter.Call)
		if len(list) > 0 && filter.Run != "" && list[0].Run != filter.Run {
			return nil
		}
		return list
	}
}

// missed returns what a reader is told that has got to a position and no further.
func (s *Stream) missed(taken uint64) frame {
	return frameAbout(lagged, time.Now(), positionData{Position: taken, Missed: s.feed.Head() - taken})
}

// untilRevoked returns a context that ends with a request, or when what authenticated its caller is
// revoked or good no longer.
func untilRevoked(ctx context.Context, c httpguard.Caller) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if !c.Until.IsZero() {
		var stop context.CancelFunc
		ctx, stop = context.WithDeadlineCause(ctx, c.Until, errRevoked)
		context.AfterFunc(ctx, stop)
	}
	if c.Ended != nil {
		go func() {
			select {
			case <-c.Ended:
				cancel(errRevoked)
			case <-ctx.Done():
			}
		}()
	}
	return ctx, cancel
}
