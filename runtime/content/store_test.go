package content_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ambit-tools/ambit/runtime/content"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T) *content.Store {
	s, err := content.Open(filepath.Join(t.TempDir(), "a", "content"))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	return s
}

// files returns the files of a store.
func files(t *testing.T, s *content.Store) (list []string) {
	require.NoError(t, filepath.WalkDir(s.Path(), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			list = append(list, path)
		}
		return err
	}))
	return list
}

func TestPutAndGet(t *testing.T) {
	s, ctx := open(t), t.Context()
	for _, data := range [][]byte{nil, []byte("a"), bytes.Repeat([]byte("long "), 100_000)} {
		ref, err := s.Put(ctx, data)
		require.NoError(t, err)
		assert.Equal(t, content.RefOf(data), ref)
		got, err := s.Get(ctx, ref)
		require.NoError(t, err)
		assert.True(t, bytes.Equal(data, got))
		has, err := s.Has(ctx, ref)
		require.NoError(t, err)
		assert.True(t, has)
	}
	missing := content.RefOf([]byte("missing"))
	_, err := s.Get(ctx, missing)
	require.ErrorIs(t, err, content.ErrNotFound)
	has, err := s.Has(ctx, missing)
	require.NoError(t, err)
	assert.False(t, has)
}

func TestEqualContentIsStoredOnce(t *testing.T) {
	s, ctx := open(t), t.Context()
	_, err := s.PutAll(ctx, []byte("a"), []byte("a"), []byte("b"))
	require.NoError(t, err)
	again, err := content.Open(s.Path())
	require.NoError(t, err)
	defer again.Close()
	_, err = again.Put(ctx, []byte("a"))
	require.NoError(t, err)
	w, err := again.Create(ctx)
	require.NoError(t, err)
	_, err = io.WriteString(w, "b")
	require.NoError(t, err)
	ref, err := w.Commit(ctx)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	assert.Equal(t, content.RefOf([]byte("b")), ref)
	assert.Len(t, files(t, s), 2)
}

func TestAWriterThatIsClosedLeavesNothing(t *testing.T) {
	s := open(t)
	w, err := s.Create(t.Context())
	require.NoError(t, err)
	_, err = io.WriteString(w, "b")
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, w.Close())
	assert.Empty(t, files(t, s))
	_, err = w.Commit(t.Context())
	require.Error(t, err)
}

func TestDamageIsNoticed(t *testing.T) {
	ctx := t.Context()
	data := bytes.Repeat([]byte("0123456789"), 10_000)
	for name, damage := range map[string]func([]byte) []byte{
		"a byte":   func(b []byte) []byte { b[77_777] ^= 1; return b },
		"the end":  func(b []byte) []byte { return b[:len(b)-1] },
		"all":      func([]byte) []byte { return nil },
		"too much": func(b []byte) []byte { return append(b, 0) },
		"a hole":   func(b []byte) []byte { clear(b[4096:8192]); return b },
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			ref, err := s.Put(ctx, data)
			require.NoError(t, err)
			file := files(t, s)[0]
			require.NoError(t, os.WriteFile(file, damage(bytes.Clone(data)), 0o600))
			got, err := s.Get(ctx, ref)
			require.ErrorIs(t, err, content.ErrCorrupt)
			require.ErrorContains(t, err, ref.SHA256[2:])
			assert.Nil(t, got)
			if r, err := s.Open(ctx, ref); err == nil {
				_, err = io.Copy(io.Discard, r)
				require.ErrorIs(t, err, content.ErrCorrupt)
				require.NoError(t, r.Close())
			}
			again, err := content.Open(s.Path()) // putting it again repairs it
			require.NoError(t, err)
			defer again.Close()
			_, err = again.Put(ctx, data)
			require.NoError(t, err)
			_, err = again.Get(ctx, ref)
			require.NoError(t, err)
		})
	}
}

func TestPutAtTheSameTime(t *testing.T) {
	s, ctx := open(t), t.Context()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for k := range 10 {
				ref, err := s.Put(ctx, []byte{byte(k)})
				assert.NoError(t, err)
				_, err = s.Get(ctx, ref)
				assert.NoError(t, err)
				if i == 0 {
					_, err = s.Prune(ctx, time.Now(), nil)
					assert.NoError(t, err)
				}
			}
		})
	}
	wg.Wait()
	assert.Len(t, files(t, s), 10)
}

func TestPrune(t *testing.T) {
	s, ctx := open(t), t.Context()
	refs, err := s.PutAll(ctx, []byte("old"), []byte("kept"), []byte("used"), []byte("new"))
	require.NoError(t, err)
	long := time.Now().Add(-24 * time.Hour)
	left := filepath.Join(s.Path(), "tmp-left")
	require.NoError(t, os.WriteFile(left, nil, 0o600))
	for _, file := range append(files(t, s), left) {
		if filepath.Base(file) != refs[3].SHA256[2:] {
			require.NoError(t, os.Chtimes(file, long, long))
		}
	}
	again, err := content.Open(s.Path())
	require.NoError(t, err)
	defer again.Close()
	_, err = again.Put(ctx, []byte("used"))
	require.NoError(t, err)
	n, err := again.Prune(ctx, time.Now().Add(-time.Hour), func(r content.Ref) bool { return r == refs[1] })
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	for i, want := range []bool{false, true, true, true} {
		has, err := again.Has(ctx, refs[i])
		require.NoError(t, err)
		assert.Equal(t, want, has, i)
	}
	assert.NoFileExists(t, left)
	_, err = again.Put(ctx, []byte("old")) // it is not remembered to be there
	require.NoError(t, err)
	_, err = again.Get(ctx, refs[0])
	require.NoError(t, err)
}

func TestABadRefIsRefused(t *testing.T) {
	s := open(t)
	good := content.RefOf(nil)
	for _, ref := range []content.Ref{
		{}, {SHA256: "../../../../etc/passwd"}, {SHA256: good.SHA256, Size: -1}, {SHA256: "E" + good.SHA256[1:]}, {SHA256: good.SHA256[:62] + "/."},
	} {
		_, err := s.Get(t.Context(), ref)
		require.Error(t, err)
		require.False(t, errors.Is(err, content.ErrNotFound))
		_, err = s.Has(t.Context(), ref)
		require.Error(t, err)
	}
}

func TestReadersMakeNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "objects")
	_, err := content.OpenReader(dir)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoDirExists(t, dir)
	s, err := content.Open(dir)
	require.NoError(t, err)
	ref, err := s.Put(t.Context(), []byte("kept"))
	require.NoError(t, err)
	r, err := content.OpenReader(dir)
	require.NoError(t, err)
	data, err := r.Get(t.Context(), ref)
	require.NoError(t, err)
	require.Equal(t, "kept", string(data))
	require.NoError(t, r.Close())
	require.NoError(t, s.Close())
}
