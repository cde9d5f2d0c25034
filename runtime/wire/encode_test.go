package wire_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/wire"
)

func sample() *everything {
	return &everything{
		Name: "n", Colour: "green", Ratio: 0.25, Owner: wire.NonNull("o"),
		Note:    wire.Opt[wire.Null[string]]{Set: true},
		Tags:    wire.Some([]string{"b", "a"}),
		Point:   wire.Some(point{V0: -1, V1: true}),
		Labels:  wire.Some(map[string]int64{"b": 2, "a": 4}),
		Target:  wire.Some[target](&pageTarget{Number: 7}),
		Tree:    wire.Some(&tree{Value: 1, Children: wire.Some([]tree{{Value: 2}}), Next: wire.Some(&tree{Value: 3})}),
		Any:     wire.Some(wire.Raw(` {"z": [1.0, 1.5, 1e2, null], "a": "\u0041"} `)),
		Secret:  wire.Some("topsecret"),
		Vault:   wire.Some(vault{Pin: 1234, Codes: []string{"xx"}}),
		Retries: 1, Limits: limits{Low: 1, High: 2},
		Extra: map[string]wire.Raw{"y": wire.Raw("2"), "x": wire.Raw("[]")},
	}
}

const sampleJSON = `{"name":"n","colour":"green","ratio":0.25,"owner":"o","note":null,"tags":["b","a"],"point":[-1,true],"labels":{"a":4,"b":2},` +
	`"target":{"kind":"page","number":7},"tree":{"value":1,"children":[{"value":2}],"next":{"value":3}},"any":{"z":[1,1.5,100,null],"a":"A"},` +
	`"secret":"topsecret","vault":{"pin":1234,"codes":["xx"]},"retries":1,"mode":null,"limits":{"low":1,"high":2},"x":[],"y":2}`

func TestAppend(t *testing.T) {
	out, bad := wire.Append([]byte("x"), sample())
	require.Empty(t, bad)
	assert.Equal(t, "x"+sampleJSON, string(out))
	v, bad := wire.Decode[everything](out[1:], wire.Limits{}, &everythingRule)
	require.Empty(t, bad)
	want := sample()
	want.Any.V = wire.Raw(`{"z":[1,1.5,100,null],"a":"A"}`)
	assert.Equal(t, want, v)
}

func TestAppendViolations(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(v *everything)
		want  []string
	}{
		"string": {func(v *everything) { v.Name = "" }, []string{"/name: minLength: want at least 1 character, have 0"}},
		"enum":   {func(v *everything) { v.Colour = "blue" }, []string{`/colour: enum: want one of "red", "green", have "blue"`}},
		"zero enum and missing target": {func(v *everything) { v.Colour, v.Target.V = "", nil }, []string{
			`/colour: enum: want one of "red", "green", have ""`, `/target: type: want object, have null`}},
		"NaN": {func(v *everything) { v.Ratio = math.NaN() }, []string{"/ratio: type: want a finite number, have NaN"}},
		"Inf": {func(v *everything) { v.Ratio = math.Inf(-1) }, []string{"/ratio: type: want a finite number, have -Inf"}},
		"utf8": {func(v *everything) { v.Mode = wire.NonNull("a\xff") }, []string{
			`/mode: utf8: want a string in UTF-8, have "a\xff"`}},
		"utf8 in a name": {func(v *everything) { v.Labels.V = map[string]int64{"a\xff": 2} }, []string{
			`/labels: utf8: want a string in UTF-8, have "a\xff"`}},
		"counts": {func(v *everything) {
			v.Tags.V = []string{"a", "b", "a", "A"}
			v.Labels.V["c"] = 3
		}, []string{`/tags/3: pattern: want a match of ^[a-z]+$, have "A"`, "/tags: maxItems: want at most 3 items, have 4",
			"/tags: uniqueItems: want no two equal items, have equal items 0 and 2",
			"/labels/c: multipleOf: want a multiple of 2, have 3", "/labels: maxProperties: want at most 2 members, have 3"}},
		"nil slice":   {func(v *everything) { v.Tags.V = nil }, []string{"/tags: minItems: want at least 1 item, have 0"}},
		"nil pointer": {func(v *everything) { v.Tree.V = nil }, []string{"/tree: type: want object, have null"}},
		"deep": {func(v *everything) { v.Tree.V.Children.V[0].Next = wire.Some[*tree](nil) }, []string{
			"/tree/children/0/next: type: want object, have null"}},
		"empty raw": {func(v *everything) { v.Any.V = nil }, []string{
			"/any: json: want one strict JSON value, have (root): json: want a value, have the end of the text"}},
		"raw that is not strict": {func(v *everything) { v.Extra["x"] = wire.Raw(`{"a":1,"a":2}`) }, []string{
			`/x: json: want one strict JSON value, have /a: duplicate: want every member once, have "a" again`}},
		"extra with a declared name": {func(v *everything) { v.Extra["name"] = wire.Raw(`1`) }, []string{
			`/name: duplicate: want every member once, have "name" again`}},
		"sensitive": {func(v *everything) {
			v.Secret.V = "short"
			v.Vault.V = vault{Pin: 1, Codes: []string{"x", "y\xff", "z"}}
		}, []string{"/secret: minLength: want at least 8 characters, have (sensitive)", "/vault/pin: minimum: want at least 1000, have (sensitive)",
			"/vault/codes/0: minLength: want at least 2 characters, have (sensitive)", "/vault/codes/1: utf8: want a string in UTF-8, have (sensitive)",
			"/vault/codes/2: minLength: want at least 2 characters, have (sensitive)", "/vault/codes: maxItems: want at most 2 items, have (sensitive)"}},
	} {
		t.Run(name, func(t *testing.T) {
			v := sample()
			c.spoil(v)
			out, bad := wire.Append([]byte("kept"), v)
			assert.Equal(t, c.want, lines(bad))
			assert.Equal(t, "kept", string(out))
			_, bad = wire.Append(nil, sample())
			assert.Empty(t, bad, "the next one is not affected")
		})
	}
}

type text string

func (v *text) Walk(w wire.Visitor) { wire.WalkEnum(w, v, nil) }

type number float64

func (v *number) Walk(w wire.Visitor) { wire.WalkFloat(w, (*float64)(v), nil) }

func TestAppendText(t *testing.T) {
	for in, want := range map[string]string{
		"":                              `""`,
		"<a href='x'>&</a>":             `"<a href='x'>&</a>"`,
		"\"\\/\b\f\n\r\t\x00\x1f\x7f":   `"\"\\/\u0008\u000c\n\r\t\u0000\u001f` + "\x7f" + `"`,
		"ä\u2028𝄞\ufffd":                "\"ä\u2028𝄞\ufffd\"",
		strings.Repeat("12345678\n", 3): `"12345678\n12345678\n12345678\n"`,
	} {
		v := text(in)
		out, bad := wire.Append(nil, &v)
		assert.Empty(t, bad)
		assert.Equal(t, want, string(out))
	}
	v := number(math.Inf(1))
	_, bad := wire.Append(nil, &v)
	assert.Equal(t, []string{"(root): type: want a finite number, have +Inf"}, lines(bad))
}

func TestAppendNumbers(t *testing.T) {
	for in, want := range map[float64]string{
		0: "0", 1: "1", -1.5: "-1.5", 0.1: "0.1", 1e20: "100000000000000000000", 1e21: "1e+21", 1e-6: "0.000001", 1e-7: "1e-7", -2.5e-9: "-2.5e-9", 1e-10: "1e-10", 1e100: "1e+100",
		math.MaxFloat64: "1.7976931348623157e+308", math.SmallestNonzeroFloat64: "5e-324", 1 << 53: "9007199254740992",
	} {
		v := number(in)
		out, bad := wire.Append(nil, &v)
		assert.Empty(t, bad)
		assert.Equal(t, want, string(out))
	}
}

type numbers []float64

func (v *numbers) Walk(w wire.Visitor) {
	wire.WalkArray(w, (*[]float64)(v), &wire.ArrayRule{Unique: true}, wire.WalkFloat, nil)
}

// TestAppendUniqueOfNoJSON shows that items without a JSON form do not disturb the comparison.
func TestAppendUniqueOfNoJSON(t *testing.T) {
	v := numbers{1, math.NaN(), math.Inf(-1), 1}
	_, bad := wire.Append(nil, &v)
	assert.Equal(t, []string{"/1: type: want a finite number, have NaN", "/2: type: want a finite number, have -Inf"}, lines(bad))
	v = numbers{1, 2, 1}
	_, bad = wire.Append(nil, &v)
	assert.Equal(t, []string{"(root): uniqueItems: want no two equal items, have equal items 0 and 2"}, lines(bad))
}

// tokens writes down a walk.
type tokens []string

func (s *tokens) Visit(t wire.Token) {
	names := []string{"invalid", "object", "array", "end", "name", "string", "int", "float", "bool", "null"}
	line := names[t.Kind]
	switch t.Kind {
	case wire.KindObject, wire.KindArray, wire.KindInt:
		line += fmt.Sprint(" ", t.Int)
	case wire.KindName, wire.KindString, wire.KindInvalid:
		line += " " + t.Str
	case wire.KindFloat:
		line += fmt.Sprint(" ", t.Float)
	case wire.KindBool:
		line += fmt.Sprint(" ", t.Bool)
	}
	if t.Sensitive {
		line += " sensitive"
	}
	if t.Rule != nil {
		line += fmt.Sprintf(" %T", t.Rule)
	}
	*s = append(*s, line)
}

const sampleWalk = `object -1 *wire.ObjectRule
name name
string n *wire.StringRule
name colour
string green *wire.StringRule
name ratio
float 0.25 *wire.NumberRule
name owner
string o *wire.StringRule
name note
null
name tags
array 2 *wire.ArrayRule
string b *wire.StringRule
string a *wire.StringRule
end
name point
array 2 *wire.ArrayRule
int -1
bool true
end
name labels
object 2 *wire.ObjectRule
name a
int 4 *wire.IntRule
name b
int 2 *wire.IntRule
end
name target
object -1 *wire.ObjectRule
name kind
string page *wire.StringRule
name number
int 7
end
name tree
object -1 *wire.ObjectRule
name value
int 1
name children
array 1
object -1 *wire.ObjectRule
name value
int 2
end
end
name next
object -1 *wire.ObjectRule
name value
int 3
end
end
name any
object -1
name z
array -1
int 1
float 1.5
int 100
null
end
name a
string A
end
name secret
string topsecret sensitive *wire.StringRule
name vault
object -1 sensitive *wire.ObjectRule
name pin sensitive
int 1234 sensitive *wire.IntRule
name codes sensitive
array 1 sensitive *wire.ArrayRule
string xx sensitive *wire.StringRule
end sensitive
end sensitive
name retries
int 1 *wire.IntRule
name mode
null
name limits
object -1 *wire.ObjectRule
name low
int 1
name high
int 2 *wire.IntRule
end
name x
array -1
end
name y
int 2
end`

// SEMANTICS 7.1.1
func TestWalk(t *testing.T) {
	var got tokens
	sample().Walk(&got)
	assert.Equal(t, strings.Split(sampleWalk, "\n"), []string(got))
}

func TestRawWalk(t *testing.T) {
	for in, want := range map[string]string{
		`-0`: "int 0", `9223372036854775807`: "int 9223372036854775807", `-9223372036854775808.0`: "int -9223372036854775808",
		`9223372036854775808`: "float 9.223372036854776e+18", `1e-400`: "float 0", `1e400`: "invalid (root): maximum: want at most 1.7976931348623157e+308, have 1e400",
		`"\ud834\udd1e"`: "string 𝄞", ``: "invalid (root): json: want a value, have the end of the text", `1 2`: "invalid (root): json: want the end of the text, have character '2'",
	} {
		var got tokens
		wire.Raw(in).Walk(&got)
		require.Len(t, got, 1)
		assert.Equal(t, want, got[0], in)
	}
}

// A loop contains itself. One that is stubborn does not mind being stopped.
type loop struct{ stubborn bool }

func (v *loop) Walk(w wire.Visitor) {
	defer func() {
		if v.stubborn {
			_ = recover()
		}
	}()
	wire.BeginArray(w, 1, nil)
	v.Walk(w)
	wire.End(w)
}

// A broken value panics.
type broken struct{}

func (broken) Walk(wire.Visitor) { panic("its own") }

func TestAppendWithin(t *testing.T) {
	size := len(sampleJSON)
	out, bad, err := wire.AppendWithin([]byte("x"), sample(), size, 4)
	require.NoError(t, err)
	require.Empty(t, bad)
	assert.Equal(t, "x"+sampleJSON, string(out))
	for most := range size {
		out, bad, err = wire.AppendWithin([]byte("x"), sample(), most, 4)
		require.ErrorIs(t, err, wire.ErrTooLarge, most)
		assert.Empty(t, bad)
		assert.Equal(t, "x", string(out))
	}
	for depth := range 4 {
		_, _, err = wire.AppendWithin(nil, sample(), size, depth)
		require.ErrorIs(t, err, wire.ErrTooDeep, depth)
	}
	_, _, err = wire.AppendWithin(nil, &loop{}, 1<<20, 128)
	require.ErrorIs(t, err, wire.ErrTooDeep)
	_, _, err = wire.AppendWithin(nil, &loop{}, 64, 128)
	require.ErrorIs(t, err, wire.ErrTooLarge)
	_, _, err = wire.AppendWithin(nil, &loop{stubborn: true}, 64, 128)
	require.ErrorIs(t, err, wire.ErrTooLarge)
	assert.PanicsWithValue(t, "its own", func() { _, _, _ = wire.AppendWithin(nil, broken{}, 64, 128) })
	out, bad = wire.Append(nil, sample())
	require.Empty(t, bad)
	assert.Equal(t, sampleJSON, string(out), "what was stopped left nothing behind")
}
