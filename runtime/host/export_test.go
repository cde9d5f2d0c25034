package host

import (
	"context"
	"time"
)

// RetainOnce does what a host does every hour, at a time.
func (h *Host) RetainOnce(ctx context.Context, now time.Time) error { return h.retainOnce(ctx, now) }
