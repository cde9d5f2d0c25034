package audit_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/audit"
)

// TestIndexAndPrivateAreCompared changes what the tree does not cover.
func TestIndexAndPrivateAreCompared(t *testing.T) {
	signer, verifier := keys(t)
	list := entries(t, 0, 100)
	value, salt := []byte(`"hunter2"`), make([]byte, journal.SaltSize)
	var err error
	for _, at := range []int{30, 90} {
		list[at], err = journal.NewEntry(uint64(at+1), &journal.Record{
			Kind: "tool.invoked", At: start, Args: &journal.Payload{Value: []byte(`{"token":"` + journal.Commit(salt, value) + `"}`)},
		}, nil)
		require.NoError(t, err)
		list[at].Private, err = journal.EncodePrivate([]journal.Secret{{Pointer: "/args/value/token", Salt: salt, Value: value}})
		require.NoError(t, err)
	}
	good, anchored := logged(t, signer, list, 40, 80)
	// A tail without a checkpoint.
	good.checkpoints, anchored = good.checkpoints[:2], anchored[:2]
	require.Equal(t, audit.VerdictOK, verify(t, good, verifier, anchored).Verdict)

	for name, change := range map[string]func(*journal.Entry){
		"at":      func(e *journal.Entry) { e.At = e.At.Add(time.Nanosecond) },
		"kind":    func(e *journal.Entry) { e.Kind = "tool.denied" },
		"session": func(e *journal.Entry) { e.Session = "other" },
		"run":     func(e *journal.Entry) { e.Run = "other" },
		"call":    func(e *journal.Entry) { e.Call = "" },
		"tool":    func(e *journal.Entry) { e.Tool = "other" },
		"mark":    func(e *journal.Entry) { e.Mark = journal.MarkEnded },
	} {
		for _, at := range []int{0, 19, 39, 79, 80, 99} {
			s := good.clone()
			change(&s.entries[at])
			r := verify(t, s, verifier, anchored)
			wantFault(t, r, at+1, audit.ClassIndex)
			assert.Contains(t, r.Bad.What, name)
		}
	}
	for _, at := range []int{30, 90} {
		s := good.clone()
		s.entries[at].Private = nil
		require.True(t, verify(t, s, verifier, anchored).OK, "erased")
		s.entries[at].Private, err = journal.EncodePrivate([]journal.Secret{{Pointer: "/args/value/token", Salt: salt, Value: []byte(`"hunter3"`)}})
		require.NoError(t, err)
		wantFault(t, verify(t, s, verifier, anchored), at+1, audit.ClassPrivate)
		s.entries[at].Private = []byte("?")
		wantFault(t, verify(t, s, verifier, anchored), at+1, audit.ClassPrivate)
	}
	t.Run("an edit before it comes first", func(t *testing.T) {
		s := good.clone()
		s.entries[59].Tool = "other"
		s.entries[49] = forge(t, 50)
		wantFault(t, verify(t, s, verifier, anchored), 50, audit.ClassEdited)
		s.entries[19].Tool = "other"
		wantFault(t, verify(t, s, verifier, anchored), 20, audit.ClassIndex)
	})
	t.Run("no record in the tail", func(t *testing.T) {
		s := good.clone()
		s.entries[85].Leaf = s.entries[85].Leaf[:len(s.entries[85].Leaf)-1]
		wantFault(t, verify(t, s, verifier, anchored), 86, audit.ClassIndex)
	})
}

// theirs is a store that knows nothing of this package.
type (
	theirs     struct{ audit.MemoryCheckpoints }
	checkpoint struct {
		Size uint64
		Note []byte
	}
)

func (s *theirs) Checkpoints(ctx context.Context) ([]checkpoint, error) {
	list, err := s.MemoryCheckpoints.Checkpoints(ctx)
	out := make([]checkpoint, len(list))
	for i, c := range list {
		out[i] = checkpoint(c)
	}
	return out, err
}

func (s *theirs) RecentCheckpoints(ctx context.Context, size uint64, most int) ([]checkpoint, error) {
	list, err := s.MemoryCheckpoints.RecentCheckpoints(ctx, size, most)
	out := make([]checkpoint, len(list))
	for i, c := range list {
		out[i] = checkpoint(c)
	}
	return out, err
}

func TestStoreOfAnotherPackage(t *testing.T) {
	signer, verifier := keys(t)
	var inner journal.Memory
	var s theirs
	for i := range uint64(2) {
		l, err := audit.New(t.Context(), &inner, audit.NewCheckpoints(&s), signer)
		require.NoError(t, err)
		require.NoError(t, l.Journal().Append(t.Context(), entries(t, 5*i, 5)))
		require.NoError(t, l.Close(t.Context()))
	}
	r := verify(t, audit.NewSource(&inner, &s), verifier, nil)
	assert.Equal(t, audit.VerdictNotAnchored, r.Verdict)
	assert.Equal(t, 2, r.Checkpoints)
}
