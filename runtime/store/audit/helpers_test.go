package audit_test

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/mod/sumdb/note"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/audit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// keys returns a new key.
func keys(t testing.TB) (note.Signer, note.Verifier) {
	t.Helper()
	skey, vkey, err := audit.GenerateKey("test.example/log")
	require.NoError(t, err)
	signer, err := note.NewSigner(skey)
	require.NoError(t, err)
	verifier, err := note.NewVerifier(vkey)
	require.NoError(t, err)
	return signer, verifier
}

// fixedKeys returns a key that is always the same.
func fixedKeys(t testing.TB) (note.Signer, note.Verifier) {
	t.Helper()
	const name = "test.example/log"
	seed := make([]byte, ed25519.SeedSize)
	vkey, err := note.NewEd25519VerifierKey(name, ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey))
	require.NoError(t, err)
	verifier, err := note.NewVerifier(vkey)
	require.NoError(t, err)
	const algEd25519 = 1
	signer, err := note.NewSigner(fmt.Sprintf("PRIVATE+KEY+%s+%08x+%s", name, verifier.KeyHash(), base64.StdEncoding.EncodeToString(append([]byte{algEd25519}, seed...))))
	require.NoError(t, err)
	return signer, verifier
}

var start = time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)

// entry returns one that looks like the executor's.
func entry(t testing.TB, seq uint64) journal.Entry {
	t.Helper()
	r := &journal.Record{
		Kind: "tool.authorized", At: start.Add(time.Duration(seq) * time.Millisecond), Session: "session-1", Run: "run-1", Principal: "alice",
		Call: fmt.Sprint("call-", seq/4), Tool: "file_write", ToolVersion: "1.2.0", Pin: "0f343b0931126a20f133d67c2b018a3b5e4e1d7a9f2b8c6d4e5f60718293a4b5",
		From: "VALIDATED", To: "AUTHORIZED", Revision: "2026-01-02", Decision: []byte(`{"effect":"allow","revision":"2026-01-02"}`),
		Args: &journal.Payload{Bytes: 64, SHA256: "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9", Value: []byte(fmt.Sprintf(`{"path":"notes/%d.md","content":"hello"}`, seq))},
	}
	if seq%4 == 0 {
		r.Mark = journal.MarkOpened
	}
	e, err := journal.NewEntry(seq, r, nil)
	require.NoError(t, err)
	return e
}

// entries returns n entries after a position.
func entries(t testing.TB, after uint64, n int) []journal.Entry {
	t.Helper()
	list := make([]journal.Entry, n)
	for i := range list {
		list[i] = entry(t, after+uint64(i)+1)
	}
	return list
}

// A store is a Source whose content can be changed.
type store struct {
	entries     []journal.Entry
	checkpoints []audit.Checkpoint
}

func (s *store) Read(_ context.Context, after uint64, limit int) ([]journal.Entry, error) {
	i := len(s.entries)
	for j, e := range s.entries {
		if e.Seq > after {
			i = j
			break
		}
	}
	return slices.Clone(s.entries[i:min(len(s.entries), i+limit)]), nil
}

func (s *store) Checkpoints(context.Context) ([]audit.Checkpoint, error) {
	return slices.Clone(s.checkpoints), nil
}

func (s *store) clone() *store {
	return &store{slices.Clone(s.entries), slices.Clone(s.checkpoints)}
}

// notes collects what is anchored.
type notes struct {
	mu   sync.Mutex
	list [][]byte
}

func (n *notes) Anchor(_ context.Context, note []byte) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, slices.Clone(note))
	return nil
}

func (n *notes) all() [][]byte {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.list)
}

// kept is a journal that is no more than a list.
type kept struct {
	journal.Journal
	list []journal.Entry
}

func (k *kept) Append(_ context.Context, e []journal.Entry) error {
	k.list = append(k.list, e...)
	return nil
}

func (k *kept) Read(context.Context, uint64, int) ([]journal.Entry, error) { return nil, nil }

// logged writes entries through a Log, with a checkpoint after each of the sizes,
// and returns what was stored and anchored.
func logged(t testing.TB, signer note.Signer, list []journal.Entry, sizes ...int) (*store, [][]byte) {
	t.Helper()
	var inner kept
	var checkpoints audit.MemoryCheckpoints
	var anchored notes
	l, err := audit.New(t.Context(), &inner, &checkpoints, signer, audit.WithAnchor(&anchored), audit.WithReport(func(err error) { t.Error(err) }))
	require.NoError(t, err)
	j, from := l.Journal(), 0
	for _, size := range append(sizes, len(list)) {
		require.NoError(t, j.Append(t.Context(), list[from:size]))
		require.NoError(t, l.Checkpoint(t.Context()))
		from = size
	}
	require.NoError(t, l.Close(t.Context()))
	s := &store{entries: inner.list}
	s.checkpoints, err = checkpoints.Checkpoints(t.Context())
	require.NoError(t, err)
	return s, anchored.all()
}

// every returns the multiples of step below n.
func every(step, n int) []int {
	var list []int
	for i := step; i < n; i += step {
		list = append(list, i)
	}
	return list
}

// verify verifies what can be read.
func verify(t testing.TB, src audit.Source, v note.Verifier, anchored [][]byte) audit.Report {
	t.Helper()
	r, err := audit.Verify(t.Context(), src, v, anchored)
	require.NoError(t, err)
	require.Equal(t, r.Bad == nil, r.OK)
	return r
}
