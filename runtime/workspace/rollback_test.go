package workspace_test

import (
	"context"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/workspace"
)

// TestRollbackIsExact runs random operations on random trees of a real disk: a
// rollback leaves what was before, a commit what the model says, live and after
// a restart.
// SEMANTICS 2.1.6
func TestRollbackIsExact(t *testing.T) {
	for seed := range uint64(battery.Count(t, 12, 60)) {
		r := rand.New(rand.NewPCG(seed, 3))
		b := newBench(t)
		d := tree{}
		for range r.IntN(8) {
			randomStep(r).want(d)
		}
		b.plant(d)
		want := maps.Clone(d)
		ctx, tx := b.begin()
		for range 1 + r.IntN(12) {
			s := randomStep(r)
			err := s.real(ctx, b.ws)
			require.Equal(t, s.want(want), err == nil, "seed %d: %s: %v", seed, s.name, err)
		}
		require.Equal(t, want, b.tree(), "seed %d", seed)
		key := workspace.Key{Session: "s", Call: "1"}
		switch commit, again := r.IntN(2) == 0, r.IntN(2) == 0; {
		case commit && !again:
			b.commit(tx)
			require.NoError(t, tx.Commit(t.Context()))
			require.ErrorIs(t, tx.Rollback(t.Context()), workspace.ErrEnded)
		case commit:
			_, err := tx.Seal(t.Context())
			require.NoError(t, err)
			b.open()
			require.NoError(t, b.ws.Settle(t.Context(), key, true))
			require.NoError(t, b.ws.Settle(t.Context(), key, true))
		case !again:
			want = d
			require.NoError(t, tx.Rollback(t.Context()))
			require.NoError(t, tx.Rollback(t.Context()))
			require.ErrorIs(t, tx.Commit(t.Context()), workspace.ErrEnded)
		default:
			want = d
			b.open()
			require.NoError(t, b.ws.Settle(t.Context(), key, false))
			require.NoError(t, b.ws.Settle(t.Context(), key, false))
		}
		require.Equal(t, want, b.tree(), "seed %d", seed)
		b.noLogs()
	}
}

// plant makes a tree.
func (b *bench) plant(t tree) {
	for _, name := range sortedPaths(t) {
		path := filepath.Join(b.dir, name)
		if t[name].dir {
			require.NoError(b.t, os.Mkdir(path, 0o700))
		} else {
			require.NoError(b.t, os.WriteFile(path, []byte(t[name].data), 0o600))
		}
		require.NoError(b.t, os.Chmod(path, t[name].mode))
	}
}

// TestDirectoryInThePlaceOfAFile: a path below a file is nowhere, whether the file is what was there before or what another writer
// has put there.
//
// SEMANTICS 2.1.6, 4.20.3
func TestDirectoryInThePlaceOfAFile(t *testing.T) {
	for _, restart := range []bool{false, true} {
		b := newBench(t)
		b.put("d", "before")
		b.put("e/x", "before")
		ctx, tx := b.begin()
		require.NoError(t, b.ws.Remove(ctx, "d"))
		require.NoError(t, b.ws.Mkdir(ctx, "d", 0o755))
		require.NoError(t, b.ws.WriteFile(ctx, "d/x", []byte("after"), 0o600))
		require.NoError(t, b.ws.WriteFile(ctx, "e/x", []byte("after"), 0o600))
		require.NoError(t, os.RemoveAll(filepath.Join(b.dir, "e")))
		b.put("e", "theirs")
		roll := func() error { return tx.Rollback(t.Context()) }
		if restart {
			b.open()
			roll = func() error { return b.ws.Settle(t.Context(), workspace.Key{Session: "s", Call: "1"}, false) }
		}
		var drift *workspace.DriftError
		require.ErrorAs(t, roll(), &drift)
		assert.Equal(t, []string{"e/x"}, drift.Paths)
		assert.Equal(t, "before", b.text("d"))
		assert.Equal(t, "theirs", b.text("e"))
		snapshot, err := b.ws.Snapshot(t.Context(), "d/x")
		require.NoError(t, err)
		assert.Equal(t, workspace.KindAbsent, snapshot[0].Kind)
	}
}

// SEMANTICS 4.20.3
func TestDrift(t *testing.T) {
	for _, restart := range []bool{false, true} {
		b := newBench(t)
		b.put("mine", "before")
		b.put("theirs", "before")
		b.put("gone", "before")
		ctx, tx := b.begin()
		for _, name := range []string{"mine", "theirs", "gone"} {
			require.NoError(t, b.ws.WriteFile(ctx, name, []byte("after"), 0o600))
		}
		require.NoError(t, b.ws.Mkdir(ctx, "dir", 0o755))
		b.put("theirs", "theirs")
		b.put("dir/theirs", "theirs")
		require.NoError(t, os.Remove(filepath.Join(b.dir, "gone")))
		if _, err := os.Stat(b.dir); restart {
			require.NoError(t, err)
			b.open()
		}
		for range 2 { // it says so each time
			err := tx.Rollback(t.Context())
			if restart {
				err = b.ws.Settle(t.Context(), workspace.Key{Session: "s", Call: "1"}, false)
			}
			require.ErrorIs(t, err, runtime.ErrDrift)
			var drift *workspace.DriftError
			require.ErrorAs(t, err, &drift)
			assert.Equal(t, []string{"dir", "gone", "theirs"}, drift.Paths)
			assert.Equal(t, "before", b.text("mine"))
			assert.Equal(t, "theirs", b.text("theirs"))
			assert.Equal(t, "theirs", b.text("dir/theirs"))
			assert.Equal(t, "-", b.text("gone"))
		}
		b.noLogs()
	}
}

func TestDriftWithinACallIsRefused(t *testing.T) {
	b := newBench(t)
	ctx, tx := b.begin()
	require.NoError(t, b.ws.WriteFile(ctx, "a", []byte("one"), 0o600))
	b.put("a", "theirs")
	require.ErrorIs(t, b.ws.WriteFile(ctx, "a", []byte("two"), 0o600), runtime.ErrDrift)
	require.ErrorIs(t, tx.Rollback(t.Context()), runtime.ErrDrift)
	assert.Equal(t, "theirs", b.text("a"))
}

// A file that was restored already is no drift, even if another writer did it.
func TestRestoredBySomebodyElse(t *testing.T) {
	b := newBench(t)
	b.put("a", "before")
	ctx, tx := b.begin()
	require.NoError(t, b.ws.WriteFile(ctx, "a", []byte("after"), 0o600))
	b.put("a", "before")
	require.NoError(t, tx.Rollback(t.Context()))
	assert.Equal(t, "before", b.text("a"))
}

func TestModesOfDirectoriesComeBack(t *testing.T) {
	b := newBench(t)
	b.put("d/a", "before")
	require.NoError(t, os.Chmod(filepath.Join(b.dir, "d"), 0o751))
	want := b.tree()
	ctx, tx := b.begin()
	require.NoError(t, b.ws.Remove(ctx, "d/a"))
	require.NoError(t, b.ws.Remove(ctx, "d"))
	require.NoError(t, b.ws.Mkdir(ctx, "d", 0o700))
	require.NoError(t, b.ws.WriteFile(ctx, "d/a", []byte("after"), 0o600))
	require.NoError(t, tx.Rollback(t.Context()))
	assert.Equal(t, want, b.tree())
}

func TestARemovedDirectoryComesBack(t *testing.T) {
	b := newBench(t)
	b.put("d/e/a", "before")
	want := b.tree()
	ctx, tx := b.begin()
	require.Error(t, b.ws.Remove(ctx, "d"), "it is not empty")
	for _, name := range []string{"d/e/a", "d/e", "d"} {
		require.NoError(t, b.ws.Remove(ctx, name))
	}
	require.NoError(t, tx.Rollback(t.Context()))
	assert.Equal(t, want, b.tree())
}

// TestRecordThatIsTooLong: the ids of the call are in the head of the undo log.
func TestRecordThatIsTooLong(t *testing.T) {
	b := newBench(t)
	tx, err := b.ws.BeginTx(t.Context(), workspace.Key{Session: "s", Call: strings.Repeat("c", 1<<20)})
	require.NoError(t, err)
	err = b.ws.WriteFile(workspace.WithTx(t.Context(), tx), "a", []byte("text"), 0o600)
	require.ErrorContains(t, err, `call "`+strings.Repeat("c", 64)+`": its record in the undo log has`)
	assert.Empty(t, b.tree())
	logs, err := os.ReadDir(filepath.Join(b.state, "undo"))
	require.NoError(t, err)
	assert.Empty(t, logs)
	require.NoError(t, tx.Rollback(t.Context()))
}

func TestSeal(t *testing.T) {
	b := newBench(t)
	_, tx := b.begin()
	digest, err := tx.Seal(t.Context())
	require.NoError(t, err)
	assert.Nil(t, digest, "nothing was written")
	require.NoError(t, tx.Commit(t.Context()))
	seal := func(data string) []byte {
		ctx, tx := b.begin()
		require.NoError(t, b.ws.WriteFile(ctx, "a", []byte(data), 0o600))
		require.Error(t, tx.Commit(t.Context()), "it is not sealed")
		digest, err := tx.Seal(t.Context())
		require.NoError(t, err)
		again, err := tx.Seal(t.Context())
		require.NoError(t, err)
		assert.Equal(t, digest, again)
		require.ErrorIs(t, b.ws.WriteFile(ctx, "a", nil, 0o600), runtime.ErrFenced)
		require.NoError(t, tx.Rollback(t.Context()))
		return digest
	}
	assert.Equal(t, seal("one"), seal("one"))
	assert.NotEqual(t, seal("one"), seal("two"))
}

// SEMANTICS 6.8.1
func TestWhatWasNotSealedCannotStand(t *testing.T) {
	b := newBench(t)
	ctx, _ := b.begin()
	require.NoError(t, b.ws.WriteFile(ctx, "a", []byte("x"), 0o600))
	key := workspace.Key{Session: "s", Call: "1"}
	require.Error(t, b.ws.Settle(t.Context(), key, false), "it is running")
	b.open()
	require.ErrorContains(t, b.ws.Settle(t.Context(), key, true), "not sealed")
	_, err := b.ws.BeginTx(t.Context(), key)
	require.ErrorIs(t, err, workspace.ErrUnsettled)
	keys, err := b.ws.Unsettled(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []workspace.Key{key}, keys)
	require.NoError(t, b.ws.Settle(t.Context(), key, false))
	assert.Equal(t, "-", b.text("a"))
}

func TestADamagedLogIsRefused(t *testing.T) {
	b := newBench(t)
	ctx, _ := b.begin()
	for _, name := range []string{"a", "b", "c"} {
		require.NoError(t, b.ws.WriteFile(ctx, name, []byte("x"), 0o600))
	}
	key := workspace.Key{Session: "s", Call: "1"}
	file := filepath.Join(b.state, "undo", workspace.LogName(key))
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, at := range []int{0, 20, len(data) / 2} {
		bad := append([]byte(nil), data...)
		bad[at] ^= 1
		require.NoError(t, os.WriteFile(file, bad, 0o600))
		b.open()
		require.ErrorIs(t, b.ws.Settle(t.Context(), key, false), workspace.ErrCorrupt)
		assert.Equal(t, "x", b.text("a"))
	}
	require.NoError(t, os.WriteFile(file, append(data, "torn"...), 0o600))
	require.NoError(t, b.ws.Settle(t.Context(), key, false))
	assert.Empty(t, b.tree())
}

func TestTwoCallsDoNotShareAFile(t *testing.T) {
	b := newBench(t)
	one, tx1 := b.begin()
	two, tx2 := b.begin()
	require.NoError(t, b.ws.WriteFile(one, "a", []byte("one"), 0o600))
	require.ErrorIs(t, b.ws.WriteFile(two, "a", []byte("two"), 0o600), workspace.ErrBusy)
	require.NoError(t, b.ws.WriteFile(two, "b", []byte("two"), 0o600))
	require.NoError(t, tx1.Rollback(t.Context()))
	require.NoError(t, b.ws.WriteFile(two, "a", []byte("two"), 0o600))
	b.commit(tx2)
	assert.Equal(t, "two", b.text("a"))
}

// Another writer changes a file after its pre-image was taken.
func TestChangedWhileItIsWritten(t *testing.T) {
	b := newBench(t)
	b.put("a", "before")
	effects := 0
	b.openFenced(func(_ context.Context, effect func() error) error {
		if effects++; effects == 2 { // the first one only asks whether the fence is open
			b.put("a", "theirs")
		}
		return effect()
	})
	ctx, tx := b.begin()
	require.ErrorContains(t, b.ws.WriteFile(ctx, "a", []byte("after"), 0o600), "at the same time")
	assert.Equal(t, "theirs", b.text("a"))
	require.ErrorIs(t, tx.Rollback(t.Context()), runtime.ErrDrift)
	assert.Equal(t, "theirs", b.text("a"))
}
