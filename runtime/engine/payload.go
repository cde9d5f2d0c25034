package engine

import (
	"github.com/ambit-tools/ambit/runtime/internal/redact"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// entryOf returns a record, whose payloads p made, and its private values. err says that a payload
// could not be made: the record then has no payloads, and names the error. A tool whose code is
// broken therefore does not keep other tools from the journal.
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
