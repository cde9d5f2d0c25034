package wire_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// lines returns violations as one line each.
func lines(bad []wire.Violation) []string {
	var out []string
	for _, v := range bad {
		out = append(out, v.String())
	}
	return out
}

// TestDecodeRead holds what a strict decoder must answer for {path, limit}.
// SEMANTICS 7.1.2
func TestDecodeRead(t *testing.T) {
	const names = `only "path", "limit"`
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"valid", `{"path":"a","limit":2}`, nil},
		{"other order", ` { "limit" : 2 , "path" : "a" } `, nil},
		{"without the optional", `{"path":"a"}`, nil},
		{"escaped name", `{"\u0070ath":"a"}`, nil},
		{"1.0 and 1e2 are integers", `{"path":"a","limit":1.0e2}`, nil},
		{"missing", `{}`, []string{`/path: required: want a member "path", have nothing`}},
		{"null", `{"path":null,"limit":null}`, []string{
			`/path: type: want string, have null`, `/limit: type: want integer, have null`}},
		{"case variant", `{"Path":"a","path":"b"}`, []string{
			`/Path: additionalProperties: want ` + names + `; did you mean "path"?, have "Path"`}},
		{"long s for s", `{"path":"a","limit":1,"limiſt":2}`, []string{
			`/limiſt: additionalProperties: want ` + names + `, have "limiſt"`}},
		{"unknown", `{"path":"a","no/de~x":{"a":[1,{"b":2}]}}`, []string{
			`/no~1de~0x: additionalProperties: want ` + names + `, have "no/de~x"`}},
		{"duplicate", `{"path":"a","path":"b"}`, []string{
			`/path: duplicate: want every member once, have "path" again`}},
		{"duplicate by escape", `{"path":"a","p\u0061th":"b"}`, []string{
			`/path: duplicate: want every member once, have "path" again`}},
		{"array for object", `["a"]`, []string{`(root): type: want object, have array`}},
		{"string for object", `"path"`, []string{`(root): type: want object, have string`}},
		{"all at once", `{"path":"","limit":0,"x":1}`, []string{
			`/path: minLength: want at least 1 character, have 0`,
			`/path: pattern: want a match of ^[a-zA-Z0-9/_.-]+$, have ""`,
			`/limit: minimum: want at least 1, have 0`,
			`/x: additionalProperties: want ` + names + `, have "x"`}},
		{"fraction", `{"path":"a","limit":1.5}`, []string{`/limit: type: want integer, have 1.5`}},
		{"string for integer", `{"path":7,"limit":"7"}`, []string{
			`/path: type: want string, have number`, `/limit: type: want integer, have string`}},
		{"trailing data", `{"path":"a"} {}`, []string{`(root): json: want the end of the text, have character '{'`}},
		{"trailing comma", `{"path":"a",}`, []string{`(root): json: want a member name in quotes, have character '}'`}},
		{"cut off", `{"path":"a`, []string{`/path: json: want a string in UTF-8 that ends with a quote, have the end of the text`}},
		{"syntax after violations", `{"path":"","limit":tru}`, []string{
			`/path: minLength: want at least 1 character, have 0`,
			`/path: pattern: want a match of ^[a-zA-Z0-9/_.-]+$, have ""`,
			`/limit: type: want integer, have boolean`,
			`/limit: json: want true, have a misspelt word`}},
		{"invalid UTF-8", "{\"path\":\"a\xff\"}", []string{
			`/path: json: want a string in UTF-8 that ends with a quote, have bytes that are not UTF-8`}},
		{"lone surrogate", `{"path":"\ud800"}`, []string{
			`/path: json: want a string in UTF-8 that ends with a quote, have half of a surrogate pair`}},
		{"byte order mark", "\ufeff{}", []string{`(root): json: want a value, have a character outside ASCII`}},
		{"empty", ``, []string{`(root): json: want a value, have the end of the text`}},
		{"NaN", `{"path":"a","limit":NaN}`, []string{`/limit: json: want a value, have character 'N'`}},
		{"leading zero", `{"path":"a","limit":01}`, []string{`/limit: json: want a number, have a malformed number`}},
		{"plus", `{"path":"a","limit":+1}`, []string{`/limit: json: want a value, have character '+'`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, bad := wire.Decode[readInput]([]byte(c.in), wire.Limits{}, &readInputRule)
			assert.Equal(t, c.want, lines(bad))
			assert.Equal(t, bad == nil, v != nil)
		})
	}
}

// SEMANTICS 7.2.1
func TestDecodeLimits(t *testing.T) {
	for _, c := range []struct {
		name, in string
		limits   wire.Limits
		want     string
	}{
		{"size", `{"path":"` + strings.Repeat("a", 65536) + `"}`, wire.Limits{},
			`(root): size: want at most 65536 bytes, have 65547 bytes`},
		{"own size", `{"path":"abc"}`, wire.Limits{Size: 5}, `(root): size: want at most 5 bytes, have 14 bytes`},
		{"deep arrays", `{"x":` + strings.Repeat("[", 100_000), wire.Limits{Size: 1 << 20},
			`/x` + strings.Repeat("/0", 127) + `: depth: want at most 128 nested objects and arrays, have more`},
		{"deep objects", strings.Repeat(`{"x":`, 100_000), wire.Limits{Size: 1 << 20, Depth: 2},
			`/x/x: depth: want at most 2 nested objects and arrays, have more`},
		{"million digits", `{"path":"a","limit":` + strings.Repeat("9", 1_000_000) + `}`, wire.Limits{Size: 2 << 20},
			`/limit: number: want a number of at most 32 characters, have 1000000 characters`},
		{"long number", `{"path":"a","limit":123}`, wire.Limits{Number: 2},
			`/limit: number: want a number of at most 2 characters, have 3 characters`},
		{"long unknown number", `{"path":"a","x":[1.23]}`, wire.Limits{Number: 3},
			`/x/0: number: want a number of at most 3 characters, have 4 characters`},
		{"huge exponent", `{"path":"a","limit":1e99999999999999999999999999}`, wire.Limits{},
			`/limit: maximum: want at most 9223372036854775807, have 1e99999999999999999999999999`},
		{"tiny exponent", `{"path":"a","limit":1e-9999999999999999999999999}`, wire.Limits{},
			`/limit: type: want integer, have 1e-9999999999999999999999999`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, bad := wire.Decode[readInput]([]byte(c.in), c.limits, &readInputRule)
			require.NotEmpty(t, bad)
			assert.Equal(t, c.want, bad[len(bad)-1].String())
		})
	}
}

// head has the required members of everything.
const head = `{"name":"n","colour":"red","ratio":0.5,"owner":null`

var everythingCases = []struct {
	name, in string
	want     []string
}{
	{"valid", head + `,"note":null,"tags":["a","b"],"point":[1,true],"labels":{"x":2},"target":{"number":1,"kind":"page"},` +
		`"tree":{"value":1,"children":[{"value":2}],"next":{"value":3}},"any":{"a":[null]},"retries":1,"more":1}`, nil},
	{"enum, const, format", `{"name":"n","colour":"blue","ratio":0.5,"owner":"o","target":{"kind":"email","address":"x"}}`, []string{
		`/colour: enum: want one of "red", "green", have "blue"`, `/target/address: format: want email, have "x"`}},
	{"numbers", `{"name":"n","colour":"red","ratio":1,"owner":"o","extra":1}`, []string{
		`/ratio: exclusiveMaximum: want less than 1, have 1`}},
	{"multipleOf", `{"name":"n","colour":"red","ratio":0.005,"owner":"o"}`, []string{
		`/ratio: multipleOf: want a multiple of 0.01, have 0.005`}},
	{"null or string", `{"name":"n","colour":"red","ratio":0.07,"owner":7}`, []string{
		`/owner: type: want string or null, have number`}},
	{"counts", head + `,"tags":[],"labels":{"a":2,"b":3,"c":4}}`, []string{
		`/tags: minItems: want at least 1 item, have 0`, `/labels/b: multipleOf: want a multiple of 2, have 3`,
		`/labels: maxProperties: want at most 2 members, have 3`}},
	{"too many", head + `,"tags":["a","b","c","d","9"]}`, []string{`/tags: maxItems: want at most 3 items, have 5`}},
	{"unique", head + `,"tags":["a","\u0061"]}`, []string{`/tags: uniqueItems: want no two equal items, have equal items 0 and 1`}},
	{"items", head + `,"tags":["a","9",7]}`, []string{
		`/tags/1: pattern: want a match of ^[a-z]+$, have "9"`, `/tags/2: type: want string, have number`}},
	{"short tuple", head + `,"point":[1]}`, []string{`/point: minItems: want exactly 2 items, have 1`}},
	{"long tuple", head + `,"point":[1,true,{"a":1,"a":2}]}`, []string{
		`/point/2/a: duplicate: want every member once, have "a" again`, `/point: maxItems: want exactly 2 items, have 3`}},
	{"tuple types", head + `,"point":[true,1]}`, []string{
		`/point/0: type: want integer, have boolean`, `/point/1: type: want boolean, have number`}},
	{"map duplicate", head + `,"labels":{"a":2,"a":4}}`, []string{`/labels/a: duplicate: want every member once, have "a" again`}},
	{"extra duplicate", head + `,"more":2,"more":4}`, []string{`/more: duplicate: want every member once, have "more" again`}},
	{"raw duplicate", head + `,"any":[{"a":2,"b":{"c":1,"c":1},"\u0061":4}]}`, []string{
		`/any/0/b/c: duplicate: want every member once, have "c" again`, `/any/0/a: duplicate: want every member once, have "a" again`}},
	{"raw number", head + `,"any":[1e400,-1e400]}`, []string{
		`/any/0: number: want a number of at most 19 significant digits with an exponent within ±308, have 1e400`,
		`/any/1: number: want a number of at most 19 significant digits with an exponent within ±308, have -1e400`}},
	{"no tag", head + `,"target":{"number":1}}`, []string{
		`/target/kind: required: want a member "kind", one of "email", "page", have nothing`}},
	{"unknown tag", head + `,"target":{"number":1,"kind":"fax"}}`, []string{`/target/kind: enum: want one of "email", "page", have "fax"`}},
	{"tag of another type", head + `,"target":{"kind":["email"]}}`, []string{`/target/kind: type: want string, have array`}},
	{"duplicate tag", head + `,"target":{"kind":"page","number":1,"kind":"email"}}`, []string{
		`/target/kind: duplicate: want every member once, have "kind" again`}},
	{"union of another type", head + `,"target":null}`, []string{`/target: type: want object, have null`}},
	{"broken variant", head + `,"target":{"number":1,"kind":"page"`, []string{
		`/target/kind: json: want "," or "}", have the end of the text`}},
	{"broken before the tag", head + `,"target":{"number":1,]}`, []string{
		`/target: json: want a member name in quotes, have character ']'`}},
	{"recursion", head + `,"tree":{"value":1,"children":[{"value":2,"next":{}}]}}`, []string{
		`/tree/children/0/next/value: required: want a member "value", have nothing`}},
	{"sensitive", head + `,"secret":"s3cret","vault":{"pin":7,"codes":["x","y","y"],"code":1}}`, []string{
		`/secret: minLength: want at least 8 characters, have (sensitive)`,
		`/vault/pin: minimum: want at least 1000, have (sensitive)`,
		`/vault/codes/0: minLength: want at least 2 characters, have (sensitive)`,
		`/vault/codes/1: minLength: want at least 2 characters, have (sensitive)`,
		`/vault/codes: maxItems: want at most 2 items, have (sensitive)`,
		`/vault/codes: uniqueItems: want no two equal items, have (sensitive)`,
		`/vault: additionalProperties: want only "pin", "codes", have (sensitive)`}},
	{"sensitive syntax", head + `,"secret":hunter2}`, []string{`/secret: json: want a value, have (sensitive)`}},
	{"sensitive type", head + `,"secret":12345}`, []string{`/secret: type: want string, have (sensitive)`}},
}

// SEMANTICS 7.3.1
func TestDecodeEverything(t *testing.T) {
	for _, c := range everythingCases {
		t.Run(c.name, func(t *testing.T) {
			_, bad := wire.Decode[everything]([]byte(c.in), wire.Limits{}, &everythingRule)
			assert.Equal(t, c.want, lines(bad))
		})
	}
}

// SEMANTICS 7.4.2
func TestDecodeDefaults(t *testing.T) {
	in := []byte(`{"name":"n","colour":"red","ratio":0.5,"owner":null}`)
	v, bad := wire.Decode[everything](in, wire.Limits{}, &everythingRule)
	require.Empty(t, bad)
	assert.Equal(t, int64(3), v.Retries)
	assert.Equal(t, wire.Null[string]{}, v.Mode)
	assert.Equal(t, limits{Low: 1, High: 10}, v.Limits, "a default inside of a default")

	v, bad = wire.Decode[everything](append(in[:len(in)-1], `,"retries":0,"mode":"m","limits":{"high":7}}`...), wire.Limits{}, &everythingRule)
	require.Empty(t, bad)
	assert.Equal(t, int64(0), v.Retries)
	assert.Equal(t, wire.NonNull("m"), v.Mode)
	assert.Equal(t, limits{High: 7}, v.Limits)
}

// TestDecodeBadDefault shows where a default that breaks its own schema is reported.
func TestDecodeBadDefault(t *testing.T) {
	rule := limitsRule
	rule.Defaults = []wire.Default{{Name: "high", JSON: "1000"}}
	_, bad := wire.Decode[limits]([]byte(`{"low":1}`), wire.Limits{}, &rule)
	assert.Equal(t, []string{`/high: maximum: want at most 100, have 1000`}, lines(bad))
	rule.Defaults = []wire.Default{{Name: "high", JSON: "1 x"}}
	_, bad = wire.Decode[limits]([]byte(`{"low":1}`), wire.Limits{}, &rule)
	assert.Equal(t, []string{`/high: json: want the end of the default, have character 'x'`}, lines(bad))
}

// SEMANTICS 7.3.1
func TestDecodeManyViolations(t *testing.T) {
	var b strings.Builder
	for range 300 {
		b.WriteString(`"x":1,`)
	}
	_, bad := wire.Decode[limits]([]byte(`{`+b.String()+`"low":1}`), wire.Limits{}, &limitsRule)
	require.Len(t, bad, 101)
	assert.Equal(t, "(root): violations: want at most 100 violations listed, have 200 more left out", bad[100].String())
}

func TestDecodeDidYouMean(t *testing.T) {
	for _, name := range []string{"PATH", "Path", "pa_th", "pa-th"} {
		_, bad := wire.Decode[readInput]([]byte(`{"path":"a","`+name+`":1}`), wire.Limits{}, &readInputRule)
		require.Len(t, bad, 1)
		assert.Contains(t, bad[0].Expected, `did you mean "path"?`, name)
	}
}

// TestDecodeCopies shows that a decoded value does not change with the text.
func TestDecodeCopies(t *testing.T) {
	in := []byte(`{"name":"name","colour":"red","ratio":0,"owner":"owner","any":{"k":1},"labels":{"label":2},"extra":["x"]}`)
	v, bad := wire.Decode[everything](in, wire.Limits{}, &everythingRule)
	require.Empty(t, bad)
	for i := range in {
		in[i] = '*'
	}
	assert.Equal(t, "name", v.Name)
	assert.Equal(t, "owner", v.Owner.V)
	assert.Equal(t, wire.Raw(`{"k":1}`), v.Any.V)
	assert.Equal(t, map[string]int64{"label": 2}, v.Labels.V)
	assert.Equal(t, map[string]wire.Raw{"extra": wire.Raw(`["x"]`)}, v.Extra)
}

func TestReaderAgain(t *testing.T) {
	var r wire.Reader
	for range 2 {
		r.Reset([]byte(`{"low":{"a":1}`), wire.Limits{})
		var v limits
		wire.ReadObject(&r, &v, &limitsRule)
		assert.Len(t, r.Finish(), 2)
		r.Reset([]byte(`{"low":1}`), wire.Limits{})
		wire.ReadObject(&r, &v, &limitsRule)
		assert.Empty(t, r.Finish())
	}
}

// lazy does not read what it is given.
type lazy struct{}

func (lazy) ReadMember(*wire.Reader, string) {}

func TestReaderSkipsWhatIsNotRead(t *testing.T) {
	_, bad := wire.Decode[lazy]([]byte(`{"a":[1,{"b":2}],"c":3}`), wire.Limits{}, &wire.ObjectRule{Open: true})
	assert.Empty(t, bad)
	_, bad = wire.Decode[lazy]([]byte(`{"a":1}`), wire.Limits{}, nil)
	assert.Equal(t, []string{`/a: additionalProperties: want no members, have "a"`}, lines(bad))
}

func TestViolationActualIsShort(t *testing.T) {
	long := strings.Repeat("ä", 500)
	_, bad := wire.Decode[everything]([]byte(`{"name":"`+long+`","colour":"\u0007\n`+long+`","ratio":0,"owner":null}`), wire.Limits{}, &everythingRule)
	require.Len(t, bad, 2)
	assert.Equal(t, "500", bad[0].Actual)
	assert.LessOrEqual(t, len([]rune(bad[1].Actual)), 64)
	assert.True(t, strings.HasPrefix(bad[1].Actual, `"\a\n`+"ää"), bad[1].Actual)
}
