package cli_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ambit-tools/ambit/cmd/ambit/cli"
	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/archive"
	"github.com/ambit-tools/ambit/runtime/store/audit"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// An archivedStore is a store of which two archives have taken entries.
type archivedStore struct {
	path     string
	key      string // file of the signer of the audit log; its verifier is beside it
	segments []string
}

// extend appends entries and archives them but the last.
func (s *archivedStore) extend(t *testing.T, what string) {
	store, err := sqlite.Open(s.path)
	require.NoError(t, err)
	_, err = os.Stat(s.key)
	signer, fault := audit.OpenSigner(s.key, "example.com/app", err != nil)
	require.NoError(t, fault)
	verifier, err := audit.ReadVerifier(s.key + audit.PublicSuffix)
	require.NoError(t, err)
	log, err := audit.New(t.Context(), store, audit.NewCheckpoints(store), signer, audit.WithAnchor(audit.FileAnchor{Path: s.path + ".anchor"}),
		audit.WithAfterFunc(func(time.Duration, func()) func() bool { return func() bool { return true } }))
	require.NoError(t, err)
	seq := store.Health().Head
	for i := range 60 {
		if i == 58 {
			require.NoError(t, log.Checkpoint(t.Context()))
		}
		seq++
		e, err := journal.NewEntry(seq, &journal.Record{Kind: journal.KindRunStarted, At: time.Unix(int64(seq), 0).UTC(), Session: fmt.Sprint("s", i%3), Run: fmt.Sprint(what, seq)}, nil)
		require.NoError(t, err)
		require.NoError(t, log.Journal().Append(t.Context(), []journal.Entry{e}))
	}
	f, err := os.Open(s.path + ".anchor")
	require.NoError(t, err)
	notes, err := audit.ReadAnchors(f, verifier.Name())
	require.NoError(t, err)
	require.NoError(t, f.Close())
	to := fmt.Sprint(s.path, ".", len(s.segments)+1, ".segment")
	_, err = archive.Write(t.Context(), &archive.Config{Store: store, Verifier: verifier, Notes: notes, Before: time.Unix(int64(seq), 0), To: to, Window: new(time.Duration)})
	require.NoError(t, err)
	s.segments = append(s.segments, to)
	require.NoError(t, log.Close(t.Context()))
	require.NoError(t, store.Close())
}

// ambit runs a verb on the store and segments, "show" for an entry, and returns its exit code and what it printed.
func (s *archivedStore) ambit(verb string, seq uint64, segments ...string) (code int, out string) {
	args := []string{"audit", verb, "--store", s.path}
	switch verb {
	case "show":
		args = append(args, "--seq", fmt.Sprint(seq))
	case "verify":
		args = append(args, "--keys", s.path+".keys", "--key", s.key+audit.PublicSuffix, "--anchor", s.path+".anchor")
	}
	for _, name := range segments {
		args = append(args, "--segment", name)
	}
	var stdout, stderr bytes.Buffer
	code = cli.Run(args, strings.NewReader(""), &stdout, &stderr)
	return code, stdout.String() + stderr.String()
}

// verify runs "audit verify" on the store.
func (s *archivedStore) verify(args ...string) (code int, out string) {
	var stdout, stderr bytes.Buffer
	code = cli.Run(append([]string{"audit", "verify", "--store", s.path}, args...), strings.NewReader(""), &stdout, &stderr)
	return code, stdout.String() + stderr.String()
}

// A relabelled reader has the entries of another one, with another word in them.
type relabelled struct{ archive.Reader }

// Read reads entries.
func (r relabelled) Read(ctx context.Context, after uint64, limit int) ([]journal.Entry, error) {
	list, err := r.Reader.Read(ctx, after, limit)
	for i := range list {
		list[i].Leaf = bytes.ReplaceAll(list[i].Leaf, []byte("honest"), []byte("forged"))
	}
	return list, err
}

// rootOf returns the root of a log (RFC 6962).
func rootOf(list []journal.Entry) tlog.Hash {
	if len(list) == 1 {
		return tlog.RecordHash(list[0].Leaf)
	}
	half := 1
	for 2*half < len(list) {
		half *= 2
	}
	return tlog.NodeHash(rootOf(list[:half]), rootOf(list[half:]))
}

// rewritten writes the first segment anew, signed by a key of the attacker that has the name of the real one. With forged the
// segment has other entries than the real one.
func (s *archivedStore) rewritten(t *testing.T, to string, forged bool) {
	f, err := archive.Open(s.segments[0])
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	var from archive.Reader = f
	if forged {
		from = relabelled{f}
	}
	h := f.Header()
	list, err := from.Read(t.Context(), 0, int(h.Last))
	require.NoError(t, err)
	h.Root = rootOf(list)
	secret, _, err := note.GenerateKey(nil, h.Origin)
	require.NoError(t, err)
	signer, err := note.NewSigner(secret)
	require.NoError(t, err)
	signed, err := note.Sign(&note.Note{Text: fmt.Sprintf("%s\n%d\n%v\n", h.Origin, h.Last, h.Root)}, signer)
	require.NoError(t, err)
	h.Note = string(signed)
	_, err = archive.WriteFile(t.Context(), to, h, from)
	require.NoError(t, err)
}

// parts returns where the frames of a segment begin and end (docs/segments.md).
func parts(data []byte) (from, to int) {
	magic := bytes.IndexByte(data, '\n') + 1
	from = magic + bytes.IndexByte(data[magic:], '\n') + 1
	return from, int(binary.BigEndian.Uint64(data[len(data)-48:]))
}

// withHeader puts the header of a segment onto the frames of another one, with a digest that fits.
func withHeader(t *testing.T, of, onto []byte) []byte {
	from, _ := parts(of)
	at, index := parts(onto)
	require.Equal(t, from, at, "the offsets of the frames stay")
	out := append(bytes.Clone(of[:from]), onto[from:]...)
	sum := sha256.New()
	for _, part := range [][]byte{out[:from], out[index : len(out)-40]} {
		sum.Write(part)
	}
	copy(out[len(out)-40:], sum.Sum(nil))
	return out
}

// A segmentForgery is what a process gives that has none of the keys.
type segmentForgery struct {
	what  string
	files []string
	seq   uint64         // an entry that the one that is not genuine has, or should have
	names *regexp.Regexp // what the error has
}

var (
	entryNamed = regexp.MustCompile(`entr(y|ies) [0-9]+|(at|within) [0-9]+`)
	fileNamed  = regexp.MustCompile(`forged\.segment`)
)

// forge makes up the nth forgery, in a folder: the kinds take turns.
func (s *archivedStore) forge(t *testing.T, n int, donor, fork *archivedStore) *segmentForgery {
	rng := rand.New(rand.NewPCG(uint64(n), 11))
	to := filepath.Join(t.TempDir(), "forged.segment")
	i := rng.IntN(2)
	data, err := os.ReadFile(s.segments[i])
	require.NoError(t, err)
	from, index := parts(data)
	f := &segmentForgery{files: []string{s.segments[1-i], to}, seq: s.first(t, i), names: entryNamed}
	switch n % 8 {
	case 0:
		at := rng.IntN(len(data))
		if f.what = fmt.Sprintf("segment %d cut to %d bytes of %d", i+1, at, len(data)); at < from || at >= index {
			f.names = fileNamed
		}
		data = data[:at]
	case 1:
		at := rng.IntN(len(data))
		if f.what = fmt.Sprintf("byte %d of segment %d changed", at, i+1); at < from || at >= index {
			f.names = fileNamed
		}
		data[at] ^= byte(1 + rng.IntN(255))
	case 2:
		f.what = fmt.Sprintf("segment %d twice", 2-i)
		data, err = os.ReadFile(s.segments[1-i])
	case 3:
		f.what = fmt.Sprintf("segment %d of another store of the same key", i+1)
		data, err = os.ReadFile(donor.segments[i])
	case 4:
		f.what, f.files[0], f.seq = "segment 2 of a copy of the store that went on otherwise, signed by the same key", s.segments[0], s.first(t, 1)
		data, err = os.ReadFile(fork.segments[1])
	default:
		entries := n%8 != 5
		f.what, f.files[0] = fmt.Sprintf("segment 1 signed by another key, with other entries: %t, with the real header: %t", entries, n%8 == 7), s.segments[1]
		f.seq = 1
		s.rewritten(t, to+".own", entries)
		var own []byte
		own, err = os.ReadFile(to + ".own")
		require.NoError(t, err)
		if n%8 == 7 {
			own = withHeader(t, s.bytes(t), own)
		}
		data = own
	}
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, data, 0o600))
	return f
}

// first returns the first entry of a segment.
func (s *archivedStore) first(t *testing.T, segments int) uint64 {
	f, err := archive.Open(s.segments[segments])
	require.NoError(t, err)
	require.NoError(t, f.Close())
	return f.Header().First
}

// bytes returns those of the first segment.
func (s *archivedStore) bytes(t *testing.T) []byte {
	data, err := os.ReadFile(s.segments[0])
	require.NoError(t, err)
	return data
}

// TestForgedSegments gives segments that are not those that were archived: "audit verify" refuses each, and says where; the verbs that
// print entries print none that is forged.
// SEMANTICS 6.14.8
func TestForgedSegments(t *testing.T) {
	dir := t.TempDir()
	key := filepath.Join(dir, "key")
	live := &archivedStore{path: filepath.Join(dir, "live"), key: key}
	live.extend(t, "honest")
	fork := &archivedStore{path: filepath.Join(dir, "fork"), key: key, segments: live.segments}
	for _, part := range []string{"", ".keys", ".anchor"} {
		text, err := os.ReadFile(live.path + part)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(fork.path+part, text, 0o600))
	}
	fork.extend(t, "forged")
	live.extend(t, "honest")
	donor := &archivedStore{path: filepath.Join(dir, "donor"), key: key}
	donor.extend(t, "forged")
	donor.extend(t, "forged")
	verbs := []string{"verify", "export", "show"}
	for _, verb := range verbs { // they are good as they are
		code, out := live.ambit(verb, 1, live.segments...)
		require.Zero(t, code, out)
	}
	for n := range battery.Count(t, 24, 1000) {
		f := live.forge(t, n, donor, fork)
		what := fmt.Sprintf("forgery %d: %s", n, f.what)
		for _, verb := range verbs {
			code, out := live.ambit(verb, f.seq, f.files...)
			require.NotZero(t, code, "%s: %s", what, out)
			require.Regexp(t, f.names, out, "%s: %s", what, verb)
			require.NotContains(t, strings.ReplaceAll(out, "forged.segment", ""), "forged", "%s: %s", what, verb)
		}
	}
}
