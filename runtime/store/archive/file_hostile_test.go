package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	goruntime "runtime"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/internal/disk"
	"github.com/ambit-tools/ambit/runtime/internal/simfs"
)

// TestEveryChangedByteIsFound changes each byte of a segment, in two ways.
func TestEveryChangedByteIsFound(t *testing.T) {
	s := newStore(t, 30)
	path := s.write(t, s.header(t, 8, 30))
	require.NoError(t, look(t, path))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	for i := range data {
		for _, bit := range []byte{1, 0x80} {
			wrong := changed(t, path, func(b []byte) []byte { b[i] ^= bit; return b })
			f, err := Open(wrong)
			if err == nil {
				_, err = f.Read(t.Context(), 0, 100)
				require.NoError(t, f.Close())
			}
			var e *Error
			require.ErrorAs(t, err, &e, "byte %d of %d", i, len(data))
			require.NoError(t, os.Remove(wrong))
		}
	}
}

// TestACutNamesItsPlace cuts a segment at every byte.
func TestACutNamesItsPlace(t *testing.T) {
	s := newStore(t, 1100)
	path := s.write(t, s.header(t, 1, 1100))
	f := opened(t, path)
	first, second := f.index.Frames[0], f.index.Frames[1]
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	for n := len(data) - 1; n >= 0; n -= 1 + n/200 {
		err := look(t, changed(t, path, func(b []byte) []byte { return b[:n] }))
		var e *Error
		require.ErrorAs(t, err, &e, "%d bytes of %d", n, len(data))
		switch at := int64(n); {
		case at >= second.Offset+second.Bytes:
			require.Zero(t, e.First, "all entries are there")
		case at >= second.Offset:
			require.GreaterOrEqual(t, e.First, second.First)
		case at >= first.Offset:
			require.NotZero(t, e.First)
			require.LessOrEqual(t, e.First, second.First)
		}
	}
}

// forged writes a segment with other leaves, and digests that fit them.
func forged(t *testing.T, s *store, h Header, leaf func(uint64, []byte) []byte) string {
	t.Helper()
	other := &store{entries: append(s.entries[:0:0], s.entries...)}
	for i := range other.entries {
		e := &other.entries[i]
		e.Leaf = leaf(e.Seq, e.Leaf)
	}
	name := t.TempDir()
	dir, err := disk.Open(name)
	require.NoError(t, err)
	_, err = fill(t.Context(), dir, "forged", h, other)
	require.NoError(t, err)
	require.NoError(t, dir.Close())
	return filepath.Join(name, "forged")
}

// TestAForgedSegmentIsFound holds that digests that were written anew prove nothing.
func TestAForgedSegmentIsFound(t *testing.T) {
	s := newStore(t, 20)
	f := opened(t, forged(t, s, s.header(t, 1, 20), func(seq uint64, leaf []byte) []byte {
		if seq == 13 {
			return bytes.Replace(leaf, []byte("call-12"), []byte("call-99"), 1)
		}
		return leaf
	}))
	require.NoError(t, f.Signed(s.verifier))
	require.ErrorContains(t, f.Prove(t.Context()), "within entries 1 to 20")
	j, err := Join(s, f)
	require.NoError(t, err)
	list, err := j.Read(t.Context(), 0, 100)
	require.Len(t, list, 12)
	var e *Error
	require.ErrorAs(t, err, &e)
	require.EqualValues(t, 13, e.DamagedAt())
}

func TestALeafThatIsNoRecordIsNamed(t *testing.T) {
	s := newStore(t, 20)
	f := opened(t, forged(t, s, s.header(t, 1, 20), func(seq uint64, leaf []byte) []byte {
		if seq == 13 {
			return []byte("{")
		}
		return leaf
	}))
	list, err := f.Read(t.Context(), 0, 100)
	require.Len(t, list, 12)
	require.ErrorContains(t, err, "at entry 13")
}

// crafted writes a segment with one frame that has these bytes and this index.
func crafted(t *testing.T, s *store, packed []byte, spoil func(*index)) string {
	t.Helper()
	name := t.TempDir()
	dir, err := disk.Open(name)
	require.NoError(t, err)
	f, err := disk.Create(dir, "crafted", nil, 0o600)
	require.NoError(t, err)
	h := s.header(t, 1, 4)
	text, err := line(&h)
	require.NoError(t, err)
	head := append([]byte(magic), text...)
	w := writer{file: f}
	require.NoError(t, w.put(head))
	x := index{[]frame{{First: 1, Last: 4, Offset: w.at, Bytes: int64(len(packed)), Size: 4000, SHA256: sha256.Sum256(packed)}}}
	spoil(&x)
	require.NoError(t, w.put(packed))
	list, err := line(&x)
	require.NoError(t, err)
	end, _ := ending(head, list, w.at)
	require.NoError(t, w.put(list))
	require.NoError(t, w.put(end))
	require.NoError(t, f.Close())
	require.NoError(t, dir.Close())
	return filepath.Join(name, "crafted")
}

// zeros compresses so many zeros.
func zeros(t *testing.T, n int64) []byte {
	t.Helper()
	var packed bytes.Buffer
	w, err := zstd.NewWriter(&packed, zstd.WithEncoderConcurrency(1))
	require.NoError(t, err)
	_, err = io.CopyN(w, zero{}, n)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return packed.Bytes()
}

type zero struct{}

func (zero) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// TestABombIsRefused holds that no more memory is used than the index says.
func TestABombIsRefused(t *testing.T) {
	s := newStore(t, 4)
	bomb := zeros(t, 200<<20)
	require.Less(t, len(bomb), 1<<20)
	f := opened(t, crafted(t, s, bomb, func(*index) {}))
	var before, after goruntime.MemStats
	goruntime.ReadMemStats(&before)
	_, err := f.Read(t.Context(), 0, 10)
	goruntime.ReadMemStats(&after)
	require.ErrorContains(t, err, "within entries 1 to 4")
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20))
}

// TestAnIndexThatLiesIsRefused holds that Open takes no index that leads out of the file, leaves
// entries out or has one twice.
func TestAnIndexThatLiesIsRefused(t *testing.T) {
	s := newStore(t, 4)
	packed := zeros(t, 4)
	require.NoError(t, opened(t, crafted(t, s, packed, func(x *index) { x.Frames[0].Size = 4 })).file.Sync())
	for i, spoil := range []func(*index){
		func(x *index) { x.Frames = nil },
		func(x *index) { x.Frames[0].First = 2 },
		func(x *index) { x.Frames[0].Last = 3 },
		func(x *index) { x.Frames[0].Last = 5 },
		func(x *index) { x.Frames[0].Offset-- },
		func(x *index) { x.Frames[0].Bytes++ },
		func(x *index) { x.Frames[0].Bytes-- },
		func(x *index) { x.Frames[0].Bytes = -1 },
		func(x *index) { x.Frames[0].Size = maxFrame + 1 },
		func(x *index) { x.Frames[0].Size = -1 },
		func(x *index) { x.Frames = append(x.Frames, x.Frames[0]) },
	} {
		_, err := Open(crafted(t, s, packed, spoil))
		require.ErrorContains(t, err, "its index", i)
	}
	for _, size := range []int64{3, 5, 4} { // four zeros are four entries without a leaf
		_, err := opened(t, crafted(t, s, packed, func(x *index) { x.Frames[0].Size = size })).Read(t.Context(), 0, 10)
		require.ErrorContains(t, err, "entr", fmt.Sprint(size))
	}
}

// FuzzSegment opens hostile bytes. Nothing may panic, and what is proved and signed is what was written.
func FuzzSegment(f *testing.F) {
	s := newStore(f, 40)
	for _, r := range [][2]uint64{{1, 1}, {1, 40}, {9, 33}} {
		data, err := os.ReadFile(s.write(f, s.header(f, r[0], r[1])))
		require.NoError(f, err)
		f.Add(data)
		f.Add(data[:len(data)*2/3])
		f.Add(data[:len(data)-1])
	}
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := simfs.New(1).Root()
		file, err := disk.Create(dir, "s", data, 0o600)
		require.NoError(t, err)
		require.NoError(t, file.Close())
		seg, err := open(dir, "s", "s")
		if err != nil {
			return
		}
		defer seg.Close()
		list, err := seg.Read(context.Background(), 0, 1000)
		if err != nil || seg.Prove(context.Background()) != nil || seg.Signed(s.verifier) != nil {
			return
		}
		for i := range list {
			require.Equal(t, s.entries[list[i].Seq-1], list[i])
		}
	})
}
