package sqlite_test

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/store/audit"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// BenchmarkVerify compares the verification of a store with SHA-256 alone over the
// leaves of its entries, which are in memory, in turn. The ratio is that of the
// medians, the best one that of the least times: what else runs on the machine
// takes more from two busy cores than from one.
func BenchmarkVerify(b *testing.B) {
	for _, step := range []int{0, 5} {
		b.Run(fmt.Sprintf("private=%d", step), func(b *testing.B) {
			const n = 100_000
			l := openTrail(b, n, step)
			r, err := sqlite.OpenReader(l.path)
			require.NoError(b, err)
			b.Cleanup(func() { require.NoError(b, r.Close()) })
			src := audit.NewSource(r, r)
			var plain, reads, whole []time.Duration
			var sink byte
			var size uint64
			for b.Loop() {
				at := time.Now()
				for _, leaf := range l.leaves {
					sum := sha256.Sum256(leaf)
					sink ^= sum[0]
				}
				plain = append(plain, time.Since(at))
				at = time.Now()
				for after := uint64(0); after < n; after += 1024 {
					if _, err := r.Read(b.Context(), after, 1024); err != nil {
						b.Fatal(err)
					}
				}
				reads = append(reads, time.Since(at))
				at = time.Now()
				report, err := audit.Verify(b.Context(), src, l.verifier, l.anchored)
				whole = append(whole, time.Since(at))
				if err != nil || report.Verdict != audit.VerdictOK {
					b.Fatal(err, report)
				}
				size = report.Bytes
			}
			_ = sink
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(size)/n, "B/leaf")
			b.ReportMetric(float64(size)/median(whole)*1e3, "MB/s")
			b.ReportMetric(float64(size)/median(plain)*1e3, "sha256-MB/s")
			b.ReportMetric(median(reads)/n, "ns/read")
			b.ReportMetric(median(plain)/median(whole), "ratio")
			b.ReportMetric(float64(slices.Min(plain))/float64(slices.Min(whole)), "best-ratio")
		})
	}
}
