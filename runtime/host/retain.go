package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/ruleinput"
	"github.com/ambit-tools/ambit/runtime/store/archive"
)

// KeepAll is a Config.Retain with which nothing is archived.
const KeepAll time.Duration = math.MaxInt64

const (
	defaultRetain = 30 * 24 * time.Hour
	retainEvery   = time.Hour // how often the host looks for what is older than that
)

// retain returns Config.Retain, or its default.
func (c *Config) retain() time.Duration { return cmp.Or(c.Retain, defaultRetain) }

// retainable refuses a retention that is shorter than a window.
func (c *Config) retainable() error {
	specs := make([]*runtime.Spec, len(c.Tools))
	for i, t := range c.Tools {
		specs[i] = t.Spec()
	}
	if w := ruleinput.Window(specs); c.retain() < w.Longest {
		return fmt.Errorf("host: Config.Retain is %v, shorter than %s, which is %v: calls that still matter would be archived", c.retain(), w.Of, w.Longest)
	}
	return nil
}

// retain begins to archive what is old, and to look at the size of the store.
func (h *Host) retain() {
	h.background("the retention", func(ctx context.Context) {
		atOnceAndEvery(ctx, retainEvery, func() { // a process that never runs for an hour archives, too
			if err := h.retainOnce(ctx, time.Now()); err != nil && ctx.Err() == nil {
				h.cfg.report(fmt.Errorf("keep the store small: %w", err))
			}
		})
	})
}

// atOnceAndEvery calls f now, and again when a period has passed since it returned, until ctx ends.
func atOnceAndEvery(ctx context.Context, period time.Duration, f func()) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		f()
		timer.Reset(period)
	}
}

// retainOnce archives and deletes what is old enough.
func (h *Host) retainOnce(ctx context.Context, now time.Time) error {
	var refused *archive.Refusal // all that is old may be open
	if err := h.retainOld(ctx, now); err != nil && !errors.As(err, &refused) {
		return err
	}
	if err := h.warnOfSize(ctx, refused); err != nil || h.cfg.Delete == 0 {
		return err
	}
	return h.deleteBefore(ctx, now.Add(-h.cfg.Delete))
}

// retainOld archives what is old enough. An error that is an [*archive.Refusal] says why nothing of it can be.
func (h *Host) retainOld(ctx context.Context, now time.Time) error {
	if h.cfg.Retain == KeepAll {
		return nil
	}
	before := now.Add(-h.cfg.retain())
	archived, err := h.Store.Archived(ctx)
	if err != nil {
		return err
	}
	first, err := h.Store.Read(ctx, archived, 1)
	if err != nil || len(first) == 0 || !first[0].At.Before(before) {
		return err // nothing is old
	}
	dir, err := h.folder()
	if err != nil {
		return err
	}
	forget := before
	for _, t := range h.cfg.Tools {
		if t.Spec().Dedupe.Mode == runtime.DedupeAlways { // for the whole session: its calls are not forgotten
			forget = time.Time{}
		}
	}
	_, err = h.archive(ctx, now, before, forget, dir)
	return err
}

// deleteBefore deletes the segments whose last entry is from before a time.
func (h *Host) deleteBefore(ctx context.Context, before time.Time) error {
	return archive.Delete(ctx, &archive.Deletion{
		Store: h.Store, Before: before, Reason: fmt.Sprintf("older than %v", h.cfg.Delete), Record: h.Executor.Snapshots().Record, Sign: h.Audit.Checkpoint,
	})
}
