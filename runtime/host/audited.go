package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/ambit-tools/ambit/runtime/host/feed"
	"github.com/ambit-tools/ambit/runtime/host/webhook"
	"github.com/ambit-tools/ambit/runtime/store/audit"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// defaultOrigin is Config.Origin when it is empty.
const defaultOrigin = "ambit.local/host"

// ErrGone says that there was a store, and that neither it nor its keys are there any more.
var ErrGone = errors.New("the store and its keys are gone")

// ready refuses a start that would make a store, before anything is made: in the place of one that is gone, which a
// restore has to find empty, or beside a signer or tokens that cannot be used.
func (h *Host) ready(ctx context.Context) error {
	if h.cfg.Workspace != "" {
		if info, err := os.Stat(h.cfg.Workspace); err != nil || !info.IsDir() {
			return errors.Join(fmt.Errorf("host: Config.Workspace is %q: name a folder that is there", h.cfg.Workspace), err)
		}
	}
	if h.cfg.Journal != nil {
		return nil
	}
	if err := h.openTokens(); err != nil {
		return err
	}
	store := h.cfg.path("")
	for _, name := range []string{store, store + ".keys"} {
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return nil // sqlite.Open says what is wrong, and makes nothing then
		}
	}
	origin := cmp.Or(h.cfg.Origin, defaultOrigin)
	switch signer, err := audit.ReadSigner(h.cfg.path(".audit")); {
	case h.cfg.Signer != nil:
		origin = h.cfg.Signer.Name()
	case err == nil:
		origin = signer.Name()
	case !audit.NoSigner(h.cfg.path(".audit")):
		return err
	}
	notes, err := h.notes(ctx, origin)
	if err == nil && len(notes) > 0 {
		err = fmt.Errorf("%w: there is no %q, and by the notes of %q that are anchored there was one. Nothing was made. "+
			"Restore a backup: ambit restore FILE --store %[2]s --reason TEXT --key SIGNER --anchor NOTES; "+
			"or begin anew: ambit audit begin --store %[2]s --reason TEXT --key SIGNER --anchor NOTES, or, where the key that signs is gone too, with another Config.Origin",
			ErrGone, store, origin)
	}
	return err
}

// openAudited opens the store, its audit log and its feed.
func (h *Host) openAudited(ctx context.Context) (err error) {
	if h.Store, err = sqlite.Open(h.cfg.path("")); err != nil {
		return err
	}
	h.closers = append(h.closers, closer{"the store", func(context.Context) error { return h.Store.Close() }, 0})
	signer := h.cfg.Signer
	if signer == nil {
		origin := cmp.Or(h.cfg.Origin, defaultOrigin)
		if signer, err = audit.OpenSigner(h.cfg.path(".audit"), origin, h.Store.Health().Head == 0); err != nil {
			return err
		}
	}
	anchor := h.cfg.Anchor
	if anchor == nil {
		anchor = audit.FileAnchor{Path: h.cfg.path(".anchor")}
	}
	h.Audit, err = audit.New(ctx, h.Store, audit.NewCheckpoints(h.Store), signer, audit.WithAnchor(anchor), audit.WithReport(h.cfg.report))
	if err != nil {
		return err
	}
	h.closers = append(h.closers, closer{"the audit log", h.Audit.Close, forStore})
	h.Feed = feed.New(h.Audit.Journal(), h.Store.Health().Head)
	h.closing("the feed", func(context.Context) error {
		h.Feed.Close()
		return nil
	})
	return h.startWebhooks()
}

// startWebhooks starts the senders of the webhooks. They are closed after the executor and before the feed.
func (h *Host) startWebhooks() error {
	for i := range h.cfg.Webhooks {
		to := h.cfg.Webhooks[i]
		s, err := webhook.Start(h.Feed, to, webhook.FileFor(h.cfg.path(""), &to), h.cfg.report)
		if err != nil {
			return err
		}
		h.closing("a webhook", func(context.Context) error {
			s.Close()
			return nil
		})
	}
	return nil
}
