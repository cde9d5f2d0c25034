package wire_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/wire"
)

func canonicalForm(t testing.TB, text string) string {
	t.Helper()
	v, bad := wire.ParseRaw([]byte(text), wire.Limits{})
	require.Empty(t, bad, text)
	b, err := wire.AppendCanonical(nil, v)
	require.NoError(t, err, text)
	return string(b)
}

func TestCanonicalFormIsThatOfAllEqualValues(t *testing.T) {
	for _, equal := range [][]string{
		{`1`, `1.0`, `1e0`, `10e-1`, `0.1e1`},
		{`0`, `-0`, `0.0`, `-0e5`},
		{`0.5`, `5e-1`, `0.50`},
		{`100`, `1e2`, `1E+2`},
		{`9223372036854775808`, `9223372036854775808.0`, `922337203685477580.8e1`},
		{`"a"`, `"\u0061"`},
		{`{"a":1,"b":{"c":2,"d":[]}}`, ` { "b" : {"d":[], "c":2}, "a": 1.0 } `},
	} {
		for _, other := range equal[1:] {
			assert.Equal(t, canonicalForm(t, equal[0]), canonicalForm(t, other), "%s and %s", equal[0], other)
		}
	}
}

func TestCanonicalFormTellsValuesApart(t *testing.T) {
	texts := []string{
		`null`, `true`, `false`, `0`, `1`, `-1`, `"0"`, `""`, `"null"`, `[]`, `{}`, `[[]]`, `[{}]`, `[null]`, `[0]`,
		`9007199254740992`, `9007199254740993`, `9223372036854775807`, `9223372036854775808`, `9223372036854775809`,
		`-9223372036854775808`, `-9223372036854775809`, `1180591620717411303424`, `1180591620717411303425`,
		`0.1`, `0.10000000000000000001`, `0.2`, `1e300`, `1e301`, `1e-400`, `-0.1`,
		`{"a":1}`, `{"a":"1"}`, `{"a":{"b":1}}`, `{"a":{},"b":1}`, `{"a,b":1}`, `{"":1}`, `{"a":[1,2]}`, `{"a":[2,1]}`, `{"a":[1],"b":2}`,
		`["a","b"]`, `["ab"]`, `["","ab"]`, `["a",["b"]]`, `[["a"],"b"]`, `[["a","b"]]`, `["é"]`, `["e\u0301"]`,
	}
	seen := map[string]string{}
	for _, text := range texts {
		form := canonicalForm(t, text)
		assert.Empty(t, seen[form], "%s has the form of another value", text)
		seen[form] = text
	}
}

// walkOf is a value that is made of tokens.
type walkOf []wire.Token

func (ts walkOf) Walk(w wire.Visitor) {
	for _, t := range ts {
		w.Visit(t)
	}
}

func TestCanonicalFormRefusesWhatIsNoValue(t *testing.T) {
	object, end, name := wire.Token{Kind: wire.KindObject}, wire.Token{Kind: wire.KindEnd}, wire.Token{Kind: wire.KindName, Str: "a"}
	null := wire.Token{Kind: wire.KindNull}
	for i, tokens := range []walkOf{
		{}, {object}, {end}, {name}, {null, null}, {object, name, end}, {object, null, end}, {object, name, null, null, end},
		{object, name, name, null, end}, {{Kind: wire.KindArray}, name, null, end}, {object, name, null, name, null, end},
		{{Kind: wire.KindFloat, Float: math.NaN()}}, {{Kind: wire.KindFloat, Float: math.Inf(1)}}, {{Kind: wire.KindInvalid}},
	} {
		got, err := wire.AppendCanonical([]byte("before"), tokens)
		assert.Error(t, err, "case %d", i)
		assert.Equal(t, "before", string(got))
	}
	_, err := wire.AppendCanonical(nil, wire.Raw(`{"a":1,"a":2}`))
	assert.Error(t, err)
}

func TestCanonicalFormOfTypedNumbersIsThatOfTheirText(t *testing.T) {
	typed := func(k wire.Token) string {
		b, err := wire.AppendCanonical(nil, walkOf{k})
		require.NoError(t, err)
		return string(b)
	}
	assert.Equal(t, canonicalForm(t, "3"), typed(wire.Token{Kind: wire.KindFloat, Float: 3}))
	assert.Equal(t, canonicalForm(t, "0"), typed(wire.Token{Kind: wire.KindFloat, Float: math.Copysign(0, -1)}))
	assert.Equal(t, canonicalForm(t, "0.1"), typed(wire.Token{Kind: wire.KindFloat, Float: 0.1}))
	assert.Equal(t, canonicalForm(t, "1e22"), typed(wire.Token{Kind: wire.KindFloat, Float: 1e22}))
	next := math.Nextafter(0.1, 1)
	assert.NotEqual(t, typed(wire.Token{Kind: wire.KindFloat, Float: 0.1}), typed(wire.Token{Kind: wire.KindFloat, Float: next}))
}

func TestAppendKeepsNumbersOfARawExact(t *testing.T) {
	for text, want := range map[string]string{
		`[1180591620717411303425]`:    `[1180591620717411303425]`,
		`[9223372036854775808000]`:    `[9223372036854775808000]`,
		`[0.10000000000000000001]`:    `[10000000000000000001e-20]`,
		`[-0.5,1e2,2.50,1e22,1e-400]`: `[-0.5,100,2.5,1e+22,1e-400]`,
	} {
		got, bad := wire.Append(nil, wire.Raw(text))
		require.Empty(t, bad)
		assert.Equal(t, want, string(got))
		assert.Equal(t, canonicalForm(t, text), canonicalForm(t, string(got)))
	}
}

// otherForm reads a text by other means: equal values give equal texts.
func otherForm(b []byte) string {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return "?"
	}
	return sprint(v)
}

func sprint(v any) string {
	switch v := v.(type) {
	case json.Number:
		r, _ := new(big.Rat).SetString(string(v))
		return r.RatString()
	case string:
		return strconv.Quote(v)
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = sprint(v[i])
		}
		return "[" + strings.Join(parts, ",") + "]"
	case map[string]any:
		parts := map[string]string{}
		for k, x := range v {
			parts[strconv.Quote(k)] = sprint(x)
		}
		return fmt.Sprint(parts) // sorted
	}
	return fmt.Sprint(v)
}

func FuzzCanonicalForm(f *testing.F) {
	for _, pair := range [][2]string{
		{`{"a":1,"b":2}`, `{"b":2.0,"a":1e0}`}, {`[1,[2]]`, `[[1],2]`}, {`9007199254740993`, `9007199254740992`},
		{`"a"`, `["a"]`}, {`1e-400`, `0`}, {`1180591620717411303424`, `1180591620717411303425`},
	} {
		f.Add([]byte(pair[0]), []byte(pair[1]))
	}
	limits := wire.Limits{Number: 12} // keeps the reference's fractions small
	f.Fuzz(func(t *testing.T, a, b []byte) {
		x, badX := wire.ParseRaw(a, limits)
		y, badY := wire.ParseRaw(b, limits)
		if badX != nil || badY != nil || hugeExponent(a) || hugeExponent(b) {
			return
		}
		formX, errX := wire.AppendCanonical(nil, x)
		formY, errY := wire.AppendCanonical(nil, y)
		if errX != nil || errY != nil {
			t.Fatal(errX, errY)
		}
		if same := otherForm(a) == otherForm(b); same != bytes.Equal(formX, formY) {
			t.Fatalf("%q and %q: equal %v, forms %q and %q", a, b, same, formX, formY)
		}
		if n := min(len(formX), len(formY)); !bytes.Equal(formX, formY) && bytes.Equal(formX[:n], formY[:n]) {
			t.Fatalf("%q and %q: one form begins with the other", a, b)
		}
	})
}

// hugeExponent spares the reference from computing with numbers of megabytes.
func hugeExponent(b []byte) bool {
	for i, c := range b {
		if c|0x20 == 'e' && i+4 < len(b) && strings.Trim(string(b[i+1:i+5]), "+-0123456789") == "" {
			return true
		}
	}
	return false
}

func TestCanonicalFormOfShuffledMembers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		names := r.Perm(1 + r.IntN(12))
		parts := make([]string, len(names))
		for i, n := range names {
			parts[i] = fmt.Sprintf(`"%d":{"x":%d,"a":[%d]}`, n, n*7, n)
		}
		first := canonicalForm(t, "{"+strings.Join(parts, ",")+"}")
		r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		assert.Equal(t, first, canonicalForm(t, "{"+strings.Join(parts, ",")+"}"))
	}
}

func BenchmarkCanonicalForm(b *testing.B) {
	in, bad := wire.Decode[readInput](benchInput, wire.Limits{}, &readInputRule)
	require.Empty(b, bad)
	dst := make([]byte, 0, 256)
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if dst, err = wire.AppendCanonical(dst[:0], in); err != nil {
			b.Fatal(err)
		}
	}
}
