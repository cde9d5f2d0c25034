package entry

import (
	"time"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// Owner returns the record that says which process writes the journal from now on, and with what settings.
func Owner(at time.Time, epoch uint64, process *journal.Setup, settings *journal.Settings) *journal.Record {
	return &journal.Record{Kind: journal.KindOwner, At: At(at), Epoch: epoch, Setup: process, Settings: settings}
}

// Session returns the record that says how a session is configured, by setup, or that it has ended.
func Session(kind string, at time.Time, id, principal string, setup journal.Setup) *journal.Record {
	r := &journal.Record{Kind: kind, At: At(at), Session: id, Principal: principal}
	if kind == journal.KindSessionOpened {
		r.Setup = &setup
	}
	return r
}

// Run returns the record of a change of a run, without its session. request is the request_id of its metadata. The
// record of its start has all of them, and the others only that.
func Run(kind string, at time.Time, id, request string, of map[string]string) *journal.Record {
	r := &journal.Record{Kind: kind, At: At(at), Run: id, RequestID: request}
	if kind == journal.KindRunStarted {
		r.Metadata = of
	}
	return r
}
