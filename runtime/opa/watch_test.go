package opa

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/rego/regotest"
	"github.com/ambit-tools/ambit/runtime"
)

// A counted directory counts how often its policies are read, and looked at.
type counted struct {
	fs.FS
	reads *atomic.Int64
	looks *atomic.Int64
}

func (c counted) Open(name string) (fs.File, error) {
	if name == "o.rego" {
		c.reads.Add(1)
	}
	return c.FS.Open(name)
}

func (c counted) Stat(name string) (fs.FileInfo, error) {
	if name == "o.rego" && c.looks != nil {
		c.looks.Add(1)
	}
	return fs.Stat(c.FS, name)
}

// old gives all files a time long before the one of the bubbles, so that they are trusted.
func old(t *testing.T, root string, at time.Time) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(name string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(name, at, at)
	}))
}

// TestWatchReadsWhatHasChanged has a directory that stays as it is, and changes that the times of its
// files do not show.
func TestWatchReadsWhatHasChanged(t *testing.T) {
	open, closed := regotest.Org("# "+strings.Repeat("-", 200)), regotest.Org(regotest.ClosedPolicy)
	closed += "#" + strings.Repeat("-", len(open)-len(closed)-2) + "\n"
	require.Len(t, closed, len(open))
	long := time.Date(1999, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, c := range map[string]struct {
		change func(t *testing.T, policy string) // of the same length
		ticks  int                               // until it is loaded
	}{
		"a new time":         {func(t *testing.T, p string) { require.NoError(t, os.WriteFile(p, []byte(closed), 0o600)) }, 2},
		"another file":       {func(t *testing.T, p string) { replace(t, p, closed, long) }, 2},
		"nothing that shows": {func(t *testing.T, p string) { overwrite(t, p, closed, long) }, 152},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			write(t, root, regotest.Dir("o.rego", open))
			old(t, root, long)
			reg := registryOf(t, specs())
			p, err := Load(os.DirFS(root), reg)
			require.NoError(t, err)
			in := call(t, reg, "file_read", `{"path":"a"}`)
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Millisecond)
				fsys := counted{FS: os.DirFS(root), reads: new(atomic.Int64)}
				watch(t, func(ctx context.Context, report func(error)) error { return p.WatchFS(ctx, fsys, report) }, func(reports func() []error) {
					ticks(calm - 1)
					assert.EqualValues(t, 1, fsys.reads.Load(), "it was read once")
					c.change(t, filepath.Join(root, "o.rego"))
					ticks(c.ticks)
					assert.Equal(t, []error{nil}, reports())
					assert.Equal(t, runtime.EffectDeny, decide(t, p, in).Effect)
				})
			})
		})
	}
}

// TestWatchReadsYoungFilesAgain has a change within the resolution of the clock of the file system.
func TestWatchReadsYoungFilesAgain(t *testing.T) {
	root := t.TempDir()
	write(t, root, regotest.Dir("o.rego", regotest.Org("")))
	reg := registryOf(t, specs())
	p, err := Load(os.DirFS(root), reg)
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		old(t, root, time.Now().Add(DefaultInterval))
		time.Sleep(time.Millisecond)
		fsys := counted{FS: os.DirFS(root), reads: new(atomic.Int64)}
		watch(t, func(ctx context.Context, report func(error)) error { return p.WatchFS(ctx, fsys, report) }, func(func() []error) {
			ticks(10)
			assert.EqualValues(t, 3, fsys.reads.Load(), "until the files are older than %v", young)
		})
	})
}

// TestWatchLooksLessOften counts the looks at a directory that stays as it is, and how long a change of
// it takes then.
func TestWatchLooksLessOften(t *testing.T) {
	root := t.TempDir()
	write(t, root, regotest.Dir("o.rego", regotest.Org("")))
	old(t, root, time.Date(1999, 1, 2, 3, 4, 5, 0, time.UTC))
	reg := registryOf(t, specs())
	p, err := Load(os.DirFS(root), reg)
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Millisecond)
		fsys := counted{os.DirFS(root), new(atomic.Int64), new(atomic.Int64)}
		watch(t, func(ctx context.Context, report func(error)) error { return p.WatchFS(ctx, fsys, report) }, func(reports func() []error) {
			ticks(calm)
			assert.EqualValues(t, calm+1, fsys.looks.Load(), "the first look is one for the stamp and one for the contents")
			ticks(1 + 30)
			assert.EqualValues(t, calm+1+1+10, fsys.looks.Load())
			require.NoError(t, os.WriteFile(filepath.Join(root, "o.rego"), []byte(regotest.Org(regotest.ClosedPolicy)), 0o600))
			ticks(slower + 1)
			assert.Equal(t, []error{nil}, reports())
		})
	})
}

// overwrite writes to the file itself.
func overwrite(t *testing.T, name, text string, at time.Time) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(text)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.NoError(t, os.Chtimes(name, at, at))
}

// replace puts another file in the place of one.
func replace(t *testing.T, name, text string, at time.Time) {
	t.Helper()
	require.NoError(t, os.WriteFile(name+".md", []byte(text), 0o600))
	require.NoError(t, os.Chtimes(name+".md", at, at))
	require.NoError(t, os.Rename(name+".md", name))
}
