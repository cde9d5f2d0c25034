package redact

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/internal/jsonedit"
	"github.com/ambit-tools/ambit/runtime/internal/walk"
	"github.com/ambit-tools/ambit/runtime/wire"
)

func secret(text string) wire.Value {
	return walk.Tokens{{Kind: wire.KindString, Str: text, Sensitive: true}}
}

func TestTextsLoseWhatWasCollected(t *testing.T) {
	var s Secrets
	s.Collect(func() wire.Value { return secret("long secret") })
	s.Collect(func() wire.Value { return secret("secret") })
	s.Collect(func() wire.Value { return nil })
	s.Collect(func() wire.Value { panic("broken") })
	assert.Equal(t, "a (sensitive), a (sensitive)", s.Redact("a secret, a long secret"))
	s.Collect(func() wire.Value { return secret("abc") })
	assert.Equal(t, withheld, s.Redact("abcd"), "what is left of a text could tell a short secret")
}

func TestPlacesOfASchema(t *testing.T) {
	s := ParseSchema(`{
		"type": "object", "additionalProperties": false,
		"properties": {"a": {"$ref": "#/$defs/a"}, "list": {"type": "array", "prefixItems": [{}], "items": false}, "open": {"type": "object"}, "named": {"$ref": "#/$defs/b%20c~1d"}, "far": {"$ref": "#/$defs/a/properties/a"}},
		"$defs": {"b c/d": {"type": "object", "additionalProperties": false}, "a": {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "additionalProperties": false}}}`)
	require.NotNil(t, s)
	for pointer, want := range map[string]Place{
		"": PlaceDeclared, "/a": PlaceDeclared, "/a/a/a": PlaceDeclared, "/a/b": PlaceNone, "/b": PlaceNone,
		"/list/0": PlaceDeclared, "/list/1": PlaceNone, "/list/x": PlaceNone, "/open/b": PlaceOpen,
		"/named": PlaceDeclared, "/named/x": PlaceNone, "/far/x": PlaceOpen,
	} {
		p, err := jsonedit.Parse(pointer)
		require.NoError(t, err)
		assert.Equal(t, want, s.Place(p), pointer)
	}
	assert.Nil(t, ParseSchema("{"))
	circle := ParseSchema(`{"$ref": "#"}`)
	assert.Equal(t, PlaceNone, circle.Place(jsonedit.Pointer{"a"}), "a schema that refers to itself allows nothing")
}
