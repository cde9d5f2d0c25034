package archive

import (
	"context"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// closed refuses to archive entries of calls for which a window of a tool is open (SEMANTICS 6.14.2): one that an owner of the journal
// has recorded, or the one that is stated.
func (a *archiving) closed(ctx context.Context) error {
	common, err := a.read(ctx, "")
	if err != nil {
		return err
	}
	windows := common.Windows
	if a.Window != nil {
		windows = append(windows, journal.Window{Longest: *a.Window, Of: "the window that was stated"})
	}
	if len(windows) == 0 {
		return &Refusal{
			What:   "the owner of the store has not recorded for how long its tools need their calls: a call that can still be undone could be archived",
			Remedy: "state the longest of their times for an undo, windows of idempotency keys, dedupe windows and cooldowns, as --window 24h, or open the store once with its tools",
		}
	}
	now := a.Now
	if now.IsZero() {
		now = time.Now()
	}
	for _, w := range windows {
		end, since := earliest(a.Before, now, w.Until), now.Add(-w.Longest)
		if end.After(since) {
			return &Refusal{
				What:   fmt.Sprintf("%s is %v: entries from after %s are not archived", w.Of, w.Longest, since.UTC().Format(time.RFC3339)),
				Remedy: "name an earlier time",
			}
		}
	}
	return nil
}

// earliest returns the earliest of two times and one that may be zero, which is none.
func earliest(a, b, c time.Time) time.Time {
	if b.Before(a) {
		a = b
	}
	if !c.IsZero() && c.Before(a) {
		a = c
	}
	return a
}
