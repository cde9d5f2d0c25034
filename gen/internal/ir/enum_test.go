package ir_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen/internal/ir"
)

// constants are the names of the values of an enum, without that of its type.
func constants(t *testing.T, f *dsl.File, field int) []string {
	t.Helper()
	p, err := ir.Build(f)
	require.NoError(t, err)
	typ := p.Tools[0].Input.Fields[field].Type.Base()
	var names []string
	for _, v := range typ.Enum {
		require.Equal(t, typ.Name, v.GoName[:len(typ.Name)])
		names = append(names, v.GoName[len(typ.Name):])
	}
	return names
}

func texts(all ...string) dsl.Schema {
	s := dsl.Schema{Type: dsl.TypeString}
	for _, text := range all {
		s.Enum = append(s.Enum, &dsl.Value{Kind: dsl.ValueString, Text: text})
	}
	return s
}

func TestEnumNames(t *testing.T) {
	for _, c := range []struct{ values, names []string }{
		{[]string{"text", "raw_bytes", "JSON"}, []string{"Text", "RawBytes", "JSON"}},
		{[]string{"AB", "A-B", "A_B", "A B"}, []string{"Ab", "AHyphenB", "AUnderscoreB", "ASpaceB"}},
		{[]string{"a b", "a-b", "a.b", "a/b", "a:b"}, []string{"ASpaceB", "AHyphenB", "ADotB", "ASlashB", "AColonB"}},
		{[]string{"asc", "ASC", "Asc"}, []string{"LowerAsc", "ASC", "Asc"}},
		{[]string{"ASC", "asc"}, []string{"ASC", "LowerAsc"}},
		{[]string{"C", "C++", "C#"}, []string{"C", "CPlusPlus", "CHash"}},
		{[]string{"<", "<=", ">=", "=", "!=", "~"}, []string{"Less", "LessEqual", "GreaterEqual", "Equal", "BangEqual", "Tilde"}},
		{[]string{"1", "-1", "+1", "1.5", "15"}, []string{"1", "Minus1", "Plus1", "1Dot5", "15"}},
		{[]string{"", " ", "-", "_"}, []string{"Empty", "Space", "Hyphen", "Underscore"}},
		{[]string{"2nd", "x", "X-ray", "x1"}, []string{"2nd", "X", "XRay", "X1"}},
		{[]string{"text/plain", "text/*", "50%"}, []string{"TextPlain", "TextStar", "50Percent"}},
		{[]string{"1.0", "16:9", "1/2", "2024-01-31"}, []string{"1Dot0", "16Colon9", "1Slash2", "20240131"}},
		{[]string{"€", "日本", "a\u200db"}, []string{"U20Ac", "日本", "AB"}},
		{[]string{strings.Repeat("ab", 99), strings.Repeat("ab", 98), strings.Repeat("ab", 97)},
			[]string{"Codedbdc7d6b", "Codedaae5c2e", "Code90d678c2"}},
		{[]string{"a b", "a  b", "A_B", "aSpaceB", "ASpaceB", "a spaceB"}, []string{"Codec8687a08", "Code6e12db73", "AUnderscoreB", "Code58946f64", "ASpaceB", "Coded3af0fde"}},
	} {
		assert.Equal(t, c.names, constants(t, declare(property("x", texts(c.values...))), 0), "%q", c.values)
	}
}

// TestEnumNamesStay adds each value to each set of others, at each place: no name that code knows comes to mean
// the value that was added, unless that is spelled so.
func TestEnumNamesStay(t *testing.T) {
	all := []string{"a", "A", "a-", "-a", "a_", "_A", "A.", "a.b", "ab", "Ab", "aB", "a b", "aDotB", "a_dot_b", "LowerA", "lower a"}
	r := rand.New(rand.NewPCG(20, 29))
	for range 300 {
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		n := 1 + r.IntN(len(all)-1)
		values, added := all[:n], all[n]
		before := constants(t, declare(property("x", texts(values...))), 0)
		more := slices.Insert(slices.Clone(values), r.IntN(n+1), added)
		after := constants(t, declare(property("x", texts(more...))), 0)
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(after))), len(after), "%q", after)
		for i, name := range after {
			k := slices.Index(before, name)
			if k < 0 || name == more[i] {
				continue
			}
			require.Equal(t, values[k], more[i], "%q and %q: %s", values, added, name)
		}
	}
}

// Names that users chose come first, wherever they stand.
func TestEnumNamesGiveWay(t *testing.T) {
	inner := dsl.Schema{Type: dsl.TypeObject, Closed: true}
	f := declare(property("mode", texts("text", "fast")), property("mode_text", inner))
	require.Equal(t, []string{"ValueText", "Fast"}, constants(t, f, 0))
}

func TestIntegerEnumNames(t *testing.T) {
	s := dsl.Schema{Type: dsl.TypeInteger, Nullable: true}
	for _, n := range []string{"1", "-1", "1e2", "0"} {
		s.Enum = append(s.Enum, &dsl.Value{Kind: dsl.ValueNumber, Text: n})
	}
	require.Equal(t, []string{"1", "Minus1", "100", "0"}, constants(t, declare(property("level", s)), 0))
}
