package wire_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// read reads one value with one rule and returns the violations.
func read[T, R any](in string, f func(*wire.Reader, *T, *R), rule *R) (T, []string) {
	var v T
	var r wire.Reader
	r.Reset([]byte(in), wire.Limits{})
	f(&r, &v, rule)
	return v, lines(r.Finish())
}

func TestStringKeywords(t *testing.T) {
	for _, c := range []struct {
		name, in string
		rule     *wire.StringRule
		want     string
	}{
		{"no rule", `"x"`, nil, ""},
		{"length in code points", `"𝄞𝄞"`, &wire.StringRule{Has: wire.Min | wire.Max, Min: 2, Max: 2}, ""},
		{"escapes count once", `"\ud834\udd1e\n"`, &wire.StringRule{Has: wire.Min | wire.Max, Min: 2, Max: 2}, ""},
		{"combining marks count", `"e\u0301"`, &wire.StringRule{Has: wire.Max, Max: 1}, "(root): maxLength: want at most 1 character, have 2"},
		{"minLength", `"𝄞"`, &wire.StringRule{Has: wire.Min, Min: 2}, "(root): minLength: want at least 2 characters, have 1"},
		{"unset bounds", `"abc"`, &wire.StringRule{Min: 10, Max: 1}, ""},
		{"maxLength 0", `"a"`, &wire.StringRule{Has: wire.Max}, "(root): maxLength: want at most 0 characters, have 1"},
		{"pattern is not anchored", `"xay"`, &wire.StringRule{Pattern: mustPattern("a")}, ""},
		{"pattern", `"b"`, &wire.StringRule{Pattern: mustPattern("a")}, `(root): pattern: want a match of a, have "b"`},
		{"format", `"b"`, &wire.StringRule{Format: wire.FormatDate}, `(root): format: want date, have "b"`},
		{"enum", `"B"`, &wire.StringRule{Enum: []string{"a", "b"}}, `(root): enum: want one of "a", "b", have "B"`},
		{"empty enum", `"a"`, &wire.StringRule{Enum: []string{}}, `(root): enum: want one of , have "a"`},
		{"const", `"b"`, &wire.StringRule{Enum: []string{"a"}, Const: true}, `(root): const: want "a", have "b"`},
		{"sensitive", `"b"`, &wire.StringRule{Enum: []string{"a"}, Sensitive: true}, `(root): enum: want one of "a", have (sensitive)`},
	} {
		_, bad := read(c.in, wire.ReadString, c.rule)
		assert.Equal(t, split(c.want), bad, c.name)
	}
}

func split(want string) []string {
	if want == "" {
		return nil
	}
	return []string{want}
}

// SEMANTICS 7.1.3
func TestIntKeywords(t *testing.T) {
	const most, least = math.MaxInt64, math.MinInt64
	for _, c := range []struct {
		in   string
		rule *wire.IntRule
		v    int64
		want string
	}{
		{"0", nil, 0, ""}, {"-0", nil, 0, ""}, {"-0.0", nil, 0, ""}, {"0e99", nil, 0, ""}, {"0.000e-99", nil, 0, ""},
		{"1.0", nil, 1, ""}, {"1e2", nil, 100, ""}, {"1E+2", nil, 100, ""}, {"100e-2", nil, 1, ""}, {"1.5e1", nil, 15, ""}, {"-1.50e1", nil, -15, ""},
		{"9007199254740993", nil, 9007199254740993, ""}, {"-9007199254740993", nil, -9007199254740993, ""}, {"9007199254740993.0", nil, 9007199254740993, ""},
		{"9223372036854775807", nil, most, ""}, {"-9223372036854775808", nil, least, ""}, {"9223372036854775807.000", nil, most, ""}, {"9.223372036854775807e18", nil, most, ""},
		{"-9.223372036854775808E18", nil, least, ""}, {"922337203685477580700e-2", nil, most, ""}, {"1e18", nil, 1e18, ""}, {"999999999999999999", nil, 999999999999999999, ""},
		{"9223372036854775808", nil, 0, "(root): maximum: want at most 9223372036854775807, have 9223372036854775808"},
		{"-9223372036854775809", nil, 0, "(root): minimum: want at least -9223372036854775808, have -9223372036854775809"},
		{"9223372036854775807.5", nil, 0, "(root): type: want integer, have 9223372036854775807.5"},
		{"1e19", nil, 0, "(root): maximum: want at most 9223372036854775807, have 1e19"},
		{"99999999999999999999", nil, 0, "(root): maximum: want at most 9223372036854775807, have 99999999999999999999"},
		{"1e-1", nil, 0, "(root): type: want integer, have 1e-1"},
		{"0.1", nil, 0, "(root): type: want integer, have 0.1"},
		{"5", &wire.IntRule{Has: wire.Min | wire.Max, Min: 5, Max: 5}, 5, ""},
		{"4", &wire.IntRule{Has: wire.Min, Min: 5}, 4, "(root): minimum: want at least 5, have 4"},
		{"6", &wire.IntRule{Has: wire.Max, Max: 5}, 6, "(root): maximum: want at most 5, have 6"},
		{"5", &wire.IntRule{Has: wire.Min | wire.ExclusiveMin, Min: 5}, 5, "(root): exclusiveMinimum: want more than 5, have 5"},
		{"5", &wire.IntRule{Has: wire.Max | wire.ExclusiveMax, Max: 5}, 5, "(root): exclusiveMaximum: want less than 5, have 5"},
		{"5", &wire.IntRule{Has: wire.ExclusiveMin, Min: 5}, 5, "(root): exclusiveMinimum: want more than 5, have 5"},
		{"5", &wire.IntRule{Min: 6, Max: 4}, 5, ""},
		{"-9", &wire.IntRule{MultipleOf: 3}, -9, ""},
		{"7", &wire.IntRule{MultipleOf: 3}, 7, "(root): multipleOf: want a multiple of 3, have 7"},
		{"1.0", &wire.IntRule{Enum: []int64{1, 2}}, 1, ""},
		{"3", &wire.IntRule{Enum: []int64{1, 2}}, 3, "(root): enum: want one of 1, 2, have 3"},
		{"3", &wire.IntRule{Enum: []int64{1}, Const: true}, 3, "(root): const: want 1, have 3"},
		{"3", &wire.IntRule{Enum: []int64{1}, Sensitive: true}, 3, "(root): enum: want one of 1, have (sensitive)"},
		{"true", nil, 0, "(root): type: want integer, have boolean"},
	} {
		v, bad := read(c.in, wire.ReadInt, c.rule)
		assert.Equal(t, split(c.want), bad, c.in)
		assert.Equal(t, c.v, v, c.in)
	}
}

func TestNumberKeywords(t *testing.T) {
	for _, c := range []struct {
		in   string
		rule *wire.NumberRule
		v    float64
		want string
	}{
		{"1", nil, 1, ""}, {"-1.5e2", nil, -150, ""}, {"0.1", nil, 0.1, ""}, {"1e-400", nil, 0, ""}, {"123456789012345678", nil, 123456789012345678, ""},
		{"1e400", nil, 0, "(root): maximum: want at most 1.7976931348623157e+308, have 1e400"},
		{"-1e400", nil, 0, "(root): minimum: want at least -1.7976931348623157e+308, have -1e400"},
		{"0.5", &wire.NumberRule{Has: wire.Min | wire.Max, Min: 0.5, Max: 0.5}, 0.5, ""},
		{"0.4", &wire.NumberRule{Has: wire.Min, Min: 0.5}, 0.4, "(root): minimum: want at least 0.5, have 0.4"},
		{"0.5", &wire.NumberRule{Has: wire.Min | wire.ExclusiveMin, Min: 0.5}, 0.5, "(root): exclusiveMinimum: want more than 0.5, have 0.5"},
		{"1e21", &wire.NumberRule{Has: wire.Max, Max: 1e20}, 1e21, "(root): maximum: want at most 100000000000000000000, have 1e21"},
		{"0.0075", &wire.NumberRule{MultipleOf: "0.0001"}, 0.0075, ""},
		{"0.00751", &wire.NumberRule{MultipleOf: "0.0001"}, 0.00751, "(root): multipleOf: want a multiple of 0.0001, have 0.00751"},
		{"0", &wire.NumberRule{MultipleOf: "7"}, 0, ""}, {"0.3", &wire.NumberRule{MultipleOf: "0.1"}, 0.3, ""}, {"4.02", &wire.NumberRule{MultipleOf: "0.01"}, 4.02, ""},
		{"1e308", &wire.NumberRule{MultipleOf: "0.5"}, 1e308, ""}, {"-7.5", &wire.NumberRule{MultipleOf: "2.5"}, -7.5, ""}, {"3e0", &wire.NumberRule{MultipleOf: "1.5"}, 3, ""},
		{"35", &wire.NumberRule{MultipleOf: "1.5"}, 35, "(root): multipleOf: want a multiple of 1.5, have 35"},
		{"1e-9999999999999999999999999999", &wire.NumberRule{MultipleOf: "0.1"}, 0,
			"(root): multipleOf: want a multiple of 0.1, have 1e-9999999999999999999999999999"},
		{"0.30000000000000001", &wire.NumberRule{Has: wire.Max, Max: 0.3}, 0.3, "(root): maximum: want at most 0.3, have 0.30000000000000001"},
		{"9007199254740993", &wire.NumberRule{Has: wire.Min | wire.ExclusiveMin, Min: 1 << 53}, 1 << 53,
			"(root): exclusiveMinimum: want more than 9007199254740992, also as a 64-bit number, have 9007199254740993, which is 9007199254740992 as a 64-bit number"},
		{"1.00", &wire.NumberRule{Enum: []float64{1}}, 1, ""},
		{"1.5", &wire.NumberRule{Enum: []float64{1, 2.5}}, 1.5, "(root): enum: want one of 1, 2.5, have 1.5"},
		{"1.5", &wire.NumberRule{Enum: []float64{1}, Const: true}, 1.5, "(root): const: want 1, have 1.5"},
		{"1.5", &wire.NumberRule{Enum: []float64{1}, Sensitive: true}, 1.5, "(root): enum: want one of 1, have (sensitive)"},
		{`"1"`, nil, 0, "(root): type: want number, have string"},
	} {
		v, bad := read(c.in, wire.ReadFloat, c.rule)
		assert.Equal(t, split(c.want), bad, c.in)
		assert.Equal(t, c.v, v, c.in)
	}
	v, _ := read("-0", wire.ReadFloat, nil)
	assert.True(t, math.Signbit(v))
}

func TestBoolKeywords(t *testing.T) {
	v, bad := read("true", wire.ReadBool, &wire.BoolRule{Enum: []bool{true}, Const: true})
	assert.True(t, v)
	assert.Empty(t, bad)
	_, bad = read("false", wire.ReadBool, &wire.BoolRule{Enum: []bool{true}, Const: true})
	assert.Equal(t, split("(root): const: want true, have false"), bad)
	_, bad = read("0", wire.ReadBool, nil)
	assert.Equal(t, split("(root): type: want boolean, have number"), bad)
	_, bad = read("0", wire.ReadBool, &wire.BoolRule{Sensitive: true})
	assert.Equal(t, split("(root): type: want boolean, have (sensitive)"), bad)
}

func readRaws(r *wire.Reader, p *[]wire.Raw, rule *wire.ArrayRule) {
	wire.ReadArray(r, p, rule, wire.ReadRaw, nil)
}

func TestUniqueItems(t *testing.T) {
	rule := &wire.ArrayRule{Unique: true}
	for in, want := range map[string]string{
		`[]`: "", `[1]`: "", `[1,2]`: "", `[1,"1"]`: "", `[1,true,null,"null",false,0]`: "", `[[1],[2]]`: "", `[{"a":1},{"a":2}]`: "", `["a","A"]`: "",
		`[{"a":[1,2]},{"a":[2,1]}]`: "", `[[],{}]`: "", `[9007199254740992,9007199254740993]`: "", `[0.1,0.10000000000000001]`: "", `[[1],[1,1]]`: "", `[["a"],["a","a"]]`: "",
		`[1,1.0]`:                             "equal items 0 and 1",
		`[0,-0.0]`:                            "equal items 0 and 1",
		`[100,2,1e2]`:                         "equal items 0 and 2",
		`["\u0061",1,"a"]`:                    "equal items 0 and 2",
		`[null,[],null]`:                      "equal items 0 and 2",
		`[{"a":1,"b":[2]},{"b":[2.0],"a":1}]`: "equal items 0 and 1",
		`[ {} , { } ]`:                        "equal items 0 and 1",
		`[[{"x":"\/"}],[{"x":"/"}]]`:          "equal items 0 and 1",
	} {
		_, bad := read(in, readRaws, rule)
		if want != "" {
			want = "(root): uniqueItems: want no two equal items, have " + want
		}
		assert.Equal(t, split(want), bad, in)
	}
}

func TestCounts(t *testing.T) {
	_, bad := read(`[1]`, readRaws, &wire.ArrayRule{Has: wire.Min, Min: 2})
	assert.Equal(t, split("(root): minItems: want at least 2 items, have 1"), bad)
	_, bad = read(`[1,2]`, readRaws, &wire.ArrayRule{Has: wire.Max, Max: 1, Sensitive: true})
	assert.Equal(t, split("(root): maxItems: want at most 1 item, have (sensitive)"), bad)
	v, bad := read(`[]`, readRaws, nil)
	assert.Empty(t, bad)
	assert.NotNil(t, v)
	m, bad := read(`{}`, readRawMap, &wire.ObjectRule{Has: wire.Min, Min: 1, Open: true})
	assert.Equal(t, split("(root): minProperties: want at least 1 member, have 0"), bad)
	assert.NotNil(t, m)
	_, bad = read(`{"a":1,"b":2}`, readRawMap, &wire.ObjectRule{Has: wire.Max, Max: 1, Sensitive: true})
	assert.Equal(t, split("(root): maxProperties: want at most 1 member, have (sensitive)"), bad)
	_, bad = read(`[]`, readRawMap, nil)
	assert.Equal(t, split("(root): type: want object, have array"), bad)
}

func readRawMap(r *wire.Reader, p *map[string]wire.Raw, rule *wire.ObjectRule) {
	wire.ReadMap(r, p, rule, wire.ReadRaw, nil)
}

func TestOptAndNull(t *testing.T) {
	var o wire.Opt[int]
	_, ok := o.Get()
	assert.False(t, ok)
	assert.Equal(t, 7, o.Or(7))
	*o.Put() = 1
	assert.Equal(t, wire.Some(1), o)
	assert.Equal(t, 1, o.Or(7))
	var n wire.Null[int]
	_, ok = n.Get()
	assert.False(t, ok)
	assert.Equal(t, 7, n.Or(7))
	n = wire.NonNull(1)
	assert.Equal(t, 1, n.Or(7))
}
