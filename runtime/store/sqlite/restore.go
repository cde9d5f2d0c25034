package sqlite

import (
	"errors"
	"fmt"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// Restore is [Open] for a store that is older than its keys file, or than the notes
// of its audit, because it was restored from a copy on purpose. It verifies all of
// the store, and appends an entry of the kind [journal.KindRestored], which is
// returned; then the head is that of the copy. What was recorded after the copy was
// made is given up: calls of that time can run again.
func Restore(path string, r Restoration, opts ...Option) (*Store, *journal.Restored, error) {
	return renew(path, r, opts)
}

// Begin is [Restore] for a store that is gone: it makes a new one, whose first entry
// says so. One that is there is refused.
func Begin(path string, r Restoration, opts ...Option) (*Store, *journal.Restored, error) {
	r.begin = true
	return renew(path, r, opts)
}

func renew(path string, r Restoration, opts []Option) (*Store, *journal.Restored, error) {
	if r.Reason == "" {
		return nil, nil, fmt.Errorf("restore the store %q: the reason is missing", path)
	}
	o := configure(opts)
	o.renewal = &renewal{Restoration: r}
	s, err := open(path, o)
	if err != nil {
		return nil, nil, err
	}
	return s, &o.renewal.record, nil
}

// RolledBack reports whether an error of [Open] or [Reader.Authenticate] may mean that
// the store was restored from a copy: it is older than its head, or not its
// continuation.
func RolledBack(err error) bool {
	var forged *ForgedError
	return errors.Is(err, ErrRolledBack) || errors.As(err, &forged) && forged.What == whatFork
}
