package workspace_test

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/workspace"
)

// BenchmarkFourFiles measures, in turns, what keeping and restoring four files
// costs compared with copying and syncing them. The metrics are medians; raw
// is one copy of the four, kept/raw and restored/raw compare with that, and
// both/raw compares keeping and restoring together with a copy there and back.
//
// The copies are made where the files are: how long it takes to create a file
// depends on what was removed in its part of the disk in the last minutes.
func BenchmarkFourFiles(b *testing.B) {
	for _, size := range []int{4 << 10, 64 << 10} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) { benchFour(b, size) })
	}
}

func benchFour(b *testing.B, size int) {
	w := newBench(b)
	names := []string{"a", "b", "c", "d"}
	orders := [3][3]int{{0, 1, 2}, {1, 0, 2}, {1, 2, 0}}
	var copied, kept, restored []time.Duration
	for i := 0; b.Loop(); i++ {
		before, after := randomFiles(b, size), randomFiles(b, size)
		var snapshot workspace.Snapshot
		w.putSynced(names, before)
		turns := []func(){func() {
			copied = append(copied, timed(func() { w.rawCopy(names, "-"+strconv.Itoa(i)) }))
		}, func() {
			kept = append(kept, timed(func() {
				var err error
				snapshot, err = w.ws.Snapshot(b.Context(), names...)
				require.NoError(b, err)
			}))
		}, func() {
			left := snapshot
			for k, name := range names {
				left = left.WithFile(name, after[k], 0o644)
			}
			w.putSynced(names, after)
			restored = append(restored, timed(func() { require.NoError(b, w.ws.Restore(b.Context(), snapshot, left)) }))
		}}
		for k := range 3 { // what comes first is another one each time
			turns[orders[i%3][k]]()
		}
	}
	r, k, s := median(copied), median(kept), median(restored)
	b.ReportMetric(r*1e3, "raw-ms")
	b.ReportMetric(k/r, "kept/raw")
	b.ReportMetric(s/r, "restored/raw")
	b.ReportMetric((k+s)/(2*r), "both/raw")
}

// putSynced writes and syncs files, so that a later sync of other files is not charged
// for them.
func (b *bench) putSynced(names []string, list [4][]byte) {
	for i, name := range names {
		b.put(name, string(list[i]))
		f, err := os.Open(filepath.Join(b.dir, name))
		require.NoError(b.t, err)
		require.NoError(b.t, f.Sync())
		require.NoError(b.t, f.Close())
	}
}

func randomFiles(b *testing.B, size int) (list [4][]byte) {
	for i := range list {
		list[i] = make([]byte, size)
		_, err := rand.Read(list[i])
		require.NoError(b, err)
	}
	return list
}

// rawCopy copies files and syncs each copy, as a careful program does by itself.
// It does not sync their names.
func (b *bench) rawCopy(names []string, suffix string) {
	for _, name := range names {
		path := filepath.Join(b.dir, name)
		data, err := os.ReadFile(path)
		require.NoError(b.t, err)
		f, err := os.Create(path + suffix)
		require.NoError(b.t, err)
		_, err = f.Write(data)
		require.NoError(b.t, err)
		require.NoError(b.t, f.Sync())
		require.NoError(b.t, f.Close())
	}
}

func timed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

// median returns the median in seconds.
func median(list []time.Duration) float64 {
	slices.Sort(list)
	return list[len(list)/2].Seconds()
}

// BenchmarkWriteFile measures a write in a call, with its pre-image, and the end
// of the call.
func BenchmarkWriteFile(b *testing.B) {
	w := newBench(b)
	for i := 0; b.Loop(); i++ {
		ctx, tx := w.begin()
		require.NoError(b, w.ws.WriteFile(ctx, "a", strconv.AppendInt(nil, int64(i), 10), 0o644))
		w.commit(tx)
	}
}

// BenchmarkScan measures a scan of 3,000 files.
func BenchmarkScan(b *testing.B) {
	w := newBench(b)
	for i := range 3000 {
		w.put(fmt.Sprintf("d%d/f%d", i%50, i), "x")
	}
	for b.Loop() {
		m, err := w.ws.Scan(b.Context())
		require.NoError(b, err)
		require.Len(b, m, 3050)
	}
}
