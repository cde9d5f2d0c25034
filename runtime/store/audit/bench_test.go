package audit_test

import (
	"context"
	"crypto/sha256"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/audit"
)

// nowhere is a journal that stores nothing.
type nowhere struct{ journal.Journal }

func (nowhere) Append(context.Context, []journal.Entry) error { return nil }

func (nowhere) Read(context.Context, uint64, int) ([]journal.Entry, error) { return nil, nil }

// noCheckpoints stores nothing either.
type noCheckpoints struct{}

func (noCheckpoints) SaveCheckpoint(context.Context, uint64, []byte) error { return nil }

func (noCheckpoints) Checkpoints(context.Context) ([]audit.Checkpoint, error) { return nil, nil }

func (noCheckpoints) RecentCheckpoints(context.Context, uint64, int) ([]audit.Checkpoint, error) {
	return nil, nil
}

// BenchmarkAppend is what the log adds to each entry, its share of the
// checkpoints included: appends of five entries, as a call has.
func BenchmarkAppend(b *testing.B) {
	signer, _ := keys(b)
	l, err := audit.New(b.Context(), nowhere{}, noCheckpoints{}, signer, audit.WithAnchor(audit.AnchorFunc(func(context.Context, []byte) error { return nil })))
	require.NoError(b, err)
	j, list := l.Journal(), entries(b, 0, 5)
	size := 0
	for _, e := range list {
		size += len(e.Leaf)
	}
	b.ReportAllocs()
	var next uint64
	for b.Loop() {
		for i := range list {
			next++
			list[i].Seq = next
		}
		if err := j.Append(b.Context(), list); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(next), "ns/entry")
	b.ReportMetric(float64(size)/float64(len(list)), "B/leaf")
	require.NoError(b, l.Close(b.Context()))
}

// many returns a log of 200,000 entries.
func many(b *testing.B) (audit.Source, note.Verifier, [][]byte) {
	b.Helper()
	signer, verifier := keys(b)
	var inner journal.Memory
	var checkpoints audit.MemoryCheckpoints
	var anchored notes
	l, err := audit.New(b.Context(), &inner, &checkpoints, signer, audit.WithAnchor(&anchored))
	require.NoError(b, err)
	j := l.Journal()
	for at := uint64(0); at < 200_000; at += audit.Interval {
		require.NoError(b, j.Append(b.Context(), entries(b, at, audit.Interval)))
		require.NoError(b, l.Checkpoint(b.Context()))
	}
	require.NoError(b, l.Close(b.Context()))
	return audit.NewSource(&inner, &checkpoints), verifier, anchored.all()
}

// BenchmarkVerify compares Verify with SHA-256 alone over the same bytes, in turn.
func BenchmarkVerify(b *testing.B) {
	src, verifier, anchored := many(b)
	list, err := src.Read(b.Context(), 0, 1_000_000)
	require.NoError(b, err)
	var plain, whole time.Duration
	var sink byte
	var size uint64
	for b.Loop() {
		at := time.Now()
		for i := range list {
			sum := sha256.Sum256(list[i].Leaf)
			sink ^= sum[0]
		}
		plain += time.Since(at)
		at = time.Now()
		r, err := audit.Verify(b.Context(), src, verifier, anchored)
		whole += time.Since(at)
		if err != nil || r.Verdict != audit.VerdictOK {
			b.Fatal(err, r)
		}
		size = r.Bytes
	}
	_ = sink
	n := float64(b.N)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(size)*n/whole.Seconds()/1e6, "MB/s")
	b.ReportMetric(float64(len(list))*n/whole.Seconds()/1e6, "Mentries/s")
	b.ReportMetric(float64(size)*n/plain.Seconds()/1e6, "sha256-MB/s")
	b.ReportMetric(plain.Seconds()/whole.Seconds(), "ratio")
}
