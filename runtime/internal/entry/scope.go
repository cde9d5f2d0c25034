package entry

import (
	"time"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// Owner returns the record that says which process writes the journal from now on, and with what settings.
func Owner(at time.Time, epoch uint64, process *journal.Setup, settings *journal.Settings) *journal.Record {
	return &journal.Record{Kind: journal.KindOwner, At: At(at), Epoch: epoch, Setup: process, Settings: settings}
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
