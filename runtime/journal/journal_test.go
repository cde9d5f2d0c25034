package journal_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/rules"
)

func TestRecordRoundTrip(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	in := &journal.Record{
		Kind: "tool.started", At: at, Session: "s", Run: "r", Call: "c", Tool: "t", From: "AUTHORIZED", To: "EXECUTING",
		Epoch: 3, Duration: time.Second, TurnEnds: at, TurnCap: time.Minute, Patience: time.Second,
		Final: &journal.Payload{Bytes: 2, SHA256: "ab", Value: []byte(`{"a":9007199254740993}`)},
		Rules: []rules.Event{{
			Kind: rules.EventFinished, At: 7, Call: "c", Args: rules.DigestOf([]byte("a")), Status: rules.StatusOK,
		}},
		Consent: []consent.Event{{Seq: 1, Kind: consent.EventUsed, At: at, Request: "q", Call: "c"}},
	}
	leaf, err := journal.Encode(in)
	require.NoError(t, err)
	out, err := journal.Decode(leaf)
	require.NoError(t, err)
	assert.Equal(t, in, out)
	again, err := journal.Encode(out)
	require.NoError(t, err)
	assert.Equal(t, string(leaf), string(again))
}

func TestDecodeRefusesWhatIsNoRecord(t *testing.T) {
	for _, leaf := range []string{"", "[]", `{"rules":[{"kind":"nothing"}]}`, `{"rules":[{"kind":"admitted","args":"zz"}]}`} {
		_, err := journal.Decode([]byte(leaf))
		assert.Error(t, err, leaf)
	}
}

func TestMemoryKeepsItsKeys(t *testing.T) {
	var m journal.Memory
	a, err := m.Key(t.Context(), "consent")
	require.NoError(t, err)
	b, err := m.Key(t.Context(), "consent")
	require.NoError(t, err)
	other, err := m.Key(t.Context(), "audit")
	require.NoError(t, err)
	assert.Len(t, a, 32)
	assert.Equal(t, a, b)
	assert.NotEqual(t, a, other)
}
