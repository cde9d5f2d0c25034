package dynamic_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/gen/dynamic/internal/answer"
)

// TestViolationTexts pins what a model reads of a value that may be null, and of a union.
// Every input is one of the corpus, so that TestAgree holds generated code to the same texts.
func TestViolationTexts(t *testing.T) {
	tools, err := dynamic.Tools(parse(t, "agree.yaml"), nil)
	require.NoError(t, err)
	inputs := corpus(t)
	for _, c := range []struct{ tool, text, want string }{
		{"presence", `{"must":"","must_null":"x"}`, "/must_null: type: want integer or null, have string"},
		{"presence", `{"must":"","must_null":1.5}`, "/must_null: type: want integer or null, have 1.5"},
		{"presence", `{"must":"","must_null":1,"may_null":7}`, "/may_null: type: want string or null, have number"},
		{"presence", `{"must":"","must_null":1,"shared_null":[]}`, "/shared_null: type: want string or null, have array"},
		{"presence", `{"must":"","must_null":1,"null_choice":true}`, "/null_choice: type: want number or null, have boolean"},
		{"presence", `{"must":"","must_null":1,"null_object":"a"}`, "/null_object: type: want object or null, have string"},
		{"presence", `{"must":"","must_null":1,"null_array":{}}`, "/null_array: type: want array or null, have object"},
		{"presence", `{"must":"","must_null":1,"null_array":[1]}`, "/null_array/0: type: want boolean or null, have number"},
		{"many", `{"nullable":{"a":"b"}}`, "/nullable/a: type: want integer or null, have string"},
		{"recursive", `{"tree":{"value":1,"maybe":7}}`, "/tree/maybe: type: want object or null, have number"},
		{"checked", `{"count":"a"}`, "/count: type: want integer or null, have (sensitive)"},
		{"checked", `{"mix":null}`, "/mix: type: want boolean or number or string or array or object, have null"},
		{"checked", `{"either":{}}`, `/either/n: required: want a member "n", have nothing`}, // the first byte tells the branch
		{"checked", `{"wide":0}`, "/wide: anyOf: want 10; or 200; or 3000; or 40000; or 500000; or 2 more, have 0"},
		{"checked", `{"queries":7}`, "/queries: type: want string or array or null, have number"},
		{"checked", `{"amount":null}`, "/amount: type: want number or string, have null"},
		{"secrets", `{"hidden_cell":true}`, "/hidden_cell: type: want number or string or null, have (sensitive)"},
		{"secrets", `{"hidden_safe":"abc"}`, "/hidden_safe: minLength: want at least 4 characters, have (sensitive)"},
		{"root_merged", `{"size":1,"other":2}`, `/other: additionalProperties: want only "size", "day", "zone", "of", have "other"`},
		{"root_any", `[]`, "(root): type: want object, have array"},
		{"root_enum", `{"a":2}`, "(root): enum: want one of {\"a\":1}, {\"a\":2,\"b\":[true]}, have object"},
		{"root_const", `{"a":2}`, "(root): const: want {\"a\":1}, have object"},
		{"shorter", `{"exact":["a"]}`, "/exact: minItems: want exactly 2 items, have 1"},
		{"shorter", `{"one":[]}`, "/one: minItems: want at least 1 item, have 0"},
		{"shorter", `{"most":["a",1]}`, "/most: maxItems: want at most 1 item, have 2"},
		{"root_required", `{"b":2}`, `/a: required: want a member "a", have nothing`},
		{"root_ref", `{"s":"a","t":1}`, `(root): anyOf: want a member "n"; or in "t" only "s", have object`},
		{"root_parts", `{"a":1,"name":"n","c":3}`, "/c: type: want boolean, have number"},
		{"loops", `{"loop":[[[[],[],[]]]]}`, "/loop/0/0: maxItems: want at most 2 items, have 3"},
		{"loops", `{"nest":{"a":{"b":{"c":1}}}}`, "/nest/a/b/c: type: want object, have number"},
		{"loops", `{"knots":[[{"a":[{"b":[1]}]}]]}`, "/knots/0/0/a/0/b/0: type: want object, have number"},
		{"alike", `{"ID":"a"}`, "/ID: minLength: want at least 2 characters, have 1"},
		{"alike", `{"data_style":{"a":1}}`, `/data_style/a: additionalProperties: want only "b", have "a"`},
		{"odd", `{"names":{"":"x"}}`, "/names/: type: want integer, have string"},
		{"odd", `{"names":{"other":1}}`, "/names/other: additionalProperties: want only \"\", \"a\\nb\", have \"other\""},
		{"odd", `{"big":4}`, "/big: enum: want one of 18446744073709551616, 3, have 4"},
		{"formats_by_dialect", `{"note":"text"}`, "/note: not: want another value than the schema of not describes, have \"text\""},
		{"formats_by_dialect", `{"limit":"no date"}`, "/limit: format: want date, have \"no date\""},
		{"named", `{"scores":{"a":1,"c":3}}`, `/scores/b: required: want a member "b", have nothing`},
		{"named", `{"scores":{"a":"x"}}`, `/scores/a: type: want integer, have string`},
		{"named", `{"secrets":{"other":"o"}}`, `/secrets: required: want a member "key", have (sensitive)`},
		{"named", `{"inner":[{"d":2}]}`, `/inner/0/c: required: want a member "c", have nothing`},
		{"required_default", `{}`, `/a: required: want a member "a", have nothing`},
	} {
		assert.True(t, slices.ContainsFunc(inputs, func(in answer.Input) bool { return in.Tool == c.tool && string(in.Text) == c.text }), "%s is not in the corpus", c.text)
		got := answer.To(tools, c.tool, []byte(c.text))
		if assert.Len(t, got.Violations, 1, c.text) {
			assert.Equal(t, c.want, got.Violations[0].String())
		}
	}
}

// TestSecretUnionShowsNothing: nothing that a secret union holds is in a violation, in a
// token that is not marked, or in a pointer.
func TestSecretUnionShowsNothing(t *testing.T) {
	tools, err := dynamic.Tools(parse(t, "agree.yaml"), nil)
	require.NoError(t, err)
	seen := 0
	for _, in := range corpus(t) {
		if in.Tool != "secrets" || !strings.Contains(string(in.Text), `"hidden_mixed":`) && !strings.Contains(string(in.Text), `"hidden_safe":`) && !strings.Contains(string(in.Text), `"hidden_mixes":`) {
			continue
		}
		seen++
		got := answer.To(tools, in.Tool, in.Text)
		for _, bad := range got.Violations {
			assert.NotContains(t, bad.String(), "hunter2")
			assert.NotContains(t, bad.String(), "topsecret")
		}
		for _, token := range got.Walk {
			if strings.Contains(token, "topsecret") || strings.Contains(token, "1234") {
				assert.Contains(t, token, "sensitive")
			}
		}
	}
	assert.Greater(t, seen, 6)
}
