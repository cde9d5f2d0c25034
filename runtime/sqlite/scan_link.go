package sqlite

import (
	"modernc.org/sqlite/lib"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// linkAfter returns what the entry after a position is chained to; nil without
// keys. Where the entry at the position is not there any more, the checkpoint of
// that size stands in for it.
func (s *scanner) linkAfter(keys *secret, after uint64) (*link, error) {
	if keys == nil {
		return nil, nil
	}
	if s.chain == nil {
		s.chain = newChain(keys)
	}
	l := &link{c: s.chain}
	if after == 0 {
		l.last = s.chain.first()
		return l, nil
	}
	found, err := s.one(&s.mac, macOf, after, func(stmt uintptr) error {
		stored, err := s.bytes(stmt, 0, sqlite3.SQLITE_BLOB)
		var ok bool
		if _, l.last, ok = parseColumn(stored); err == nil && !ok {
			err = errMAC
		}
		return err
	})
	if err != nil || found {
		return l, err
	}
	found, err = s.one(&s.checkpoint, checkpointOf, after, func(stmt uintptr) error { return s.beginAt(l, stmt, after) })
	if err == nil && !found {
		err = errMissing
	}
	return l, err
}

// beginAt begins a chain at a checkpoint.
func (s *scanner) beginAt(l *link, stmt uintptr, size uint64) error {
	var parts [3][]byte
	for i := range parts {
		b, err := s.bytes(stmt, int32(i), sqlite3.SQLITE_BLOB)
		if err != nil {
			return err
		}
		parts[i] = append([]byte(nil), b...)
	}
	if !s.chain.holds(size, parts[1], parts[0], parts[2]) {
		return errMAC
	}
	l.last = mac(parts[0])
	return nil
}

// one calls f on the first row of a statement, which is prepared when it is needed
// for the first time.
func (s *scanner) one(stmt *uintptr, query string, arg uint64, f func(stmt uintptr) error) (found bool, err error) {
	if *stmt == 0 {
		if *stmt, err = s.prepare(query); err != nil {
			return false, err
		}
	}
	defer sqlite3.Xsqlite3_reset(s.tls, *stmt)
	if found, err = s.start(*stmt, arg); err == nil && found {
		err = f(*stmt)
	}
	return found, err
}

// verify verifies the entry of the present row, if there are keys.
func (s *scanner) verify(l *link, e *journal.Entry) error {
	if l == nil {
		return nil
	}
	stored, err := s.bytes(s.entries, 9, sqlite3.SQLITE_BLOB)
	if err == nil && !l.next(e, stored) {
		err = errMAC
	}
	return err
}
