package redact

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// streamOf returns a stream without some secrets.
func streamOf(secrets ...string) *Stream {
	var s Secrets
	for _, text := range secrets {
		s.Collect(func() wire.Value { return secret(text) })
	}
	return s.Stream()
}

// TestStreamOfSplitSecrets splits texts at every two places: no piece, nor two in a row, has the secret.
// SEMANTICS 2.5.4
func TestStreamOfSplitSecrets(t *testing.T) {
	for name, row := range map[string]struct{ text, want string }{
		"plain":      {"a hunter2 b", "a (sensitive) b"},
		"twice":      {"hunter2hunter2", "(sensitive)"},
		"overlap":    {"xhunter2unter2x", "x(sensitive)unter2x"},
		"longer":     {"a hunter22 b", "a (sensitive) b"},
		"quoted":     {`{"p":"say \"hi\"\n"}`, `{"p":"(sensitive)"}`},
		"escaped":    {`p\u00fcp\u00fc`, "(sensitive)"},
		"characters": {"ä püpü ö", "ä (sensitive) ö"},
		"half":       {"a hunter", "a hunter"},
	} {
		t.Run(name, func(t *testing.T) {
			for i := range len(row.text) + 1 {
				for k := i; k <= len(row.text); k++ {
					s := streamOf("hunter2", "hunter22", "say \"hi\"\n", "püpü")
					var got strings.Builder
					for _, part := range []string{row.text[:i], row.text[i:k], row.text[k:]} {
						s.Write(part)
						got.WriteString(s.Take())
					}
					got.WriteString(s.Rest())
					assert.Equal(t, row.want, got.String(), "%d %d", i, k)
				}
			}
		})
	}
}

// TestStreamHoldsBack what may be the beginning of a secret, and no more.
func TestStreamHoldsBack(t *testing.T) {
	s := streamOf("hunter2")
	s.Write("0123456789")
	assert.Equal(t, "0123", s.Take())
	assert.Empty(t, s.Take())
	assert.Equal(t, 6, s.Discard())
	assert.Empty(t, s.Rest())

	s = streamOf()
	s.Write("a\xc3")
	assert.Equal(t, "a", s.Take(), "half of a character waits for the rest")
	s.Write("\xbc\xff")
	assert.Equal(t, "ü\uFFFD", s.Take())
}

// TestStreamOfShortSecrets: what is left of a text could tell a short one.
func TestStreamOfShortSecrets(t *testing.T) {
	s := streamOf("7")
	s.Write("no digit, ")
	assert.Equal(t, "no digit, ", s.Take())
	s.Write("and 7")
	assert.Equal(t, withheld, s.Take())
	s = streamOf("ab")
	s.Write("xa")
	assert.Equal(t, "x", s.Take())
	s.Write("by")
	assert.Equal(t, withheld, s.Take())
	assert.Equal(t, "y", s.Rest())
}

// TestEnds: wherever a text is cut, no part of a secret is next to the gap.
func TestEnds(t *testing.T) {
	text := strings.Repeat(".", 8) + "hunter2" + strings.Repeat(".", 8)
	for i := range len(text) + 1 {
		for k := i; k <= len(text); k++ {
			first, last := streamOf("hunter2").Ends(text[:i], text[k:])
			assert.Empty(t, strings.Trim(strings.ReplaceAll(first+last, "(sensitive)", ""), "."), "%d %d", i, k)
		}
	}
	first, last := streamOf("hunter2").Ends("a hunter2 and more", "more of hunter2 b")
	assert.Equal(t, "a (sensitive) an", first)
	assert.Equal(t, "f (sensitive) b", last)
	first, last = streamOf().Ends("ab\xc3", "\xbccd")
	assert.Equal(t, "ab,cd", first+","+last)
}

// TestGap: wherever bytes are missing, and however what follows comes in parts, no part of a secret is next to
// the gap, and what is complete behind it is told.
// SEMANTICS 2.5.8
func TestGap(t *testing.T) {
	text := strings.Repeat(".", 8) + "hunter2hunter2" + strings.Repeat(".", 8) + "2hunt" + strings.Repeat(".", 20)
	for i := range len(text) + 1 {
		for k := i + 1; k <= len(text); k++ {
			for size := 1; size < 20; size += 3 {
				s := streamOf("hunter2", "2hunt")
				s.Write(text[:i])
				told := s.Take()
				s.Gap()
				for part := range slices.Chunk([]byte(text[k:]), size) {
					s.Write(string(part))
					told += s.Take()
				}
				told += s.Rest()
				require.Empty(t, strings.Trim(strings.ReplaceAll(told, "(sensitive)", ""), "."), "%d %d %d: %s", i, k, size, told)
			}
		}
	}
	s := streamOf("hunter2")
	s.Write("a gap")
	assert.Empty(t, s.Take())
	assert.Equal(t, 5, s.Gap())
	s.Write("23456 is behind it")
	assert.Equal(t, "is beh", s.Take())
	assert.Equal(t, 6, s.Held())
}
