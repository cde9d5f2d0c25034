package dsl

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEmptyObjects holds what is said of objects that JSON Schema takes for any.
func TestEmptyObjects(t *testing.T) {
	f, err := Parse("tools.yaml", []byte(`ambit: v1
package: shop
types:
  Free: {type: object}
tools:
  buy:
    version: 1.0.0
    description: Buy something.
    input:
      type: object
      properties:
        meta: {type: object, description: Anything., minProperties: 0}
        none: {type: object, description: Nothing., properties: {}}
        shut: {type: object, description: Nothing., additionalProperties: false}
        any: {type: object, description: Anything., additionalProperties: true}
        list: {type: array, description: Things., items: {type: [object, "null"]}}
        free: {$ref: "#/types/Free", description: Free.}
    output: {type: object}
    undo: {state: {type: object}}
  pasted:
    version: 1.0.0
    description: Buy something.
    input: {$schema: "http://json-schema.org/draft-07/schema#", type: object}
    output: {$schema: "http://json-schema.org/draft-07/schema#", type: object, properties: {}}
`))
	require.NoError(t, err)
	var out bytes.Buffer
	for _, w := range f.Warnings {
		require.Equal(t, "empty_object", w.Code)
		require.NotEmpty(t, w.Hint)
		out.WriteString(w.Error() + "\n")
	}
	assert.Equal(t, `tools.yaml:4:9: type "Free": an object of which no members are declared has none: only {} fits
tools.yaml:12:15: property "meta": an object of which no members are declared has none: only {} fits
tools.yaml:16:58: items: an object of which no members are declared has none: only {} fits
tools.yaml:23:12: input: an object of which no members are declared has none: only {} fits
`, out.String())
}

// TestAnnotatedFormats holds that a format which a meta-schema makes an annotation is named,
// as any other that is not enforced.
func TestAnnotatedFormats(t *testing.T) {
	const text = `ambit: v1
package: shop
types:
  Free:
    $schema: https://shop.test/free
    format: email
    items: {$id: inner, format: date}
    not: {$id: own, $schema: https://shop.test/strict, format: uri}
    $defs:
      free: {$id: https://shop.test/free, $vocabulary: {https://json-schema.org/draft/2020-12/vocab/validation: true}}
      strict: {$id: https://shop.test/strict, $vocabulary: {https://json-schema.org/draft/2020-12/vocab/format-assertion: true}}
  Usual: {$schema: https://json-schema.org/draft/2020-12/schema, format: email}
  Whole:
    $schema: https://json-schema.org/draft/2020-12/schema
    type: string
    format: email
    $defs: {meta: {$id: https://json-schema.org/draft/2020-12/schema, $vocabulary: {https://json-schema.org/draft/2020-12/vocab/format-annotation: true}}}
tools:
  buy: {version: 1.0.0, description: Buy something., effect: read, input: {}, output: {}}
`
	f, err := Parse("tools.yaml", []byte(text))
	require.NoError(t, err)
	var out bytes.Buffer
	for _, w := range f.Warnings {
		require.Equal(t, "format", w.Code)
		out.WriteString(w.Error() + "\n")
	}
	assert.Equal(t, `tools.yaml:6:13: format "email" is published and not enforced
tools.yaml:7:33: format "date" is published and not enforced
tools.yaml:16:13: format "email" is published and not enforced
`, out.String())
	_, err = Parse("tools.yaml", []byte("formats: strict\n"+text))
	require.ErrorContains(t, err, `tools.yaml:7:13: format "email" is not enforced, and the file says formats: strict`)
}

// TestOddMembersStayClosed: an object whose members have names that no struct has is JSON to
// the handler, and takes no others than it declares, as any object of a declaration.
func TestOddMembersStayClosed(t *testing.T) {
	f, err := Parse("odd-members.yaml", read(t, "testdata/good/odd-members.yaml"))
	require.NoError(t, err)
	for name, closed := range map[string]bool{"y": true, "i": false, "list": false} {
		s := f.Tools[0].Input.property(name).Schema
		if s.Ref != "" {
			s = s.Target.Schema
		}
		require.True(t, s.Checked, name)
		assert.Equal(t, closed, strings.Contains(s.Source.JSON(), `"additionalProperties":false`), name)
	}
	assert.False(t, f.Tools[0].Input.property("x").Schema.Checked)
}

// TestRepeatedValues holds that every enum is taken that says a value twice, with a warning, and by the schema for editors too.
func TestRepeatedValues(t *testing.T) {
	text := []byte(`ambit: v1
package: shop
tools:
  buy:
    version: 1.0.0
    description: Buy something.
    input:
      type: object
      properties:
        a: {description: A., enum: [1, "x", 1]}
        b: {description: B., type: [string, integer], enum: [1, "x", 1.0]}
        c: {description: C., type: string, enum: []}
        d: {description: D., type: integer, enum: [1, 2, 1e0]}
        e: {description: E., enum: [{a: 1, b: 2}, {b: 2, a: 1.0}]}
    output: {type: object, properties: {}}
`)
	f, err := Parse("tools.yaml", text)
	require.NoError(t, err)
	var got []string
	for _, w := range f.Warnings {
		got = append(got, w.Error())
	}
	assert.Equal(t, []string{
		"tools.yaml:10:45: enum holds 1 twice", "tools.yaml:11:70: enum holds 1.0 twice", `tools.yaml:12:50: property "c": an empty enum allows no value`,
		"tools.yaml:13:58: enum holds 1e0 twice", "tools.yaml:14:51: enum holds an object twice",
	}, got)
}
