package dsl

import (
	"bytes"
	"encoding/json"
	"go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestGoName(t *testing.T) {
	for name, want := range map[string]string{
		"path": "Path", "file_read": "FileRead", "file_id": "FileID", "id": "ID", "httpURL": "HTTPURL", "HTTPServer": "HTTPServer",
		"maxSize": "MaxSize", "MAX_SIZE": "MaxSize", "user-ids": "UserIDs", "ipv4": "IPv4", "sha256_sum": "Sha256Sum", "a.b c": "ABC",
		"2nd": "X2nd", "$": "X24", "-_": "X2D5F", "type": "Type", "日本": "X日本", "ß": "Xß", "ünder": "Ünder", "uuid4": "Uuid4", "x__y": "XY", "json": "JSON",
	} {
		got := GoName(name)
		assert.Equal(t, want, got, name)
		assert.True(t, token.IsIdentifier(got) && token.IsExported(got), "%s: %s", name, got)
	}
}

func TestValueJSON(t *testing.T) {
	src := strings.Replace(string(read(t, "testdata/good/minimal.yaml")), "input: {type: object}",
		`input: {type: object, additionalProperties: true, default: {s: "a\"\\\n\u2028\x01<é>", n: -1.50e3, t: true, z: null, a: [1, {}, []]}}`, 1)
	f, err := Parse("tools.yaml", []byte(src))
	require.NoError(t, err)
	got := f.Tools[0].Input.Default.JSON()
	assert.Equal(t, `{"s":"a\"\\\n\u2028\u0001<é>","n":-1.50e3,"t":true,"z":null,"a":[1,{},[]]}`, got)
	assert.True(t, json.Valid([]byte(got)))
}

func TestModel(t *testing.T) {
	f, err := Parse("schemas.yaml", read(t, "testdata/good/schemas.yaml"))
	require.NoError(t, err)
	in := f.Tools[0].Input
	assert.Equal(t, Pos{File: "schemas.yaml", Line: 3, Col: 1}, f.PackagePos)
	target := in.property("target").Schema
	require.Same(t, f.Types[1], target.Target)
	assert.Equal(t, "kind", f.Types[1].Schema.Tag)
	maybe := in.property("maybe").Schema
	assert.True(t, maybe.Nullable)
	assert.Len(t, maybe.Enum, 2, "null is not kept")
	assert.Equal(t, Pos{File: "schemas.yaml", Line: 53, Col: 9}, in.property("y").Pos)
	assert.Equal(t, "-9223372036854775808", in.property("y").Schema.Minimum)
	assert.False(t, in.property("open").Schema.Closed)
	assert.Equal(t, TypeInteger, in.property("labels").Schema.Additional.Type)
	assert.Len(t, in.Defs[0].Schema.PrefixItems, 2)
	assert.Equal(t, "A description over two lines: with a colon.", f.Tools[0].Description)
}

func TestRules(t *testing.T) {
	f, err := Parse("rules.yaml", read(t, "testdata/good/rules.yaml"))
	require.NoError(t, err)
	assert.Equal(t, 200, f.Rules.MaxCalls)
	assert.Equal(t, 3, f.Tools[0].Rules.MaxCalls)
	assert.Equal(t, []string{"first"}, f.Tools[1].Rules.RequiresPreceding)
	assert.Equal(t, []string{"a", "b"}, f.Tools[1].Rules.ExclusiveGroups)
	assert.True(t, f.Tools[2].Rules.AnyPreceding)
}

// TestLaterStages shows how a later stage reports a fault of its own.
func TestLaterStages(t *testing.T) {
	f, err := Parse("tools.yaml", read(t, "testdata/good/minimal.yaml"))
	require.NoError(t, err)
	at := f.Tools[0].Keys["input"]
	d := f.Diagnostic(at, "write less", "input is %s", "too long")
	err = Diagnostics{d, f.Diagnostic(Pos{}, "", "first"), d}.Err()
	require.EqualError(t, err, "tools.yaml:1:1: first\ntools.yaml:7:5: input is too long")
	var out bytes.Buffer
	d.Format(&out)
	assert.Equal(t, "tools.yaml:7:5: input is too long\n    7 |     input: {type: object}\n      |     ^\nhint: write less\n", out.String())
	require.NoError(t, Diagnostics(nil).Err())
}

func TestExcerpt(t *testing.T) {
	text, caret := excerpt("\ta\tb", 4)
	assert.Equal(t, "    a   b", text)
	assert.Equal(t, 8, caret)
	text, caret = excerpt("日本語", 4)
	assert.Equal(t, "日本語", text)
	assert.Equal(t, 3, caret, "after the end")
	text, _ = excerpt("a\x1b[31m\u202eb", 1)
	assert.Equal(t, "a\ufffd[31m\ufffdb", text, "nothing that a terminal obeys")
	text, caret = excerpt(strings.Repeat("x", 500)+"!"+strings.Repeat("y", 500), 501)
	assert.Len(t, []rune(text), excerptWidth)
	assert.Equal(t, '!', []rune(text)[caret])
}

func TestSuggestions(t *testing.T) {
	assert.Equal(t, "effect", closest("efect", []string{"effect", "every"}))
	assert.Equal(t, "max_calls", closest("MaxCalls", []string{"max_calls", "must_precede"}))
	assert.Equal(t, "", closest("zzz", []string{"effect"}))
	assert.Equal(t, 1, distance("tpye", "type"))
}

// TestMembersThatNothingFits: a member that must not be there needs no description.
func TestMembersThatNothingFits(t *testing.T) {
	f, err := Parse("tools.yaml", declaring("false"))
	require.NoError(t, err)
	assert.True(t, f.Tools[0].Input.Properties[0].Schema.Checked)
	_, err = Parse("tools.yaml", declaring("true"))
	assert.ErrorContains(t, err, "has no description")
}

// TestUnionsThatLeadBack: reading ends where a branch of a union is the union itself. No value can be
// held against such a schema, which package gen says.
func TestUnionsThatLeadBack(t *testing.T) {
	for _, x := range []string{
		`{anyOf: [{$ref: "#/types/X"}, {type: string}]}`, `{oneOf: [{$ref: "#/types/Y"}, {type: string}]}`, `{anyOf: [{$ref: "#/types/Y"}, {type: "null"}]}`,
	} {
		src := strings.Replace(string(declaring(`{description: X., $ref: "#/types/X"}`)), "tools:",
			"types:\n  X: "+x+"\n  Y: {oneOf: [{$ref: \"#/types/X\"}, {type: integer}]}\ntools:", 1)
		f, err := Parse("tools.yaml", []byte(src))
		require.NoError(t, err, x)
		assert.True(t, f.Types[0].Schema.Checked, x)
	}
}
