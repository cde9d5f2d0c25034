package engine

import (
	"github.com/ambit-tools/ambit/runtime/internal/redact"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// entryOf returns a record of which p made the payloads, and its private values. An error
// says that one of them could not be made: then the record does without and
// says so. A tool whose own code is broken must not spoil the journal of all.
func entryOf(r *journal.Record, p *redact.Payloads, err error) (_ *journal.Record, private []byte) {
	if err == nil {
		private, err = p.Private()
	}
	if err != nil {
		r.Args, r.Final, r.Prepared, r.Output = nil, nil, nil, nil
		r.Lost = err.Error()
	}
	return r, private
}
