package main

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/ambit-tools/ambit/runtime/store/archive"
	"github.com/ambit-tools/ambit/runtime/store/audit"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// writeSegment writes all entries that a checkpoint proves to a segment.
func writeSegment(ctx context.Context, m made) (_ figures, err error) {
	r, err := sqlite.OpenReader(m.path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	verifier, err := audit.ReadVerifier(m.key() + audit.PublicSuffix)
	if err != nil {
		return nil, err
	}
	list, err := audit.NewSource(r, r).Checkpoints(ctx)
	if err != nil {
		return nil, err
	}
	proofs, _ := audit.Proofs(list, nil, verifier)
	if len(proofs) == 0 {
		return nil, errors.New("no checkpoint proves an entry")
	}
	last := proofs[len(proofs)-1]
	h := archive.Header{Origin: verifier.Name(), First: 1, Last: last.Size, Before: []tlog.Hash{}, Root: last.Root, Note: string(last.Note)}
	if h.Store, err = r.ID(ctx); err != nil {
		return nil, err
	}
	to := m.path + ".segment"
	began := time.Now()
	info, err := archive.WriteFile(ctx, to, h, r)
	took := time.Since(began)
	return figures{"seconds": took.Seconds(), "bytes": float64(info.Bytes) / float64(m.calls)}, errors.Join(err, os.Remove(to))
}
