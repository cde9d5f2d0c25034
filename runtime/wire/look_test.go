package wire_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// TestLooksAsNode: patterns with look-around, those of zod 4 among them, and properties of emoji match what Node.js 20 with
// the flag u matches: testdata/ecma_looks.jsonl has its verdicts.
func TestLooksAsNode(t *testing.T) {
	lines, err := os.ReadFile("testdata/ecma_looks.jsonl")
	require.NoError(t, err)
	texts := 0
	for line := range bytes.Lines(lines) {
		var c struct {
			Name, Pattern string
			Yes, No       []string
		}
		require.NoError(t, json.Unmarshal(line, &c))
		p, err := wire.CompilePattern(c.Pattern)
		require.NoError(t, err, c.Name)
		for _, s := range c.Yes {
			assert.True(t, p.Match(s), "%s: %s on %q", c.Name, c.Pattern, s)
		}
		for _, s := range c.No {
			assert.False(t, p.Match(s), "%s: %s on %q", c.Name, c.Pattern, s)
		}
		texts += len(c.Yes) + len(c.No)
	}
	require.Greater(t, texts, 1_000)
}

// A part is a pattern that the test matches by definition: the positions at which a match from one position ends.
type part struct {
	source string
	ends   func(text []rune, at int) []int
}

func literalPart(source string, takes func(rune) bool) part {
	return part{source, func(text []rune, at int) []int {
		if at < len(text) && takes(text[at]) {
			return []int{at + 1}
		}
		return nil
	}}
}

func holds(source string, when func(text []rune, at int) bool) part {
	return part{source, func(text []rune, at int) []int {
		if when(text, at) {
			return []int{at}
		}
		return nil
	}}
}

func word(text []rune, at int) bool { return at >= 0 && at < len(text) && text[at] != '\n' }

// then, either, times and looking make patterns of others.
func then(a, b part) part {
	return part{a.source + b.source, func(text []rune, at int) []int {
		var out []int
		for _, end := range a.ends(text, at) {
			out = append(out, b.ends(text, end)...)
		}
		slices.Sort(out)
		return slices.Compact(out)
	}}
}

func either(a, b part) part {
	return part{"(?:" + a.source + "|" + b.source + ")", func(text []rune, at int) []int {
		out := append(a.ends(text, at), b.ends(text, at)...)
		slices.Sort(out)
		return slices.Compact(out)
	}}
}

func times(a part, atLeast, atMost int, operator string) part {
	return part{"(?:" + a.source + ")" + operator, func(text []rune, at int) []int {
		reached, out := []int{at}, []int{}
		for n := 0; n <= atMost && len(reached) > 0; n++ {
			if n >= atLeast {
				out = append(out, reached...)
			}
			var next []int
			for _, from := range reached {
				next = append(next, a.ends(text, from)...)
			}
			slices.Sort(next)
			reached = slices.Compact(next)
		}
		slices.Sort(out)
		return slices.Compact(out)
	}}
}

func looking(a part, prefix string) part {
	behind, not := strings.Contains(prefix, "<"), strings.HasSuffix(prefix, "!")
	return holds(prefix+a.source+")", func(text []rune, at int) bool {
		found := !behind && len(a.ends(text, at)) > 0
		for from := 0; behind && from <= at; from++ {
			found = found || slices.Contains(a.ends(text, from), at)
		}
		return found != not
	})
}

func randomPart(r *rand.Rand, depth int) part {
	if depth == 0 {
		switch r.IntN(8) {
		case 0, 1:
			return literalPart("a", func(c rune) bool { return c == 'a' })
		case 2:
			return literalPart("b", func(c rune) bool { return c == 'b' })
		case 3:
			return literalPart(".", func(c rune) bool { return c != '\n' })
		case 4:
			return literalPart("[^a]", func(c rune) bool { return c != 'a' })
		case 5:
			return holds("^", func(_ []rune, at int) bool { return at == 0 })
		case 6:
			return holds("$", func(text []rune, at int) bool { return at == len(text) })
		}
		return holds(`\b`, func(text []rune, at int) bool { return word(text, at-1) != word(text, at) })
	}
	below := func() part { return randomPart(r, r.IntN(depth)) }
	switch r.IntN(7) {
	case 0, 1:
		return then(below(), below())
	case 2:
		return either(below(), below())
	case 3:
		operator := r.IntN(4)
		return times(below(), []int{0, 1, 0, 2}[operator], []int{9, 9, 1, 3}[operator], []string{"*", "+", "?", "{2,3}"}[operator])
	}
	return looking(below(), []string{"(?=", "(?!", "(?<=", "(?<!"}[r.IntN(4)])
}

// TestLooksByDefinition: random patterns with look-around, in each other, in alternatives and repeated, match the texts of up
// to five characters that they match by definition.
func TestLooksByDefinition(t *testing.T) {
	texts := []string{""}
	for from := 0; len(texts) < 364; from++ {
		for _, c := range []string{"a", "b", "\n"} {
			texts = append(texts, texts[from]+c)
		}
	}
	r := rand.New(rand.NewPCG(29, 23))
	looks, matched, refused := 0, 0, 0
	count := battery.Count(t, 1_500, 10_000)
	for range count {
		p := randomPart(r, 4)
		if strings.Contains(p.source, "(?=") || strings.Contains(p.source, "(?!") || strings.Contains(p.source, "(?<") {
			looks++
		}
		compiled, err := wire.CompilePattern(p.source)
		require.NoError(t, err, p.source)
		for _, s := range texts {
			text := []rune(s)
			want := false
			for at := 0; at <= len(text) && !want; at++ {
				want = len(p.ends(text, at)) > 0
			}
			if want {
				matched++
			} else {
				refused++
			}
			require.Equal(t, want, compiled.Match(s), "%s on %q", p.source, s)
		}
	}
	require.Greater(t, looks, count/4)
	require.Greater(t, min(matched, refused), 30*count)
}

// TestLooksTakeLinearTime: what would take an engine that goes back for ever ends.
func TestLooksTakeLinearTime(t *testing.T) {
	for source, want := range map[string]bool{`^(?=(a+)+$)(?!.*b)(a|aa)+$`: false, `(?<=^(?:a|aa)*)c$`: true, `(?=(?=(?=(a*)*b)))`: false} {
		p, err := wire.CompilePattern(source)
		require.NoError(t, err)
		assert.Equal(t, want, p.Match(strings.Repeat("a", 100_000)+"c"), source)
	}
}
