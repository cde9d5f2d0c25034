package runtime

import (
	"context"

	"github.com/ambit-tools/ambit/runtime/internal/callctx"
)

// Progress is what a handler reports while it runs.
type Progress struct {
	Done, Total int64  // in any unit; both 0: as in the report before. Total 0: not known
	Text        string // more output, which continues that of the reports before
}

// Report tells those who follow the call (engine.WithLive) how far it is. It does not wait for them.
//
// Reports are told as pieces, 10 a second at most. The texts of a call have 64 KiB together; what is
// more is dropped and counted. Values of members marked x-sensitive are taken out of the texts, so far as they
// are in the arguments or the prepared state of the call: the end of a text may come later, because it may be
// the beginning of such a value. When the policy has the output masked no text is told. The journal
// holds counts only: what has to last belongs into the output of the call.
//
// Once the call has its outcome, or the attempt is over, Report returns ErrFenced. It returns
// ErrNoCall when ctx is not that of a handler. It is safe for concurrent use.
func Report(ctx context.Context, p Progress) error {
	if ctx == nil {
		return ErrNoCall
	}
	r, ok := ctx.Value(callctx.Key{}).(callctx.Reporter)
	if !ok {
		return ErrNoCall
	}
	return r.Report(p.Done, p.Total, p.Text)
}
