package archive

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/internal/merkle"
)

const origin = "test.example/log"

// A store is a Reader whose entries can be changed and archived.
type store struct {
	entries  []journal.Entry
	archived uint64
	skey     note.Signer
	verifier note.Verifier
}

// newStore returns one of n entries.
func newStore(t testing.TB, n int) *store {
	t.Helper()
	skey, vkey, err := note.GenerateKey(nil, origin)
	require.NoError(t, err)
	signer, err := note.NewSigner(skey)
	require.NoError(t, err)
	verifier, err := note.NewVerifier(vkey)
	require.NoError(t, err)
	s := &store{skey: signer, verifier: verifier}
	for i := range n {
		e, err := journal.NewEntry(uint64(i+1), &journal.Record{
			Kind: "tool.authorized", At: time.Unix(int64(i), 7).UTC(), Session: fmt.Sprint("session-", i%7), Run: "run-1",
			Call: fmt.Sprint("call-", i), Tool: "pay", Mark: journal.MarkOpened, Revision: strings.Repeat("x", i%50),
		}, nil)
		require.NoError(t, err)
		s.entries = append(s.entries, e)
	}
	return s
}

func (s *store) Read(_ context.Context, after uint64, limit int) ([]journal.Entry, error) {
	if after < s.archived {
		return nil, &journal.ArchivedError{Last: s.archived}
	}
	from := min(after, uint64(len(s.entries)))
	return slices.Clone(s.entries[from:min(uint64(len(s.entries)), from+uint64(limit))]), nil
}

// header returns the header of the entries from first to last.
func (s *store) header(t testing.TB, first, last uint64) Header {
	t.Helper()
	h := Header{Store: strings.Repeat("0a", 16), Origin: origin, First: first, Last: last, Before: []tlog.Hash{}}
	var tree merkle.Tree
	var hasher merkle.Hasher
	for i := range s.entries[:last] {
		if uint64(i) == first-1 {
			h.Before = slices.Clone(tree.Peaks)
		}
		tree.Add(hasher.Leaf(s.entries[i].Leaf))
	}
	if h.Before == nil {
		h.Before = []tlog.Hash{}
	}
	h.Root = tree.Root()
	text, err := note.Sign(&note.Note{Text: h.said()}, s.skey)
	require.NoError(t, err)
	h.Note = string(text)
	return h
}

// write writes a segment and returns its name.
func (s *store) write(t testing.TB, h Header) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), fmt.Sprintf("%d-%d.segment", h.First, h.Last))
	_, err := WriteFile(t.Context(), path, h, s)
	require.NoError(t, err)
	return path
}

// opened opens a segment until the test ends.
func opened(t testing.TB, path string) *File {
	t.Helper()
	f, err := Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	return f
}

// segment writes and opens a segment.
func (s *store) segment(t testing.TB, first, last uint64) *File {
	return opened(t, s.write(t, s.header(t, first, last)))
}

// readAll reads what a file has.
func readAll(t testing.TB, r Reader, after uint64, limit int) (list []journal.Entry, err error) {
	t.Helper()
	for {
		page, err := r.Read(t.Context(), after, limit)
		list = append(list, page...)
		if err != nil || len(page) == 0 {
			return list, err
		}
		after = page[len(page)-1].Seq
	}
}

// changed writes what f makes of the bytes of a file to another one.
func changed(t testing.TB, path string, f func([]byte) []byte) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	to := filepath.Join(t.TempDir(), "changed.segment")
	require.NoError(t, os.WriteFile(to, f(data), 0o600))
	return to
}

// look opens a segment and reads and proves all of it.
func look(t testing.TB, path string) error {
	t.Helper()
	f, err := Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := readAll(t, f, 0, 100); err != nil {
		return err
	}
	return f.Prove(t.Context())
}
