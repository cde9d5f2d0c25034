package live_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/live"
	"github.com/ambit-tools/ambit/runtime/internal/redact"
	"github.com/ambit-tools/ambit/runtime/internal/walk"
	"github.com/ambit-tools/ambit/runtime/wire"
)

func TestMain(m *testing.M) { battery.Main(m) }

var began = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

// at returns the instant a number of milliseconds later.
func at(ms int) time.Time { return began.Add(time.Duration(ms) * time.Millisecond) }

// hiding returns the secrets of a text.
func hiding(secret string) *redact.Secrets {
	var s redact.Secrets
	s.Collect(func() wire.Value { return walk.Tokens{{Kind: wire.KindString, Str: secret, Sensitive: true}} })
	return &s
}

// take returns the piece that is taken at an instant.
func take(t *testing.T, o *live.Output, ms int) live.Piece {
	t.Helper()
	p, ok := o.Take(at(ms))
	require.True(t, ok)
	return p
}

// SEMANTICS 2.5.3
func TestPiecesAndEntries(t *testing.T) {
	o := live.New(new(redact.Secrets))
	assert.Zero(t, o.Wait(at(0)), "the first is told at once")
	o.Add(1, 0, 0, "")
	_, ok := o.Take(at(0))
	assert.False(t, ok, "an empty report tells nothing")

	o.Add(1, 1, 4, "abc")
	p := take(t, o, 100)
	assert.Equal(t, live.Piece{
		At: at(100), Attempt: 1, Text: "abc", Counts: runtime.LiveCounts{Bytes: 3, Pieces: 1, Done: 1, Total: 4}, Record: true, Bytes: 3,
	}, p)
	assert.Equal(t, 60*time.Millisecond, o.Wait(at(140)))
	o.Add(1, 2, 4, "de")
	o.Add(2, 0, 0, "f")
	assert.Equal(t, live.Piece{
		At: at(200), Attempt: 2, Offset: 3, Text: "def", Counts: runtime.LiveCounts{Bytes: 6, Pieces: 2, Done: 2, Total: 4},
	}, take(t, o, 200), "reports are one piece, and an entry comes once a second")
	_, ok = o.Take(at(900))
	assert.False(t, ok, "nothing waits")
	o.Add(2, 3, 4, "")
	p = take(t, o, 1100)
	assert.Equal(t, []any{true, int64(3), int64(6)}, []any{p.Record, p.Bytes, p.Offset}, "an entry says what came since the one before")
	_, ok = o.End(at(1200))
	assert.False(t, ok, "all was told and recorded")
	o.Add(2, 0, 0, "g")
	take(t, o, 1300)
	p, ok = o.End(at(1400))
	require.True(t, ok)
	assert.Equal(t, live.Piece{
		At: at(1400), Attempt: 2, Offset: 7, Silent: true, Record: true, Bytes: 1, Counts: runtime.LiveCounts{Bytes: 7, Pieces: 4, Done: 3, Total: 4},
	}, p, "what was told is recorded")
}

// TestEndOfTheText: the end that was held back is told when the attempt ends, unless the text was cut.
// SEMANTICS 2.5.3
func TestEndOfTheText(t *testing.T) {
	o := live.New(hiding("hunter2"))
	o.Add(1, 0, 0, "a hunter")
	assert.Equal(t, "a ", take(t, o, 0).Text)
	p, ok := o.End(at(1))
	require.True(t, ok)
	assert.Equal(t, "hunter", p.Text)

	o = live.New(hiding("hunter2"))
	o.Add(1, 0, 0, strings.Repeat("x", live.MaxText-6)+"hunter2")
	text := take(t, o, 0).Text
	p, ok = o.End(at(1))
	require.True(t, ok)
	assert.NotContains(t, text+p.Text, "h")
	assert.Equal(t, runtime.LiveCounts{Bytes: live.MaxText - 6, Dropped: 7, Pieces: p.Counts.Pieces}, p.Counts)
	o.Add(2, 0, 0, "more")
	assert.EqualValues(t, 11, take(t, o, 200).Counts.Dropped, "the limit is that of all attempts")
}

// TestWithheld: without a stream no text is told, and all of it is counted.
func TestWithheld(t *testing.T) {
	o := live.New(nil)
	o.Add(1, 1, 2, "hunter2")
	p := take(t, o, 0)
	assert.Empty(t, p.Text)
	assert.Equal(t, runtime.LiveCounts{Dropped: 7, Pieces: 1, Done: 1, Total: 2}, p.Counts)
	assert.EqualValues(t, 7, p.Dropped)
}
