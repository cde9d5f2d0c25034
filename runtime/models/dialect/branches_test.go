package dialect_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/models/dialect"
)

// object returns the schema of a closed object with members that have to be there, and with others.
func object(must, may string) string {
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte("{"+must+"}"), &members); err != nil {
		panic(err)
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(members)) {
		names = append(names, fmt.Sprintf("%q", name))
	}
	all := strings.Trim(must+", "+may, ", ")
	return `{"type":"object","properties":{` + all + `},"required":[` + strings.Join(names, ",") + `],"additionalProperties":false}`
}

const (
	text    = `{"type":"string"}`
	whole   = `{"type":"integer"}`
	orNull  = `{"type":["string","null"]}`
	boolean = `{"type":"boolean"}`
)

func anyOf(branches ...string) string { return `{"anyOf":[` + strings.Join(branches, ",") + `]}` }

// TestRestoreOfUnions: names, types, values and bounds of members tell the branches of a union apart, at any
// depth, and the position does in a tuple. What is given out is what the published schema allows.
func TestRestoreOfUnions(t *testing.T) {
	names := anyOf(object(`"a": `+text, `"x": `+text), object(`"b": `+text+`, "x": `+orNull, ``))
	types := anyOf(object(`"k": `+text, `"x": `+text), object(`"k": `+whole+`, "x": `+orNull, ``))
	bounds := anyOf(object(`"k": {"type":"string","maxLength":2,"pattern":"^a"}`, `"x": `+text), object(`"k": {"type":"string","minLength":3}, "x": `+orNull, ``),
		object(`"k": {"type":"number","exclusiveMaximum":0}`, `"x": `+text), object(`"k": {"type":"number","minimum":0}, "x": `+orNull, ``))
	crossed := anyOf(object(`"x": `+orNull, `"y": `+text), object(`"y": `+orNull, `"x": `+text))
	tuple := `{"type":"array","prefixItems":[` + object(``, `"x": `+text) + `,` + object(`"x": `+orNull, `"y": `+text) + `],"items":false}`
	for _, c := range []struct{ name, schema, input, want string }{
		{"by names", names, `{"a":"1","x":null}`, `{"a":"1"}`},
		{"by names", names, `{"b":"1","x":null}`, `{"b":"1","x":null}`},
		{"by names that one branch has more", anyOf(object(`"a": `+text, `"x": `+text), object(`"a": `+text+`, "x": `+orNull+`, "y": `+text, ``)), `{"a":"1","x":null}`, `{"a":"1"}`},
		{"by types", types, `{"k":"1","x":null}`, `{"k":"1"}`},
		{"by types", types, `{"x":null,"k":1}`, `{"x":null,"k":1}`},
		{"by bounds", bounds, `{"k":"ab","x":null}`, `{"k":"ab"}`},
		{"by bounds", bounds, `{"k":"abc","x":null}`, `{"k":"abc","x":null}`},
		{"by bounds", bounds, `{"k":-1,"x":null}`, `{"k":-1}`},
		{"by bounds", bounds, `{"k":0,"x":null}`, `{"k":0,"x":null}`},
		{"nested", anyOf(object(`"in": `+names, ``), object(`"in": `+boolean+`, "x": `+orNull, ``)), `{"in":{"a":"1","x":null}}`, `{"in":{"a":"1"}}`},
		{"by what is in it", anyOf(object(`"in": `+object(`"a": `+text, ``), `"x": `+text), object(`"in": `+object(`"b": `+text, ``)+`, "x": `+orNull, ``)),
			`{"in":{"a":"null"},"x":null}`, `{"in":{"a":"null"}}`},
		{"elements", `{"type":"array","items":` + names + `}`, `[{"a":"","x":null},{"b":"","x":null} , {"x":null , "a":""}]`, `[{"a":""},{"b":"","x":null} , {"a":""}]`},
		{"arrays", anyOf(`{"type":"array","items":`+object(`"a": `+text, `"x": `+text)+`}`, `{"type":"array","items":`+object(`"b": `+text+`, "x": `+orNull, ``)+`}`),
			`[{"a":"","x":null}]`, `[{"a":""}]`},
		{"arrays", anyOf(`{"type":"array","items":`+object(`"a": `+text, `"x": `+text)+`}`, `{"type":"array","items":`+object(`"b": `+text+`, "x": `+orNull, ``)+`}`),
			`[{"b":"","x":null}]`, `[{"b":"","x":null}]`},
		{"arrays by their length", anyOf(`{"type":"array","maxItems":1,"items":`+object(``, `"x": `+text)+`}`, `{"type":"array","minItems":2,"items":`+object(`"x": `+orNull, ``)+`}`),
			`[{"x":null}]`, `[{}]`},
		{"a tuple", tuple, `[{"x":null},{"x":null,"y":null}]`, `[{},{"x":null}]`},
		{"a tuple in a union", anyOf(tuple, boolean), `[{"x":null},{"x":null,"y":null}]`, `[{},{"x":null}]`},
		{"crossed: one branch, whole", crossed, `{"x":null,"y":null}`, `{"x":null}`},
		{"an object or a list", anyOf(object(``, `"x": `+text), `{"type":"array","items":`+object(`"x": `+orNull, ``)+`}`), `{"x":null}`, `{}`},
	} {
		s, _ := rewrite(t, head+c.schema+tail, dialect.OpenAIStrict)
		require.True(t, s.Strict, "%s: %v", c.name, s.Notes)
		want := `{"a":` + c.want + `}`
		assert.Equal(t, want, string(s.Restore([]byte(`{"a":`+c.input+`}`))), c.name)
		require.NoError(t, compile(t, []byte(head+c.schema+tail)).Validate(parsed(t, []byte(want))), c.name)
	}
}

// TestAmbiguousNull: where nothing tells two branches apart of which one takes null, null stays, and a note is at
// the member. There is none where something does.
func TestAmbiguousNull(t *testing.T) {
	const note = "required: changed: null may be left where the member could be left out: another branch of the union, which allows null here, may allow the same object"
	same := anyOf(object(`"a": `+text, `"x": `+text), object(`"a": `+text+`, "x": `+orNull, ``))
	s, notes := rewrite(t, head+same+tail, dialect.OpenAIStrict)
	assert.Equal(t, []string{"/properties/a/anyOf/0/properties/x: " + note}, notes)
	assert.Equal(t, `{"a":{"a":"","x":null}}`, string(s.Restore([]byte(`{"a":{"a":"","x":null}}`))))
	list := func(of string) string { return `{"type":"array","items":` + of + `}` }
	for _, c := range []struct{ schema, at string }{
		{anyOf(object(`"in": `+list(object(``, `"x": `+text)), ``), object(`"in": `+list(object(`"x": `+orNull, ``)), ``)), "/properties/a/anyOf/0/properties/in/items/properties/x"},
		{anyOf(object(``, `"x": `+text), object(`"x": `+orNull, ``)), "/properties/a/anyOf/0/properties/x"},
		{anyOf(object(`"k": `+text, `"x": `+text), object(`"k": `+whole+`, "x": `+orNull, ``)), ""},
		{anyOf(object(`"k": {"enum":["a","b"]}`, `"x": `+text), object(`"k": {"enum":["b"]}, "x": `+orNull, ``)), "/properties/a/anyOf/0/properties/x"},
		{anyOf(object(`"k": {"const":1}`, `"x": `+text), object(`"k": {"const":2}, "x": `+orNull, ``)), ""},
		{anyOf(object(``, `"x": `+text), object(``, `"x": `+whole)), ""}, // it may be left out in both
		{`{"type":"array","prefixItems":[` + object(``, `"x": `+text) + `,` + object(`"x": `+orNull, ``) + `],"items":false,"minItems":2}`, "-"},
	} {
		_, notes := rewrite(t, head+c.schema+tail, dialect.OpenAIStrict)
		switch c.at {
		case "":
			assert.Empty(t, notes, c.schema)
		case "-":
			assert.NotContains(t, strings.Join(notes, " "), note)
		default:
			assert.Equal(t, []string{c.at + ": " + note}, notes, c.schema)
		}
	}
}

// TestRestoreEndsEarly: a text that would take long to read is given out as it is, or without its nulls, soon.
func TestRestoreEndsEarly(t *testing.T) {
	def := anyOf(object(`"in": {"$ref":"#/$defs/T"}`, `"x": `+text), object(`"in": {"$ref":"#/$defs/T"}, "x": `+orNull, ``), object(``, `"x": `+text))
	s, _ := rewrite(t, `{"type":"object","properties":{"t":{"$ref":"#/$defs/T"}},"required":["t"],`+closed+`,"$defs":{"T":`+def+`}}`, dialect.OpenAIStrict)
	require.True(t, s.Strict)
	deep := `{"t":` + strings.Repeat(`{"x":null,"in":`, 200) + `{"x":null}` + strings.Repeat(`}`, 200) + `}`
	assert.Equal(t, 1, strings.Count(deep, `{"x":null}`))
	assert.NotContains(t, string(s.Restore([]byte(deep))), `{"x":null}`)
	wide := `{"t":{"x":null,"in":[` + strings.Repeat(`{"x":null},`, 20_000) + `1]}}`
	assert.True(t, json.Valid(s.Restore([]byte(wide))))
}

// A builder makes schemas of unions and tuples that are told apart, and values of them: as the published schema
// has them, and as a model writes them that may not leave a member out.
type builder struct{ r *rand.Rand }

// schema returns a schema, and a function that writes a value of it in both forms.
func (b *builder) schema(depth int) (string, func() (plain, full string)) {
	same := func(write func() string) func() (string, string) {
		return func() (string, string) { v := write(); return v, v }
	}
	kinds := 6
	if depth > 3 {
		kinds = 3
	}
	switch b.r.IntN(kinds) {
	case 0:
		return text, same(func() string { return []string{`""`, `"null"`, `"\u0061"`}[b.r.IntN(3)] })
	case 1:
		return whole, same(func() string { return []string{`0`, `9007199254740993`}[b.r.IntN(2)] })
	case 2:
		return orNull, same(func() string { return []string{`null`, `"n"`}[b.r.IntN(2)] })
	case 3:
		return b.object(depth, "")
	case 4:
		var schemas []string
		var write []func() (string, string)
		for i := range 2 + b.r.IntN(2) {
			s, w := b.object(depth, fmt.Sprint("kind", i))
			schemas, write = append(schemas, s), append(write, w)
		}
		return anyOf(schemas...), func() (string, string) { return write[b.r.IntN(len(write))]() }
	}
	one, writeOne := b.schema(depth + 1)
	two, writeTwo := b.schema(depth + 1)
	return `{"type":"array","prefixItems":[` + one + `,` + two + `],"items":false,"minItems":2}`, func() (string, string) {
		a, b := writeOne()
		c, d := writeTwo()
		return `[` + a + ` ,` + c + `]`, `[` + b + ` ,` + d + `]`
	}
}

// object returns the schema of an object that has a member called kind, if any.
func (b *builder) object(depth int, kind string) (string, func() (string, string)) {
	type field struct {
		name  string
		must  bool
		write func() (string, string)
	}
	var must, may []string
	var fields []field
	add := func(name string, required bool) {
		s, write := b.schema(depth + 1)
		if s == orNull { // of a member that may be null it cannot be known whether it was left out
			required = true
		}
		fields = append(fields, field{name, required, write})
		if required {
			must = append(must, fmt.Sprintf("%q: %s", name, s))
		} else {
			may = append(may, fmt.Sprintf("%q: %s", name, s))
		}
	}
	if kind != "" {
		add(kind, true)
	}
	for i := range b.r.IntN(4) {
		add(fmt.Sprint("m", i), b.r.IntN(2) == 0)
	}
	schema := `{"type":"object","properties":{` + strings.Join(append(must, may...), ",") + `},"required":[`
	var required []string
	for _, f := range fields {
		if f.must {
			required = append(required, fmt.Sprintf("%q", f.name))
		}
	}
	return schema + strings.Join(required, ",") + `],"additionalProperties":false}`, func() (string, string) {
		var plain, full []string
		for _, i := range b.r.Perm(len(fields)) {
			f := fields[i]
			name := fmt.Sprintf("%q : ", f.name)
			if !f.must && b.r.IntN(2) == 0 {
				full = append(full, name+"null")
				continue
			}
			p, w := f.write()
			plain, full = append(plain, name+p), append(full, name+w)
		}
		return `{` + strings.Join(plain, ",") + `}`, `{` + strings.Join(full, ",") + `}`
	}
}

// TestRestoreIsTheInverse: of a value to which the nulls of a strict schema were added, Restore returns the
// value, byte by byte, in random schemas with unions and tuples.
func TestRestoreIsTheInverse(t *testing.T) {
	changed := 0
	for seed := range uint64(max(150, battery.Count(t, 150, 1_500))) {
		b := &builder{r: rand.New(rand.NewPCG(seed, 4))}
		schema, write := b.object(0, "")
		s, _ := rewrite(t, schema, dialect.OpenAIStrict)
		if !s.Strict { // deeper than OpenAI takes
			continue
		}
		published := compile(t, []byte(schema))
		for range 8 {
			plain, full := write()
			require.NoError(t, published.Validate(parsed(t, []byte(plain))), "%s\n%s", schema, plain)
			require.Equal(t, plain, string(s.Restore([]byte(full))), "%s\n%s\n%s", schema, s.JSON, full)
			require.Equal(t, plain, string(s.Restore([]byte(plain))), "%s: it is as published", schema)
			if plain != full {
				changed++
			}
		}
	}
	require.Greater(t, changed, 200)
}
