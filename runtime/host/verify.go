package host

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/note"

	"github.com/ambit-tools/ambit/runtime/store/audit"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// VerifyAudit compares the journal with everything that was signed and anchored, and with the keys of the
// store, as "ambit audit verify" does, after a checkpoint of what there is. It reads all of the journal. The host goes on meanwhile.
//
// With Config.Signer it needs Config.Verifier. Notes are read from an anchor that is an audit.NoteReader:
// with another one the verdict is that the journal is not anchored.
func (h *Host) VerifyAudit(ctx context.Context) (report audit.Report, err error) {
	if h.Store == nil {
		return report, errors.New("host: the journal is Config.Journal: whoever made it verifies it")
	}
	h.archiving.Lock() // else an entry that is about to be read may leave the store
	defer h.archiving.Unlock()
	verifier, err := h.verifier()
	if err != nil {
		return report, err
	}
	// What was written in the last second has no checkpoint yet. The error was reported, and the report tells of it.
	_ = h.Audit.Checkpoint(ctx)
	notes, err := h.notes(ctx, verifier.Name())
	if err != nil {
		return report, err
	}
	reader, err := sqlite.OpenReader(h.cfg.path(""), sqlite.WithKeys(h.cfg.path(".keys")))
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	index, err := reader.CheckIndex(ctx)
	if err != nil {
		return report, err
	}
	if report, err = audit.VerifyFrom(ctx, audit.NewSource(index.Watch(reader), reader), verifier, notes, nil, true); err != nil {
		return report, err
	}
	if err = report.Authenticate(ctx, reader); err == nil {
		err = report.CompareIndex(ctx, index)
	}
	return report, err
}

// verifier returns the public key of the audit log.
func (h *Host) verifier() (note.Verifier, error) {
	switch {
	case h.cfg.Verifier != nil:
		return h.cfg.Verifier, nil
	case h.cfg.Signer != nil:
		return nil, errors.New("host: Config.Signer signs the audit log: set Config.Verifier to its public key")
	}
	return audit.ReadVerifier(h.cfg.path(".audit") + audit.PublicSuffix)
}

// notes returns the anchored notes of an origin.
func (h *Host) notes(ctx context.Context, origin string) (notes [][]byte, err error) {
	var anchor audit.Anchor = audit.FileAnchor{Path: h.cfg.path(".anchor")}
	if h.cfg.Anchor != nil {
		anchor = h.cfg.Anchor
	}
	reader, ok := anchor.(audit.NoteReader)
	if !ok {
		return nil, nil
	}
	err = reader.Notes(ctx, origin, func(note []byte) error {
		notes = append(notes, append([]byte(nil), note...))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("the anchored notes cannot be read: %w", err)
	}
	return notes, nil
}
