package audit_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/audit"
)

// BenchmarkStartWithNotes starts a log whose anchor has the notes of 20,000 checkpoints.
func BenchmarkStartWithNotes(b *testing.B) {
	signer, _ := keys(b)
	path := filepath.Join(b.TempDir(), "anchor")
	var inner journal.Memory
	var checkpoints audit.MemoryCheckpoints
	var anchored notes
	open := func(opts ...audit.Option) *audit.Log {
		l, err := audit.New(b.Context(), &inner, &checkpoints, signer, opts...)
		require.NoError(b, err)
		return l
	}
	l := open(audit.WithAnchor(&anchored))
	for at := range uint64(20_000) {
		require.NoError(b, l.Journal().Append(b.Context(), entries(b, at, 1)))
		require.NoError(b, l.Checkpoint(b.Context()))
	}
	require.NoError(b, l.Close(b.Context()))
	var text []byte
	for _, n := range anchored.all() {
		text = append(append(text, n...), '\n')
	}
	writeFile(b, path, text)
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, open(audit.WithAnchor(audit.FileAnchor{Path: path})).Close(b.Context()))
	}
}
