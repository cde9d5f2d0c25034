package dialect_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/fuzz"
	"github.com/ambit-tools/ambit/runtime/models/dialect"
	"github.com/ambit-tools/ambit/runtime/models/internal/samples"
)

// edits has members that may be left out in the input, in the elements of an array, in one branch
// of a union whose other branch allows null there, and in a schema that refers to itself.
const edits = `{"type":"object","properties":{
	"limit":{"type":"integer"},"a~/b":{"type":"string"},
	"note":{"type":["string","null"]},"must":{"type":["string","null"]},
	"edits":{"type":"array","items":{"oneOf":[
		{"type":"object","properties":{"op":{"const":"put"},"with":{"type":"string"}},"required":["op"],"additionalProperties":false},
		{"type":"object","properties":{"op":{"const":"cut"},"with":{"type":["string","null"]}},"required":["op","with"],"additionalProperties":false}]}},
	"tree":{"$ref":"#/$defs/T"}},
	"required":["must"],"additionalProperties":false,
	"$defs":{"T":{"type":"object","properties":{"left":{"$ref":"#/$defs/T"},"name":{"type":"string"}},"additionalProperties":false}}}`

func TestRestore(t *testing.T) {
	s, _ := rewrite(t, edits, dialect.OpenAIStrict)
	require.True(t, s.Strict)
	for input, want := range map[string]string{
		`{"limit":null,"must":null}`:                                      `{"must":null}`,
		`{"must":null,"limit":null}`:                                      `{"must":null}`,
		`{"limit":null}`:                                                  `{}`,
		`{"limit":null,"a~/b":null,"tree":null}`:                          `{}`,
		`{"must":"x" , "limit" : null , "a~/b":null}`:                     `{"must":"x"}`,
		`{ "limit" : null , "must":"x" }`:                                 `{ "must":"x" }`,
		`{"l\u0069mit":null,"note":null}`:                                 `{"note":null}`,
		`{"limit":9007199254740993,"a~\/b":null}`:                         `{"limit":9007199254740993}`,
		`{"limit":1e400,"tree":{"name":null}}`:                            `{"limit":1e400,"tree":{}}`,
		`{"edits":[{"op":"put","with":null}, {"op":"put"}]}`:              `{"edits":[{"op":"put"}, {"op":"put"}]}`,
		`{"edits":[{"with":null,"op":"p\u0075t"}]}`:                       `{"edits":[{"op":"p\u0075t"}]}`,
		`{"tree":{"left":{"left":{"name":null,"left":null},"name":"x"}}}`: `{"tree":{"left":{"left":{},"name":"x"}}}`,
	} {
		assert.Equal(t, want, string(s.Restore([]byte(input))), input)
	}
	for _, same := range []string{
		`{"must":null,"note":null}`,
		`{"limit":null,"limit":3}`, `{"limit":3,"l\u0069mit":null}`,
		`{"edits":[{"op":"cut","with":null}]}`,
		`{"edits":[{"with":null}]}`, // which branch it is of is not known
		`{"unknown":null}`, `{"must":{"limit":null}}`, `{"limit":{"limit":null}}`, `[{"limit":null}]`, `{"edits":[null]}`,
		`null`, ``, `{"limit":null`, `{"limit":null}}`, `{'limit':null}`, `{"limit":nul}`, "{\"limit\":null,\"x\":\"\xff\"",
		`{"tree":` + strings.Repeat(`{"left":`, 300) + `null` + strings.Repeat(`}`, 300) + `}`,
	} {
		assert.Equal(t, same, string(s.Restore([]byte(same))), same)
	}
	anyValue, _ := rewrite(t, `{"type":"object","properties":{"any":{},"limit":{"type":"integer"}},"required":["any"],"additionalProperties":false}`, dialect.OpenAIStrict)
	assert.False(t, anyValue.Strict)
	for _, same := range []string{`{"any":null}`, `{"any":{"limit":null},"limit":null}`} {
		assert.Equal(t, same, string(anyValue.Restore([]byte(same))), "a model that is not held to the schema leaves out what it leaves out")
	}
	plain, _ := rewrite(t, edits, dialect.OpenAI)
	assert.Equal(t, `{"limit":null}`, string(plain.Restore([]byte(`{"limit":null}`))))
}

// FuzzRestore: what Restore returns is its input without members that are null.
func FuzzRestore(f *testing.F) {
	for _, seed := range []string{
		`{"limit":null,"must":null}`, `{"edits":[{"op":"put","with":null},{"op":"cut","with":null}]}`, `{"tree":{"left":{"name":null}},"limit":9007199254740993}`,
		`{"limit":null,"limit":1}`, `{"a~/b" : null , "must" : "\"}"}`, `{"limit":null`, `[null]`, `{"":null}`,
	} {
		f.Add([]byte(seed))
	}
	s, err := dialect.Rewrite([]byte(edits), dialect.OpenAIStrict)
	if err != nil {
		f.Fatal(err)
	}
	fuzz.Run(f, func(t *testing.T, input []byte) {
		out := s.Restore(input)
		if bytes.Equal(out, input) {
			return
		}
		if !json.Valid(input) || !json.Valid(out) {
			t.Fatalf("%q became %q", input, out)
		}
		rest := out // a part of input, in its order
		for _, b := range input {
			if len(rest) > 0 && rest[0] == b {
				rest = rest[1:]
			}
		}
		if len(rest) > 0 || bytes.Count(input, []byte("null")) <= bytes.Count(out, []byte("null")) {
			t.Fatalf("%q became %q", input, out)
		}
		if again := s.Restore(out); !bytes.Equal(again, out) {
			t.Fatalf("%q became %q, and %q", input, out, again)
		}
	})
}

// FuzzRewrite: any schema is rewritten or refused, and what is strict is in its dialect.
func FuzzRewrite(f *testing.F) {
	f.Add([]byte(edits))
	f.Add([]byte(`{"allOf":[{"$ref":"#/$defs/A"}],"$defs":{"A":{"$ref":"#/$defs/A","type":"object"}}}`))
	f.Add([]byte(`{"$ref":"#","properties":{"a":{"$ref":"#/properties/a"},"b":{"$ref":"#/properties/a","description":"x"}}}`))
	f.Add([]byte(`{"oneOf":[{"$ref":"#/$defs/A"},{"properties":{"k":{"const":1},"v":{"type":"array"}},"required":["k"]}],"$defs":{"A":{"anyOf":[{"$ref":"#"},{"properties":{"k":{"enum":[2]}},"required":["k"]}]}}}`))
	f.Add([]byte(`{"properties":{"a":{"enum":[]},"b":{"const":null},"c":{"type":["null","x"]},"d":{"items":[true,{}]},"e":{"anyOf":[true,false,{}]}}}`))
	for seed := range uint64(10) {
		f.Add([]byte(samples.Random(seed).Schema))
		f.Add([]byte(samples.Complete(seed).Schema))
	}
	fuzz.Run(f, func(t *testing.T, schema []byte) {
		for _, d := range []dialect.Dialect{dialect.OpenAI, dialect.OpenAIStrict, dialect.AnthropicStrict, dialect.Gemini} {
			s, err := dialect.Rewrite(schema, d)
			if err != nil {
				continue
			}
			if !json.Valid(s.JSON) {
				t.Fatalf("%v: %s became %s", d, schema, s.JSON)
			}
			if !s.Strict {
				continue
			}
			again, err := dialect.Rewrite(s.JSON, d)
			if err != nil || !again.Strict || len(again.Nullable) > 0 {
				t.Fatalf("%v: %s became %s, which is not in it: %v %v", d, schema, s.JSON, err, again)
			}
		}
	})
}
