package sqlite

import (
	"errors"
	"fmt"
)

// The commands that error messages name.
const (
	hintRestored = "if it was restored from a copy on purpose, say so: ambit audit restored --store %s --reason TEXT"
	hintBegin    = "if there is to be a new one in its place, say so: ambit audit begin --store %s --reason TEXT"
)

var (
	// ErrForged says that a part of a store was not written by an owner of the store.
	ErrForged error = changedStore{}

	// ErrRolledBack says that a store is older than its keys file, or gone: it was cut,
	// removed, or restored from a copy.
	ErrRolledBack error = olderStore{}

	// ErrKeys says that the keys file of a store is missing, is that of another store,
	// or cannot be read.
	ErrKeys = errors.New("the keys file does not fit the store")
)

// A changedStore is the error of a part of a store that is no entry.
type changedStore struct{}

// Error says what is wrong.
func (changedStore) Error() string { return "the store was changed by a process without its keys" }

// ForgedAt returns 0: it is no entry. A verifier of the journal asks for it.
func (changedStore) ForgedAt() uint64 { return 0 }

// An olderStore is the error of a store that does not go as far as its keys file.
type olderStore struct{}

// Error says what is wrong.
func (olderStore) Error() string { return "the store is older than its keys file" }

// RolledBack tells a verifier of the journal, which asks for it.
func (olderStore) RolledBack() {}

// A ForgedError names the first entry that does not verify. errors.Is finds ErrForged.
type ForgedError struct {
	Path string
	Seq  uint64 // the position of the entry
	What string
}

// Error says which entry it is, and what to do.
func (e *ForgedError) Error() string {
	remedy := "keep the store as it is, and go on with a copy of it and of its keys file that were made together"
	if e.What == whatFork {
		remedy += fmt.Sprintf("; "+hintRestored, e.Path)
	}
	return fmt.Sprintf("entry %d of the store %q is not authentic: %s; %s", e.Seq, e.Path, e.What, remedy)
}

// Unwrap returns ErrForged.
func (e *ForgedError) Unwrap() error { return ErrForged }

// ForgedAt returns the position of the entry. A verifier of the journal asks for it.
func (e *ForgedError) ForgedAt() uint64 { return e.Seq }

// An IndexError says that an index does not say of an entry what the entry says. The entries are not
// affected. errors.Is finds ErrForged.
type IndexError struct {
	Path string
	Seq  uint64 // the position of the entry
	What string
}

// Error says which entry it is, and what to do.
func (e *IndexError) Error() string {
	return fmt.Sprintf("the index of the store %q does not fit its entry %d: %s; \"ambit audit show --seq\" and \"export\" read the entries", e.Path, e.Seq, e.What)
}

// Unwrap returns ErrForged.
func (e *IndexError) Unwrap() error { return ErrForged }

// IndexedAt returns the position of the entry. A verifier of the journal asks for it.
func (e *IndexError) IndexedAt() uint64 { return e.Seq }

// What is wrong with an entry.
const (
	whatFork = "it is not the one that the head in the keys file is about"
	whatHalf = "the journal ends within a transaction"
	// whatSession is that of an entry of a session that is read back.
	whatSession = "its authenticator is not one of the store's owner, or it is not the entry that the session goes on from"
)
