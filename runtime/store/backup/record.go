package backup

import (
	"context"
	"errors"

	"golang.org/x/mod/sumdb/note"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/audit"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// Record opens a store with do, which is [sqlite.Restore] or [sqlite.Begin], so that its journal says
// that it was restored, by whom and why, and signs that with the signer of its audit log and takes it to the anchors, which are
// files. A nil signer signs nothing. Restore does it for what it restores; it is for a store that
// was restored from a copy by other means.
func Record(ctx context.Context, store string, do func(string, sqlite.Restoration, ...sqlite.Option) (*sqlite.Store, *journal.Restored, error),
	why sqlite.Restoration, signer note.Signer, anchors []string,
) (*journal.Restored, error) {
	s, record, err := do(store, why)
	if err != nil {
		return nil, err
	}
	if signer != nil {
		err = audit.Restore(ctx, s, audit.NewCheckpoints(s), signer, record.Kept, Anchors(anchors)...)
	}
	return record, errors.Join(err, s.Close())
}

// Anchors returns the options of an audit log that is anchored in files.
func Anchors(files []string) (opts []audit.Option) {
	for _, name := range files {
		opts = append(opts, audit.WithAnchor(audit.FileAnchor{Path: name}))
	}
	return opts
}
