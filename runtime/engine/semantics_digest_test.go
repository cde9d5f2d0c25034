package engine_test

import (
	"crypto/sha256"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/rules"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// TestDedupeKeyIsLengthPrefixed computes the digests of a call independently: a later
// version that restores the session must compute the same digests.
// SEMANTICS 4.8.4
func TestDedupeKeyIsLengthPrefixed(t *testing.T) {
	r := newRig(t, readTool(okRead, func(s *runtime.Spec) {
		s.Dedupe.Mode, s.Idempotency = runtime.DedupeAlways, &runtime.Idempotency{Key: []string{"path"}}
	}))
	var admitted rules.Event
	r.exec.Note(func(_ string, ev rules.Event) {
		if ev.Kind == rules.EventAdmitted {
			admitted = ev
		}
	})
	r.turn().Execute(t.Context(), callOf("c1", "file_read", `{"path":"a.md","limit":2}`))
	field := func(b []byte, s string) []byte {
		return append(binary.BigEndian.AppendUint64(b, uint64(len(s))), s...)
	}
	form := func(text string) string {
		b, err := wire.AppendCanonical(nil, wire.Raw(text))
		require.NoError(t, err)
		return string(b)
	}
	prefix := field(field(nil, "file_read"), "agent")
	args := sha256.Sum256(field(prefix[:len(prefix):len(prefix)], form(`{"limit":2,"path":"a.md"}`)))
	assert.Equal(t, r.exec.Masked(args), admitted.Args)
	key := string(field(nil, "path")) + "\x01" + form(`"a.md"`)
	assert.Equal(t, r.exec.Masked(sha256.Sum256(field(prefix[:len(prefix):len(prefix)], key))), admitted.Key)
}
