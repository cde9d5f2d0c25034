package sqlite

import (
	"fmt"
)

// A CorruptError says that the file of a store is damaged. What was readable can
// still be read: by [OpenReader].
type CorruptError struct {
	Path     string
	Readable uint64 // entries 1 to this one can be read
	Damaged  uint64 // the first that cannot be; 0: the damage is elsewhere
	Cause    error
}

// Error says where the damage is, what can be read, and what to do.
func (e *CorruptError) Error() string {
	where := "not in the entries"
	if e.Damaged != 0 {
		where = fmt.Sprintf("at entry %d", e.Damaged)
	}
	return fmt.Sprintf("the store %q is damaged %s: %v; entries 1 to %d can be read; nothing was changed: restore a copy, or read what is left with sqlite.OpenReader",
		e.Path, where, e.Cause, e.Readable)
}

// Unwrap returns the cause.
func (e *CorruptError) Unwrap() error { return e.Cause }

// DamagedAt returns the position of the first entry that cannot be read; 0: the
// damage is elsewhere. A verifier of the journal asks for it.
func (e *CorruptError) DamagedAt() uint64 { return e.Damaged }
