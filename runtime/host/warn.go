package host

import (
	"context"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime/store/archive"
	"github.com/ambit-tools/ambit/runtime/store/audit"
)

// limits are what a host warns of when it is exceeded (SEMANTICS 6.14.5).
type limits struct {
	start time.Duration // of a recovery
	bytes int64         // that a store uses from which nothing leaves
}

// ownLimits are those of every host. A start is bounded by what is open and by the entries since the last snapshot of what belongs to no
// session, so one that takes 10 s has more to settle than operators expect, and it is time in which nothing is answered.
var ownLimits = limits{start: 10 * time.Second, bytes: 1 << 30}

// within returns the limits of a host.
func (c *Config) within() limits {
	if c.limits != nil {
		return *c.limits
	}
	return ownLimits
}

// settle recovers the executor, and warns when that took long.
func (h *Host) settle(ctx context.Context) error {
	began := time.Now()
	if err := h.Executor.Recover(ctx); err != nil {
		return err
	}
	if took := time.Since(began); took > h.limits.start {
		h.cfg.report(fmt.Errorf("the recovery took %v, more than %v: \"ambit calls list --unresolved\" and \"--unfinished\" list what it has to settle",
			took.Round(time.Millisecond), h.limits.start))
	}
	return nil
}

// warnOfSize warns of a large store from which nothing leaves: once, and again when it was not so in between. refused is why
// nothing was archived; nil: something was, or nothing is old.
func (h *Host) warnOfSize(ctx context.Context, refused *archive.Refusal) error {
	h.archiving.Lock()
	defer h.archiving.Unlock()
	why := h.grows(refused)
	if why == "" {
		h.large = false
		return nil
	}
	size, err := h.Store.Size(ctx)
	if err != nil {
		return err
	}
	was := h.large
	if h.large = size.Used > h.limits.bytes; h.large && !was {
		h.cfg.report(fmt.Errorf("the store %q has %d MiB, and %s", h.Store.Path(), size.Used>>20, why))
	}
	return nil
}

// grows says why nothing leaves the store, and what to do about it; nothing when something can.
func (h *Host) grows(refused *archive.Refusal) string {
	switch _, reads := h.cfg.Anchor.(audit.NoteReader); {
	case h.cfg.Retain == KeepAll:
		return "Config.Retain is KeepAll: set a time, or archive with \"ambit journal archive\""
	case h.cfg.Anchor != nil && !reads:
		return "nothing can be archived: Config.Anchor is no audit.NoteReader, so the host knows no anchored checkpoint"
	case refused != nil && refused.Unanchored:
		return "nothing can be archived: " + refused.What + ": look for faults of the anchor"
	}
	return ""
}
