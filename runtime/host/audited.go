package host

import (
	"cmp"
	"context"

	"github.com/ambit-tools/ambit/runtime/audit"
	"github.com/ambit-tools/ambit/runtime/feed"
	"github.com/ambit-tools/ambit/runtime/sqlite"
	"github.com/ambit-tools/ambit/runtime/webhook"
)

// defaultOrigin is Config.Origin when it is empty.
const defaultOrigin = "ambit.local/host"

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
