package audit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/audit"
)

// damaged is a source that says where it cannot be read, as runtime/store/sqlite does.
type damaged struct{ *store }

type damage uint64

func (d damage) Error() string     { return fmt.Sprintf("entry %d cannot be read", uint64(d)) }
func (d damage) DamagedAt() uint64 { return uint64(d) }

func (d damaged) Read(ctx context.Context, after uint64, limit int) ([]journal.Entry, error) {
	list, err := d.store.Read(ctx, after, limit)
	for i := range list {
		if at := after + uint64(i) + 1; list[i].Seq != at {
			return list[:i], fmt.Errorf("read: %w", damage(at))
		}
	}
	return list, err
}

func TestDamageIsAFault(t *testing.T) {
	signer, verifier := keys(t)
	good, _ := logged(t, signer, entries(t, 0, 100), 30, 60)
	for at := range 100 {
		s := good.clone()
		s.entries = slices.Delete(s.entries, at, at+1)
		class := audit.ClassUnreadable
		if at == 99 {
			class = audit.ClassCut
		}
		wantFault(t, verify(t, damaged{s}, verifier, nil), at+1, class)
		s.checkpoints = s.checkpoints[:1]
		if at < 99 {
			wantFault(t, verify(t, damaged{s}, verifier, nil), at+1, audit.ClassUnreadable)
		}
	}
	s := good.clone()
	s.entries = slices.Delete(s.entries, 50, 51)
	s.entries[40] = forge(t, 41)
	wantFault(t, verify(t, damaged{s}, verifier, nil), 41, audit.ClassEdited)

	_, err := audit.Verify(t.Context(), broken{good}, verifier, nil)
	require.ErrorContains(t, err, "no such disk", "what may be better next time is no fault")
}

// broken is a source that cannot be read now.
type broken struct{ *store }

func (broken) Read(context.Context, uint64, int) ([]journal.Entry, error) {
	return nil, errors.New("no such disk")
}

// FuzzHostileNotes holds that nothing that is read besides a journal breaks Verify,
// New or ReadAnchors, or is taken for a proof when it is not signed.
func FuzzHostileNotes(f *testing.F) {
	signer, verifier := fixedKeys(f)
	good, anchored := logged(f, signer, entries(f, 0, 20), 10)
	f.Add(good.checkpoints[0].Note, uint64(10), anchored[0])
	f.Add(good.checkpoints[1].Note, uint64(1)<<63, []byte("test.example/log\n9223372036854775807\n\n— x\n\n"))
	f.Add(good.checkpoints[1].Signed(), uint64(0), bytes.Repeat([]byte("test.example/log\n"), 5))
	signed := map[string]bool{}
	for _, n := range anchored {
		signed[string(n)] = true
	}
	f.Fuzz(func(t *testing.T, note []byte, size uint64, anchor []byte) {
		s := good.clone()
		s.checkpoints = append(s.checkpoints[:1:1], audit.Checkpoint{Size: size, Note: note})
		notes, err := audit.ReadAnchors(bytes.NewReader(anchor), verifier.Name())
		require.NoError(t, err)
		r, err := audit.Verify(t.Context(), s, verifier, append(notes, anchor))
		require.NoError(t, err)
		if r.OK && !signed[string(s.checkpoints[1].Signed())] {
			t.Fatalf("%q is no checkpoint", note)
		}
		l, err := audit.New(t.Context(), readOnly{nil, s}, asStore{s}, signer, audit.WithReport(func(error) {}))
		if err == nil {
			_ = l.Close(t.Context())
		}
	})
}
