package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/content"
	"github.com/ambit-tools/ambit/runtime/internal/disk"
	"github.com/ambit-tools/ambit/runtime/internal/simfs"
	"github.com/ambit-tools/ambit/runtime/workspace"
)

func sortedPaths(t tree) []string { return slices.Sorted(maps.Keys(t)) }

// A world is a workspace on a simulated disk, and what has to be true of it.
type world struct {
	disk *simfs.Disk
	r    *rand.Rand
	log  []string // what was done

	ws      *workspace.Workspace
	root    disk.Dir
	store   *content.Store
	want    tree // what stands
	next    tree // what stands once key is committed
	key     workspace.Key
	decided bool // that key is committed, durably
	calls   int
	crashes int
	faulty  bool // the disk may fail
	killed  bool // the program ended in the middle of a call, and the power stayed
}

func newWorld(seed uint64) (*world, error) {
	w := &world{disk: simfs.New(seed), r: rand.New(rand.NewPCG(seed, 1))}
	root := w.disk.Root()
	for _, name := range []string{"ws", "undo", "content"} {
		if err := root.Mkdir(name, 0o755); err != nil {
			return nil, err
		}
	}
	ws, err := root.Sub("ws")
	if err == nil {
		err = errors.Join(root.Sync("."), plant(w.r, ws), w.open())
	}
	if err == nil {
		w.want, err = readTree(w.root)
	}
	return w, err
}

// open starts the program anew.
func (w *world) open() error {
	root := w.disk.Root()
	ws, err := root.Sub("ws")
	if err != nil {
		return err
	}
	logs, err := root.Sub("undo")
	if err != nil {
		return err
	}
	store, err := root.Sub("content")
	if err != nil {
		return err
	}
	w.root, w.store = ws, content.On(store)
	w.ws = workspace.On(ws, logs, w.store, unfenced)
	return nil
}

func (w *world) say(format string, args ...any) { w.log = append(w.log, fmt.Sprintf(format, args...)) }

// call runs a call until it has ended or the power has gone.
func (w *world) call(ctx context.Context) error {
	w.calls++
	w.killed = false
	w.key, w.decided, w.next = workspace.Key{Session: "s", Call: fmt.Sprint(w.calls)}, false, maps.Clone(w.want)
	w.say("begin %s", w.key.Call)
	tx, err := w.ws.BeginTx(ctx, w.key)
	if err != nil {
		return w.unlessFault(err)
	}
	failed := false
	for range w.r.IntN(6) {
		s := randomStep(w.r)
		err := s.real(workspace.WithTx(ctx, tx), w.ws)
		w.say("%s: %v", s.name, err)
		if err != nil && w.fault(err) {
			failed = true
			break
		}
		if ok := s.want(w.next); ok != (err == nil) {
			return fmt.Errorf("%s: %w, the model says %v", s.name, err, ok)
		}
	}
	if w.kill() {
		return nil
	}
	if failed || w.r.IntN(3) == 0 {
		return w.rollback(ctx, tx)
	}
	if _, err := tx.Seal(ctx); err != nil {
		w.say("seal: %v", err)
		if !w.fault(err) {
			return err
		}
		return w.rollback(ctx, tx)
	}
	if w.kill() { // it was not decided any more
		return nil
	}
	w.decided = true
	if w.kill() {
		return nil
	}
	err = tx.Commit(ctx)
	w.say("commit: %v", err)
	return w.unlessFault(err)
}

// kill ends the program now and then, unless the disk is faulty or dead.
func (w *world) kill() bool {
	w.killed = !w.faulty && !w.disk.Dead() && w.r.IntN(8) == 0
	return w.killed
}

func (w *world) rollback(ctx context.Context, tx *workspace.Tx) error {
	err := tx.Rollback(ctx)
	w.say("rollback: %v", err)
	if err != nil && w.r.IntN(2) == 0 {
		err = tx.Rollback(ctx)
		w.say("again: %v", err)
	}
	return w.unlessFault(err)
}

// fault says whether an error comes from the disk.
func (w *world) fault(err error) bool {
	return errors.Is(err, simfs.ErrPower) || isDiskFault(err) || errors.Is(err, workspace.ErrBroken) || errors.Is(err, content.ErrBroken)
}

func (w *world) unlessFault(err error) error {
	if err != nil && !w.fault(err) {
		return err
	}
	return nil
}

// crash takes the power away, and settles what it has interrupted, with more
// crashes on the way.
func (w *world) crash(ctx context.Context) error {
	for again := true; again; {
		w.disk.Crash()
		w.crashes++
		w.say("crash")
		if err := w.open(); err != nil {
			return err
		}
		if w.r.IntN(3) == 0 {
			w.disk.CutAfter(1 + w.r.IntN(25))
		}
		err := w.settle(ctx)
		again = w.disk.Dead()
		w.say("settle: %v", err)
		if err != nil && !again {
			return err
		}
	}
	w.disk.CutAfter(0)
	return w.check()
}

func (w *world) settle(ctx context.Context) error {
	keys, err := w.ws.Unsettled(ctx)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if key != w.key {
			return fmt.Errorf("call %q is unsettled, only %q can be", key.Call, w.key.Call)
		}
		if err := w.ws.Settle(ctx, key, w.decided); err != nil {
			return err
		}
	}
	return w.ws.Settle(ctx, w.key, w.decided) // again: nothing
}

// check compares what stands with what has to.
func (w *world) check() error {
	if w.decided {
		w.want, w.decided = w.next, false
	}
	now, err := readTree(w.root)
	if err != nil {
		return err
	}
	if !maps.Equal(now, w.want) {
		return fmt.Errorf("the workspace has\n%v\nwanted\n%v", now, w.want)
	}
	return nil
}

// live runs a world for four crashes or more.
func (w *world) live(ctx context.Context) error {
	for w.crashes < 4 {
		w.disk.CutAfter(1 + w.r.IntN(70))
		if w.faulty = w.r.IntN(3) == 0; w.faulty {
			w.disk.Fail([]simfs.Faults{{Sync: 10}, {Write: 40, Space: 40, Sync: 40, Read: 200}}[w.r.IntN(2)])
		}
		for range 3 {
			if err := w.call(ctx); err != nil {
				return err
			}
			if w.disk.Dead() || w.ended(ctx) != nil {
				break
			}
		}
		if err := w.crash(ctx); err != nil {
			return err
		}
	}
	return nil
}

// ended sees whether the last call has ended, so that another one can begin.
func (w *world) ended(ctx context.Context) error {
	w.disk.Fail(simfs.Faults{})
	if w.killed {
		w.say("killed")
		if err := w.open(); err != nil {
			return err
		}
	}
	if err := w.ws.Settle(ctx, w.key, w.decided); err != nil {
		return err
	}
	return w.check()
}

// TestCrashes lets the power go at every kind of moment, and the disk fail: each
// call is found complete or undone afterwards, to the byte.
func TestCrashes(t *testing.T) {
	crashes, operations, seeds := 0, 0, battery.Count(t, 1000, 20_000)
	for seed := range seeds {
		w, err := newWorld(uint64(seed))
		require.NoError(t, err)
		if err := w.live(t.Context()); err != nil {
			for _, line := range w.log {
				t.Log(line)
			}
			t.Fatalf("seed %d: %v", seed, err)
		}
		crashes += w.crashes
		operations += w.disk.Operations()
	}
	t.Logf("%d seeds, %d crashes, %d operations of the disk", seeds, crashes, operations)
}

// TestRestoreAfterCrashes lets the power go while an undo handler restores, and
// runs it again.
func TestRestoreAfterCrashes(t *testing.T) {
	ctx, crashes := t.Context(), 0
	paths := append([]string{"f"}, somePaths...)
	for seed := range battery.Count(t, 500, 5000) {
		w, err := newWorld(uint64(seed))
		require.NoError(t, err)
		before, err := w.ws.Snapshot(ctx, paths...)
		require.NoError(t, err)
		tx, err := w.ws.BeginTx(ctx, w.key)
		require.NoError(t, err)
		for range 8 {
			_ = randomStep(w.r).real(workspace.WithTx(ctx, tx), w.ws) // some cannot be done
		}
		_, err = tx.Seal(ctx)
		require.NoError(t, err)
		require.NoError(t, tx.Commit(ctx))
		after, err := w.ws.Snapshot(ctx, paths...)
		require.NoError(t, err)
		for {
			w.disk.CutAfter(1 + w.r.IntN(40))
			err := w.ws.Restore(ctx, before, after)
			if !w.disk.Dead() {
				require.NoError(t, err, "seed %d", seed)
				break
			}
			w.disk.Crash()
			crashes++
			require.NoError(t, w.open())
		}
		w.disk.CutAfter(0)
		w.disk.Crash() // what was restored has to last
		require.NoError(t, w.open())
		require.NoError(t, w.check(), "seed %d", seed)
	}
	t.Logf("%d crashes", crashes)
}
