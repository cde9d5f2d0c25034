package importer_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/importer"
	"github.com/ambit-tools/ambit/internal/importer/normalize"
)

// over imports arguments, marks in the declaration what edit says, and imports others over it.
func over(t *testing.T, before, after string, edit func(string) string) (edited string, r *importer.Result) {
	t.Helper()
	first, err := importer.MCP(list(t, before), options)
	require.NoError(t, err)
	require.Empty(t, first.Left)
	o := options
	edited = edit(string(first.Text))
	require.NotEqual(t, string(first.Text), edited)
	o.Over = []byte(edited)
	r, err = importer.MCP(list(t, after), o)
	require.NoError(t, err, edited)
	return edited, r
}

// TestOverKeepsMarks: x-sensitive stays at a schema of any shape when the source has not changed.
func TestOverKeepsMarks(t *testing.T) {
	for _, schema := range []string{
		`{"type":"string","description":"MARK"}`,
		`{"description":"MARK"}`,
		`{"description":"MARK","anyOf":[{"type":"string"},{"type":"integer"}]}`,
		`{"description":"MARK","oneOf":[{"type":"string","minLength":2},{"type":"string","maxLength":3}]}`,
		`{"anyOf":[{"type":"integer"},{"type":"string","description":"MARK"}],"description":"A."}`,
		`{"description":"MARK","enum":[1,"x"]}`,
		`{"description":"MARK","type":["string","integer"]}`,
		`{"description":"MARK","not":{"type":"string"}}`,
		`{"description":"MARK","$ref":"#/$defs/S"}`,
		`{"description":"MARK","allOf":[{"$ref":"#/$defs/S"},{"minLength":2}]}`,
		`{"description":"A.","type":"array","items":{"description":"MARK"}}`,
		`{"description":"A.","type":"array","items":{"description":"MARK","$ref":"#/$defs/S"}}`,
		`{"description":"A.","type":"array","prefixItems":[{"description":"MARK","type":"string"},{"type":"string"}],"items":false,"minItems":2}`,
		`{"description":"A.","type":"object","additionalProperties":{"description":"MARK","type":"string"}}`,
		`{"description":"A.","$ref":"#/$defs/MARKED"}`,
		`{"description":"A.","type":"object","properties":{"b":{"description":"MARK","allOf":[{"minLength":1},{"minLength":2}]}}}`,
	} {
		arguments := `{"type":"object","properties":{"a":` + schema + `},"$defs":{"S":{"type":"string","description":"S."},"MARKED":{"type":"string","description":"MARK"}}}`
		edited, again := over(t, arguments, arguments, func(text string) string { return mark(text, "MARK") })
		assert.Empty(t, again.Left, schema)
		assert.Equal(t, edited, string(again.Text), schema)

		more := strings.Replace(arguments, `"properties":{"a"`, `"properties":{"z":{"type":"string","description":"New."},"a"`, 1)
		_, again = over(t, arguments, more, func(text string) string { return mark(text, "MARK") })
		assert.Empty(t, again.Left, schema)
		assert.Equal(t, 1, strings.Count(string(again.Text), "x-sensitive: true"), "%s\n%s", schema, again.Text)
		assert.True(t, sensitive(t, again, "a"), schema)
	}
}

// mark writes x-sensitive behind a description.
func mark(text, description string) string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		out = append(out, line)
		if at := strings.Index(line, `description: "`+description+`"`); at >= 0 {
			out = append(out, strings.Repeat(" ", at)+"x-sensitive: true")
		}
	}
	return strings.Join(out, "\n")
}

// sensitive reports whether a member of the first tool is, or something inside of it.
func sensitive(t *testing.T, r *importer.Result, name string) bool {
	t.Helper()
	for _, p := range read(t, r).Tools[0].Input.Properties {
		if text, err := json.Marshal(p.Schema); p.Name == name && err == nil {
			return p.Schema.Sensitive || strings.Contains(string(text), `"Sensitive":true`)
		}
	}
	return false
}

// TestOverMovesMarks: a mark goes with its schema where the source writes it in another place, or
// the tool is left out.
func TestOverMovesMarks(t *testing.T) {
	const secret = `{"type":"string","description":"MARK"}`
	const tagged = `{"type":"object","properties":{"k":{"const":"%s","description":"K."},"v":{"type":"string","description":"%s"}},"required":["k"]}`
	in := func(schema string) string {
		return `{"type":"object","properties":{"a":` + schema + `},"$defs":{"S":` + secret + `}}`
	}
	for name, c := range map[string]struct {
		before, after string
		left          bool
	}{
		"inline to definition": {in(secret), in(`{"$ref":"#/$defs/S"}`), false},
		"definition to inline": {in(`{"$ref":"#/$defs/S"}`), in(secret), false},
		"branches turned": {
			in(`{"description":"A.","oneOf":[` + fmt.Sprintf(tagged, "x", "MARK") + `,` + fmt.Sprintf(tagged, "y", "V.") + `]}`),
			in(`{"description":"A.","oneOf":[` + fmt.Sprintf(tagged, "y", "V.") + `,` + fmt.Sprintf(tagged, "x", "MARK") + `]}`), false,
		},
		"branch gone": {
			in(`{"description":"A.","anyOf":[{"type":"integer"},{"type":"array","items":` + secret + `}]}`),
			in(`{"description":"A.","anyOf":[{"type":"integer"},{"type":"boolean"}]}`), true,
		},
		"items gone":  {in(`{"description":"A.","type":"array","items":` + secret + `}`), in(`{"type":"string","description":"A."}`), true},
		"member gone": {in(secret), `{"type":"object","properties":{"b":{"type":"string","description":"B."}}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			edited, r := over(t, c.before, c.after, func(text string) string { return mark(text, "MARK") })
			if c.left {
				require.Len(t, r.Left, 1)
				assert.Contains(t, r.Left[0].Reason, "x-sensitive in line")
				assert.Empty(t, r.Stay, "the source lists it")
				return
			}
			require.Empty(t, r.Left)
			gone := 0
			for _, change := range r.Changes {
				if change.Kind == importer.Unmarked {
					gone++
				}
			}
			if name == "member gone" {
				assert.Equal(t, 1, gone)
				return
			}
			assert.Zero(t, gone)
			assert.True(t, sensitive(t, r, "a"), "%s", r.Text)
			unmarked := mark(strings.ReplaceAll(string(r.Text), "x-sensitive: true", ""), "MARK")
			assert.GreaterOrEqual(t, strings.Count(string(r.Text), "x-sensitive"), strings.Count(unmarked, "x-sensitive"), "%s", r.Text)
			if name == "branches turned" {
				_, v, _ := strings.Cut(string(r.Text), `description: "V."`)
				v, _, _ = strings.Cut(v, "- type: object")
				assert.NotContains(t, v, "x-sensitive", "the mark is that of the other branch\n%s", edited)
			}
		})
	}
}

// TestOverStrictFormats: a format that is an annotation is dropped where the declaration takes none.
func TestOverStrictFormats(t *testing.T) {
	schema := member(`{"type":"string","description":"A.","format":"regex"}`)
	edited, r := over(t, schema, schema, func(text string) string {
		return strings.Replace(strings.Replace(text, "package: imported\n", "package: imported\nformats: strict\n", 1), "          format: \"regex\"\n", "", 1)
	})
	require.Empty(t, r.Left)
	assert.Equal(t, edited, string(r.Text))
	dropped := false
	for _, c := range r.Changes {
		dropped = dropped || c.Kind == normalize.FormatDropped
	}
	assert.True(t, dropped)
}
