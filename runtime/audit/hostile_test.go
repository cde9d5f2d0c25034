package audit_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/audit"
)

// FuzzHostileNotes holds that nothing that is read beside a journal breaks Verify,
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
