package pages

import (
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/sqlite/internal/chain"
)

// linkAfter returns what the entry after a position is chained to; nil without
// keys. Where the entry at the position is not there any more, the segment that ends
// with it stands in for it.
func (s *conn) linkAfter(keys *chain.Secret, after uint64) (*chain.Link, error) {
	if keys == nil {
		return nil, nil
	}
	if s.chain == nil {
		s.chain = chain.New(keys)
	}
	l := &chain.Link{Chain: s.chain}
	if after == 0 {
		l.Last = s.chain.First()
		return l, nil
	}
	found, err := s.one(&s.mac, macOf, after, func(stmt uintptr) error {
		stored, err := s.bytes(stmt, 0, sqlite3.SQLITE_BLOB)
		column, ok := chain.ParseColumn(stored)
		if l.Last = column.MAC; err == nil && !ok {
			err = chain.ErrMAC
		}
		return err
	})
	if err != nil || found {
		return l, err
	}
	found, err = s.one(&s.segment, segmentOf, after, func(stmt uintptr) error { return s.beginAt(l, stmt, after) })
	if err == nil && !found {
		err = ErrMissing
	}
	return l, err
}

// beginAt begins a chain at a segment.
func (s *conn) beginAt(l *chain.Link, stmt uintptr, last uint64) error {
	var parts [2][]byte
	for i := range parts {
		b, err := s.bytes(stmt, int32(i), sqlite3.SQLITE_BLOB)
		if err != nil {
			return err
		}
		parts[i] = append([]byte(nil), b...)
	}
	segment, ok := s.chain.ReadSegment(last, parts[0], parts[1])
	if !ok {
		return chain.ErrMAC
	}
	l.Last = segment.Tail
	return nil
}

// one calls f on the first row of a statement, which is prepared when it is needed
// for the first time.
func (s *conn) one(stmt *uintptr, query string, arg uint64, f func(stmt uintptr) error) (found bool, err error) {
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

// verify verifies the entry of the present row, if there are keys, and keeps its column mac.
func (s *conn) verify(l *chain.Link, e *journal.Entry) error {
	stored, err := s.bytes(s.entries, 9, sqlite3.SQLITE_BLOB)
	if err != nil {
		return err
	}
	var ok bool
	if s.column, ok = chain.ParseColumn(stored); l != nil && (!ok || !l.Next(e, &s.column)) {
		return chain.ErrMAC
	}
	return nil
}
