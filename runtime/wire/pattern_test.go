package wire_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// patterns are expressions of ECMA-262 with what they match and what not.
var patterns = []struct {
	source  string
	lowered bool
	yes, no []string
}{
	{`^[a-zA-Z0-9/_.-]+$`, true, []string{"a", "docs/x_1.md"}, []string{"", "a b", "ä", "a\n"}},
	{`^[a-z][a-z0-9_]{0,63}$`, true, []string{"a", "a" + strings.Repeat("9", 63)}, []string{"", "9", "A", "a" + strings.Repeat("9", 64)}},
	{`^\d{4}-\d{2}-\d{2}$`, true, []string{"2026-11-20"}, []string{"2026-11-2", "2026-11-200", "২০২৬-11-20", "2026-11-20\n"}},
	{`^v?[0-9]+$`, true, []string{"1", "v1"}, []string{"v", "vv1"}},
	{`^#[0-9a-fA-F]{6}$`, true, []string{"#09afAF"}, []string{"#09afA", "09afAF0"}},
	{`^(?:ab)+$`, false, []string{"ab", "abab"}, []string{"", "aba"}},
	{`^a*b*$`, true, []string{"", "a", "b", "aab"}, []string{"ba", "c"}},
	{`^a?b?a$`, false, []string{"a", "aa", "aba", "ba"}, []string{"", "ab"}},
	{`^a*a$`, false, []string{"a", "aaa"}, []string{"", "b"}},
	{`^a{2}a{3,}$`, true, []string{"aaaaa", "aaaaaa"}, []string{"aaaa"}},
	{`^a{0}b$`, true, []string{"b"}, []string{"ab"}},
	{`^(?<year>[0-9]{4})$`, true, []string{"2026"}, []string{"26"}},
	{`^(abc)$`, true, []string{"abc"}, []string{"ab", "abcc"}},
	{`^a|b$`, false, []string{"ax", "xb"}, []string{"x"}},
	{`^(a|b)$`, true, []string{"a", "b"}, []string{"ab"}},
	{`a`, false, []string{"a", "xax"}, []string{"", "b"}},
	{`^$`, false, []string{""}, []string{"a", "\n"}},
	{`^[^/]+$`, false, []string{"a", "ä"}, []string{"", "a/b"}},
	{`^.$`, false, []string{"a", "ä", "𝄞"}, []string{"", "\n", "\r", "\u2028", "\u2029", "ab"}},
	{`a$`, false, []string{"a", "ba"}, []string{"a\n"}},
	{`^\s$`, false, []string{" ", "\t", "\v", "\u00a0", "\ufeff", "\u2029", "\u3000"}, []string{"a", "\u200b", "\u180e"}},
	{`^\S$`, false, []string{"a", "\u200b"}, []string{" ", "\u00a0", "\ufeff", "\u2003"}},
	{`^[\s]$`, false, []string{"\u00a0"}, []string{"s"}},
	{`^[\S\n]$`, false, []string{"a", "\n"}, []string{" ", "\u2028"}},
	{`^\w+$`, true, []string{"aZ_9"}, []string{"é", "-"}},
	{`^\W$`, false, []string{"é", "-"}, []string{"a", "_"}},
	{`^[\w-]+$`, true, []string{"a-b"}, []string{"a.b"}},
	{`^[a\-z]+$`, true, []string{"a-z"}, []string{"b"}},
	{`^[+--]+$`, true, []string{"+,-"}, []string{"."}},
	{`^\/-\.$`, true, []string{"/-."}, []string{"/-x"}},
	{`^[\w\-.]+$`, true, []string{"a-b.c"}, []string{"a,b", "a/b"}},
	{`^[-\d]+[\d-]+$`, false, []string{"-1", "1-"}, []string{"a"}},
	{`^[[:alph]+$`, true, []string{"a[", ":"}, []string{"b"}},
	{`^a\]\}\{$`, true, []string{"a]}{"}, []string{"a"}},
	{`^a{01,002}$`, true, []string{"a", "aa"}, []string{"", "aaa", "a{01,002}"}},
	{`^\cA\cz$`, true, []string{"\x01\x1a"}, []string{"cA"}},
	{`^\x41\u0042\u{43}$`, true, []string{"ABC"}, []string{"abc"}},
	{`^\u{1D11E}\ud834\udd1e$`, false, []string{"𝄞𝄞"}, []string{"𝄞"}},
	{`^\0$`, true, []string{"\x00"}, []string{"0"}},
	{`^\t\n\v\f\r$`, true, []string{"\t\n\v\f\r"}, []string{"tnvfr"}},
	{`^[\b]$`, true, []string{"\b"}, []string{"b"}},
	{`\bfoo\b`, false, []string{"a foo."}, []string{"afoo"}},
	{`^\p{Letter}+$`, false, []string{"aä", "中"}, []string{"1", ""}},
	{`^\p{L}\P{L}$`, false, []string{"a1"}, []string{"1a"}},
	{`^[\p{Lu}\p{Decimal_Number}_]+$`, false, []string{"Ä১_"}, []string{"ä"}},
	{`^\p{digit}+$`, false, []string{"১২"}, []string{"x"}},
	{`^\p{Script=Greek}+$`, false, []string{"αβ"}, []string{"ab"}},
	{`^\p{gc=Nd}\p{General_Category=Lu}$`, false, []string{"1A"}, []string{"A1"}},
	{`^\p{ASCII}+$`, true, []string{"a~\x00"}, []string{"ä"}},
	{`^\p{Any}$`, false, []string{"ä", "\n"}, []string{""}},
	{`^[^]$`, false, []string{"\n", "ä"}, []string{""}},
	{`^[a&&b]+$`, true, []string{"a&b"}, []string{"c"}},
	{`^[\]\\^]+$`, true, []string{`]\^`}, []string{"a"}},
	{`^a{2,3}?$`, true, []string{"aa", "aaa"}, []string{"a", "aaaa"}},
	{`^(a+)+$`, false, []string{"aaa"}, []string{"", strings.Repeat("a", 1000) + "b"}},
	{`^ä+$`, false, []string{"ää"}, []string{"a"}},
}

func TestPatterns(t *testing.T) {
	for _, c := range patterns {
		p, err := wire.CompilePattern(c.source)
		require.NoError(t, err, c.source)
		assert.Equal(t, c.source, p.Source)
		assert.Equal(t, c.lowered, p.Spans != nil, "%s: spans", c.source)
		assert.Equal(t, c.lowered, p.RE2 == "", "%s: RE2", c.source)
		for _, s := range c.yes {
			assert.True(t, p.Match(s), "%s on %q", c.source, s)
		}
		for _, s := range c.no {
			assert.False(t, p.Match(s), "%s on %q", c.source, s)
		}
	}
}

func TestPatternsRefused(t *testing.T) {
	for source, want := range map[string]string{
		`a(?=b`:                      `missing closing )`,
		`a(?=b))`:                    `unexpected )`,
		`(?=a)*`:                     `repetition operator at character 6 repeats a look-around`,
		`(?<!a){2}`:                  `repetition operator at character 7 repeats a look-around`,
		`(?!(a)\1)`:                  `back reference \1 at character 7`,
		`(?=[z-a])`:                  `range at character 5 is out of order`,
		`(?=a{1,2000})`:              `{1,2000} repeats more than 1000 times`,
		strings.Repeat(`(?=a)`, 101): `more than 100 look-arounds`,
		strings.Repeat(`(?=`, 101) + strings.Repeat(`)`, 101): `more than 100 look-arounds`,
		`(a)\1`:          `back reference \1 at character 4 is not supported`,
		`(?<x>a)\k<x>`:   `back reference \k at character 8`,
		`(?i)a`:          `group modifier at character 1 is not supported`,
		`(?P<x>a)`:       `group modifier at character 1`,
		`(?<>a)`:         `group name at character 1 is missing`,
		`(a`:             `missing closing )`,
		`a)`:             `unexpected )`,
		`[a`:             `class at character 1 is not closed`,
		`[]`:             `class at character 1 is empty`,
		`[z-a]`:          `range at character 2 is out of order`,
		`a{1,2000}`:      `{1,2000} repeats more than 1000 times: use maxLength`,
		`a{,2}`:          `brace at character 2 begins no {n}`,
		`a{`:             `brace at character 2`,
		`^{a}$`:          `brace at character 2 begins no {n}, {n,} or {n,m}: write \{`,
		`a{2,1}`:         `brace at character 2 has the larger bound first`,
		`\`:              `escape at character 1 has no character`,
		`\y`:             `escape at character 1 is none of ECMA-262: \y`,
		`\A`:             `none of ECMA-262: \A`,
		`\z`:             `none of ECMA-262: \z`,
		`\Qa\E`:          `none of ECMA-262: \Q`,
		`\01`:            `none of ECMA-262: \0`,
		`[\1]`:           `none of ECMA-262: \1`,
		`\x4`:            `none of ECMA-262: \x`,
		`\u12`:           `escape at character 1 is not \uXXXX`,
		`\u{110000}`:     `is no Unicode character`,
		`\u{d800}`:       `is no Unicode character`,
		`\u{}`:           `is not \u{X...}`,
		`\ud800`:         `half of a surrogate pair`,
		`\ud800\u0041`:   `half of a surrogate pair`,
		`\pL`:            `property at character 3 is not closed`,
		`\p{Alphabetic}`: `\p{Alphabetic}; general categories, Script=Name and properties such as White_Space and Emoji are`,
		`\p{Greek}`:      `is not supported`,
		`**`:             `missing argument to repetition operator`,
		`a**`:            `invalid nested repetition operator`,
		"\xff":           `is not UTF-8`,
	} {
		_, err := wire.CompilePattern(source)
		if assert.Error(t, err, source) {
			assert.Contains(t, err.Error(), want, source)
		}
	}
}

// TestSpansAgainstRE2 makes random patterns of the kind that is lowered and
// random strings of their characters.
func TestSpansAgainstRE2(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "b", "ab", "[ab]", "[bc]", "[a-c]", "c", `\d`, "[^c]", "(?:a|b)", "(abc)"}
	counts := []string{"", "", "*", "+", "?", "{2}", "{0,2}", "{1,3}", "{2,}", "+?", "{0}"}
	lowered, patterns := 0, battery.Count(t, 1000, 4000)
	for range patterns {
		source := "^"
		for range 1 + rnd.IntN(4) {
			source += pieces[rnd.IntN(len(pieces))] + counts[rnd.IntN(len(counts))]
		}
		source += "$"
		p, err := wire.CompilePattern(source)
		require.NoError(t, err, source)
		if p.Spans == nil {
			continue
		}
		lowered++
		for range 40 {
			var s []byte
			for range rnd.IntN(8) {
				s = append(s, "aaabbc1\n"[rnd.IntN(8)])
			}
			spans, re2 := wire.MatchBoth(source, string(s))
			require.Equal(t, re2, spans, "%s on %q", source, s)
		}
	}
	assert.Greater(t, lowered, patterns/8)
}

// TestPatternsThatECMARefuses holds that a pattern is refused which Go takes and ECMA-262 does not, since those who read the
// published schema refuse it.
func TestPatternsThatECMARefuses(t *testing.T) {
	for src, want := range map[string]string{
		"^*a": "repeats an assertion", "a|b{2}$?": "repeats an assertion", `\b+`: "repeats an assertion", `a\B{2}`: "repeats an assertion", "(?:^)$*": "repeats an assertion",
		"(?<n>a)(?<n>b)": "is that of another group", "(?<n>a)(?=(?<n>b))": "is that of another group", "(?<1n>a)": "is no name", "(?<a-b>c)": "is no name",
	} {
		_, err := wire.CompilePattern(src)
		require.ErrorContains(t, err, want, src)
		_, ok := wire.RespellPattern(src)
		assert.False(t, ok, src)
	}
	for _, src := range []string{"(?:^)*a", "(?<n>a)(?<m>b)", "(?<$né_1>a)", `\^*a`, "[$^]*", "^a$"} {
		_, err := wire.CompilePattern(src)
		require.NoError(t, err, src)
	}
}

// TestPatternsOfTheUFlag holds that a pattern which ECMA-262 takes without the flag u alone is refused, and how it is written
// with it; none where others than ECMA-262 read it otherwise. What ECMA-262 takes was compared with a JavaScript engine.
func TestPatternsOfTheUFlag(t *testing.T) {
	for _, c := range []struct{ src, fault, spelling string }{
		{`^a}$`, "} at character 3 closes nothing: write \\} for the character", `^a\}$`},
		{`a]`, "] at character 2 closes nothing: write \\] for the character", `a\]`},
		{`^{.*}$`, "brace at character 2", `^\{.*\}$`},
		{`a{}`, "brace at character 2", `a\{\}`},
		{`a{x,1}`, "brace at character 2", `a\{x,1\}`},
		{`[[:alpha:]]`, "] at character 11", `[[:alpha:]\]`},
		{`^\-$`, `escape at character 2 is none of ECMA-262: \-`, `^-$`},
		{`\_\#\@\"\ \&\~\=\<\:\,\;\!\%\'` + "\\`", `none of ECMA-262: \_`, `_#@" &~=<:,;!%'` + "`"},
		{`[\_\-\#]`, `none of ECMA-262: \_`, `[_\-#]`},
		{`(?=\-)`, `none of ECMA-262: \-`, `(?=-)`},
		{`^[\w-.]+$`, `range at character 3 has a set of characters as its end: write \- for the hyphen`, `^[\w\-.]+$`},
		{`[a-\d]`, `range at character 2 has a set`, `[a\-\d]`},
		{`[a-\d-z]`, `range at character 2 has a set`, `[a\-\d\-z]`},
		{`[\d-a-z]`, `range at character 2 has a set`, `[\d\-a-z]`},
		{`[\d--a]`, `range at character 2 has a set`, `[\d\--a]`},
		{`[--\d]`, `range at character 2 has a set`, `[-\-\d]`},
		{`[\s-\w]`, `range at character 2 has a set`, `[\s\-\w]`},
		{`[\p{L}-_]`, `range at character 2 has a set`, `[\p{L}\-_]`},
		{`\01\08\0123`, `none of ECMA-262: \0 before a digit: write \x01`, `\x01\x008\x0a3`},
		{`(?=a)*b`, "repeats a look-around", `(?:(?=a))*b`},
		{`(?!(?=\-){2}_)+}`, `none of ECMA-262: \-`, `(?:(?!(?:(?=-)){2}_))+\}`},
		{`a{,2}`, "brace at character 2", ""},
		{`\c1`, `none of ECMA-262: \c`, ""},
		{`[\c]`, `none of ECMA-262: \c`, ""},
		{`\1`, "back reference", ""},
		{`[\1]`, `none of ECMA-262: \1`, ""},
		{`\x4`, `none of ECMA-262: \x`, ""},
		{`\A\-`, `none of ECMA-262: \A`, ""},
		{`(?<=a)*`, "repeats a look-around", ""},
		{`\-(`, `none of ECMA-262: \-`, ""},
		{`\ä`, `none of ECMA-262: \ä`, ""},
		{"\\-\xff", "is not UTF-8", ""},
	} {
		_, err := wire.CompilePattern(c.src)
		require.ErrorContains(t, err, c.fault, c.src)
		out, ok := wire.RespellPattern(c.src)
		require.Equal(t, c.spelling != "", ok, c.src)
		require.Equal(t, c.spelling, out, c.src)
	}
}
