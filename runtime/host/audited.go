package host

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"golang.org/x/mod/sumdb/note"

	"github.com/ambit-tools/ambit/runtime/audit"
	"github.com/ambit-tools/ambit/runtime/sqlite"
)

// defaultOrigin is Config.Origin when it is empty.
const defaultOrigin = "ambit.local/host"

// openAudited opens the store and its audit log.
func (h *Host) openAudited(ctx context.Context) (err error) {
	if h.Store, err = sqlite.Open(h.cfg.path(storeName)); err != nil {
		return err
	}
	h.closing(func(context.Context) error { return h.Store.Close() })
	signer := h.cfg.Signer
	if signer == nil {
		if signer, err = h.signer(); err != nil {
			return err
		}
	}
	anchor := h.cfg.Anchor
	if anchor == nil {
		anchor = audit.FileAnchor{Path: h.cfg.path(storeName + ".anchor")}
	}
	h.Audit, err = audit.New(ctx, h.Store, audit.NewCheckpoints(h.Store), signer, audit.WithAnchor(anchor), audit.WithReport(h.cfg.report))
	if err != nil {
		return err
	}
	h.closing(h.Audit.Close)
	return nil
}

// signer reads the key of the audit log. A store without entries gets a new one;
// one with entries whose key is missing is an error, since nothing could prove them.
func (h *Host) signer() (note.Signer, error) {
	path := h.cfg.path(storeName + ".audit")
	signer, err := audit.ReadSigner(path)
	if err == nil || h.Store.Health().Head > 0 || !blank(path) {
		return signer, err
	}
	origin := h.cfg.Origin
	if origin == "" {
		origin = defaultOrigin
	}
	secret, public, err := audit.GenerateKey(origin)
	if err != nil {
		return nil, err
	}
	// A start that was killed may have left empty files. They have signed nothing.
	for _, name := range []string{path, path + audit.PublicSuffix} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if err := audit.WriteKeys(path, secret, public); err != nil {
		return nil, err
	}
	return audit.ReadSigner(path)
}

// blank reports whether a file is not there, or empty.
func blank(name string) bool {
	info, err := os.Stat(name)
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0
}
