package operate

import (
	"context"
	"errors"
	"math"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// hasEnded reports whether a session has ended for good, by the latest of its entries that tells: the end itself, a snapshot, or the
// beginning of a call, which none has after its end. These are few entries. Of a session without a snapshot whose entries are all
// archived it reports true (SEMANTICS 6.14).
func hasEnded(ctx context.Context, r *sqlite.Reader, session string) (ended bool, err error) {
	failed := r.Back(ctx, session, math.MaxUint64, func(e *journal.Entry) bool {
		switch {
		case e.Kind == journal.KindSessionEnded:
			ended = true
		case e.Kind == journal.KindSnapshot:
			var of *journal.Record
			if of, err = journal.Decode(e.Leaf); err == nil && of.Snapshot != nil {
				ended = of.Snapshot.Over
			}
		case e.Mark != journal.MarkOpened && e.Kind != journal.KindRunStarted:
			return true
		}
		return false
	})
	var gone *journal.ArchivedError
	if errors.As(failed, &gone) {
		return true, nil
	}
	return ended, errors.Join(err, failed)
}
