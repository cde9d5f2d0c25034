package workspace

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/runtime/content"
	"github.com/ambit-tools/ambit/runtime/internal/disk"
)

// Unsettled returns the calls that wrote and were neither committed nor rolled
// back when the program ended, in no particular order. The calls whose logs can
// be read are returned with the error about the remaining logs.
func (w *Workspace) Unsettled(ctx context.Context) ([]Key, error) {
	var keys []Key
	err := w.eachLog(ctx, func(name string, list []record) error {
		if len(list) == 0 { // its head was being written: nothing was done yet
			return w.dropLog(name)
		}
		keys = append(keys, list[0].key())
		return nil
	})
	return keys, err
}

// eachLog calls f for the log of every call that is not running.
func (w *Workspace) eachLog(ctx context.Context, f func(name string, list []record) error) error {
	names, err := w.logs.List()
	if err != nil {
		return fmt.Errorf("cannot list the undo logs: %w", err)
	}
	live := map[string]bool{}
	w.mu.Lock()
	for key := range w.live {
		live[logName(key)+logSuffix] = true
	}
	w.mu.Unlock()
	var errs []error
	for _, name := range names {
		if !strings.HasSuffix(name, logSuffix) || live[name] {
			continue
		}
		list, found, err := w.readLog(name)
		if err == nil && found {
			err = f(name, list)
		}
		errs = append(errs, err, ctx.Err())
	}
	return errors.Join(errs...)
}

// Settle ends the transaction of a call that a crash has interrupted: what it
// wrote stands, or is rolled back as by Tx.Rollback. Only what was sealed can
// stand. It is nil for a call that wrote nothing, and for one that is settled,
// and may be called again: a rollback with drift says so each time, until Prune.
func (w *Workspace) Settle(ctx context.Context, key Key, commit bool) error {
	w.mu.Lock()
	live := w.live[key] != nil
	w.mu.Unlock()
	if live {
		return fmt.Errorf("call %q: it is running: end its transaction instead", key.Call)
	}
	if err := errors.Join(ctx.Err(), w.usable()); err != nil {
		return err
	}
	if err := w.owner.hold(func() error { return w.settle(ctx, key, commit) }); err != nil {
		return fmt.Errorf("call %q: %w", key.Call, err)
	}
	return nil
}

func (w *Workspace) settle(ctx context.Context, key Key, commit bool) error {
	name := logName(key)
	drift, err := w.readDrift(name)
	if err != nil {
		return err
	}
	if drift != nil {
		return errors.Join(w.dropLog(name+logSuffix), drift)
	}
	list, found, err := w.readLog(name + logSuffix)
	if err != nil || !found {
		return err
	}
	if len(list) == 0 {
		return w.dropLog(name + logSuffix)
	}
	items, temps, sealed := collect(list[1:])
	if !commit {
		return w.rollBack(ctx, key, items, temps)
	}
	if !sealed {
		return errors.New("it was not sealed, so that what it wrote may be incomplete: roll it back")
	}
	r := w.restorer()
	for _, temp := range temps {
		r.clear(temp)
	}
	if err := errors.Join(r.errs...); err != nil {
		return err
	}
	return w.dropLog(name + logSuffix)
}

// collect returns what the records of a call say: the paths in the order in
// which they were first written, and what may be left under temporary names.
func collect(list []record) (items []*item, temps []string, sealed bool) {
	byPath := map[string]*item{}
	for _, r := range list {
		if r.Sealed {
			sealed = true
			continue
		}
		it := byPath[r.Path]
		if it == nil {
			it = &item{path: r.Path, before: r.Before}
			items, byPath[r.Path] = append(items, it), it
		}
		it.after = append(it.after, r.After)
		if r.Temp != "" {
			temps = append(temps, path.Join(path.Dir(r.Path), r.Temp))
		}
	}
	return items, temps, sealed
}

// Needs returns which contents of the store are needed to roll back calls that
// have not ended, to be handed to content.Store.Prune.
func (w *Workspace) Needs(ctx context.Context) (func(content.Ref) bool, error) {
	needed := map[content.Ref]bool{}
	err := w.eachLog(ctx, func(_ string, list []record) error {
		for _, r := range list {
			needed[r.Before.ref()] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	live := make([]*Tx, 0, len(w.live))
	for _, tx := range w.live {
		live = append(live, tx)
	}
	w.mu.Unlock()
	for _, tx := range live {
		tx.mu.Lock()
		for _, it := range tx.items {
			needed[it.before.ref()] = true
		}
		tx.mu.Unlock()
	}
	return func(ref content.Ref) bool { return needed[ref] }, nil
}

// Prune forgets what was noted of drift before a time.
func (w *Workspace) Prune(ctx context.Context, before time.Time) error {
	names, err := w.logs.List()
	if err != nil {
		return fmt.Errorf("cannot list the undo logs: %w", err)
	}
	errs := []error{ctx.Err()}
	for _, name := range names {
		if !strings.HasSuffix(name, endSuffix) || ctx.Err() != nil {
			continue
		}
		if info, err := w.logs.Lstat(name); err == nil && info.ModTime().Before(before) {
			errs = append(errs, w.owner.hold(func() error { return w.logs.Remove(name) }))
		}
	}
	return errors.Join(append(errs, w.sync(disk.SyncDir{Dir: w.logs, Name: "."}))...)
}
