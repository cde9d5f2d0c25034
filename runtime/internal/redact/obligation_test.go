package redact_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/internal/jsonedit"
	"github.com/ambit-tools/ambit/runtime/internal/redact"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// place says that an output has /a, may have /b, and cannot have anything else.
func place(p jsonedit.Pointer) redact.Place {
	switch p.String() {
	case "/a":
		return redact.PlaceOpen
	case "/b":
		return redact.PlaceDeclared
	}
	return redact.PlaceNone
}

// TestMask masks the members that are there, and withholds an output that lacks one that it must have.
func TestMask(t *testing.T) {
	out := wire.Raw(`{"a":"x","c":1}`)
	got, err := redact.Mask(out, out, []byte(`{"pointers":["/a","/b"]}`), place)
	require.NoError(t, err)
	assert.NotContains(t, string(got), "x")
	assert.Contains(t, string(got), `"c":1`)
	again, err := redact.Mask(out, got, []byte(`{"pointers":["/c"]}`), place)
	require.NoError(t, err)
	assert.NotContains(t, string(again), "1")
	assert.NotContains(t, string(again), "x", "what was masked before stays masked")

	for _, args := range []string{`{"pointers":["/d"]}`, `{"pointers":[]}`, `{}`, `{"pointers":["a"]}`} {
		got, err = redact.Mask(out, out, []byte(args), place)
		require.Error(t, err, args)
		assert.NotContains(t, string(got), `"c":1`, args)
	}
}

// TestCheck refuses args that are invalid, and places that the output of the tool cannot have.
func TestCheck(t *testing.T) {
	require.NoError(t, redact.Check("put", []byte(`{"pointers":["/a","/b"]}`), place))
	require.EqualError(t, redact.Check("put", []byte(`{"pointers":["/a","/d"]}`), place), `the output of "put" has nothing at "/d": use pointers that its schema declares`)
	for _, args := range []string{`{"pointers":[]}`, `{}`, `{"pointers":["a"]}`, `{"pointers":["/a"],"more":1}`, ``} {
		require.Error(t, redact.Check("put", []byte(args), place), args)
	}
}

// A deep is a value that is nested without end.
type deep struct{}

func (deep) Walk(v wire.Visitor) {
	for {
		v.Visit(wire.Token{Kind: wire.KindArray})
	}
}

// A broken is a value whose code panics.
type broken struct{}

func (broken) Walk(wire.Visitor) { panic("walk") }

// TestMeasure stops the walk of a value that is too large or too deep, and of no other.
func TestMeasure(t *testing.T) {
	text := wire.Raw(`{"a":["` + strings.Repeat("b", 100) + `",null]}`)
	require.NoError(t, redact.Measure(text, int64(len(text)), 2))
	require.ErrorContains(t, redact.Measure(text, 50, 2), "too large")
	require.ErrorContains(t, redact.Measure(text, 1000, 1), "nested too deeply")
	require.ErrorContains(t, redact.Measure(deep{}, 1<<20, 128), "nested too deeply")
	assert.Panics(t, func() { _ = redact.Measure(broken{}, 100, 100) })
}
