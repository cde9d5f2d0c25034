package host

import (
	"context"
	"time"
)

// Within returns a configuration with other limits than every host has.
func Within(c Config, start time.Duration, bytes int64) Config {
	c.limits = &limits{start, bytes}
	return c
}

// SetLimit changes the size of which a host warns.
func SetLimit(h *Host, bytes int64) {
	h.archiving.Lock()
	defer h.archiving.Unlock()
	h.limits.bytes = bytes
}

// AtOnceAndEvery calls f as a host looks at its store: now, and again when a period is over.
func AtOnceAndEvery(ctx context.Context, period time.Duration, f func()) {
	atOnceAndEvery(ctx, period, f)
}

// Closing adds what Close has to do, before what was added earlier.
func (h *Host) Closing(name string, f func(context.Context) error) { h.closing(name, f) }

// RetainOnce does what a host does every hour, at a time.
// ArchiveOld archives, and forgets, what is from before a time.
func (h *Host) ArchiveOld(ctx context.Context, before time.Time) error {
	dir, err := h.folder()
	if err == nil {
		_, err = h.archive(ctx, before, before, before, dir)
	}
	return err
}

func (h *Host) RetainOnce(ctx context.Context, now time.Time) error { return h.retainOnce(ctx, now) }
