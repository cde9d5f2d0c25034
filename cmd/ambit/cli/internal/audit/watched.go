package audit

import (
	"context"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/audit"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// A watched reader counts what was read.
type watched struct {
	audit.Reader
	progress *cmdutil.Progress
}

// Read reads the journal.
func (w watched) Read(ctx context.Context, after uint64, limit int) ([]journal.Entry, error) {
	list, err := w.Reader.Read(ctx, after, limit)
	if limit > 1 { // single ones are read to find the end
		w.progress.Add(len(list))
	}
	return list, err
}

// step begins a part of the work that reads all entries after a point.
func step(ctx context.Context, p *cmdutil.Progress, what string, r *sqlite.Reader, after uint64) error {
	if p == nil {
		return nil
	}
	n, err := r.Head(ctx)
	p.Step(what, n-min(n, after))
	return err
}
