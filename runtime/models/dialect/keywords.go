package dialect

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ambit-tools/ambit/internal/jsonschema"
)

// annotations say nothing about which values are allowed. A rewritten schema keeps title and description.
var annotations = map[string]bool{
	"title": true, "description": true, "default": true, "examples": true, "deprecated": true, "readOnly": true, "writeOnly": true,
	"$comment": true, "$schema": true, "$id": true, "$defs": true, "definitions": true, "contentEncoding": true, "contentMediaType": true, "contentSchema": true,
}

// told are the annotations that a rewritten schema has in its description.
var told = []string{"default", "examples", "deprecated", "readOnly", "writeOnly", "contentEncoding", "contentMediaType", "contentSchema"}

// annotates reports whether a keyword allows and forbids no value.
func annotates(keyword string) bool { return annotations[keyword] || !assertions[keyword] }

// assertions are the keywords that allow or forbid values. Those that are in no list of checks are
// rewritten by a function of their own.
var assertions = map[string]bool{
	"type": true, "enum": true, "const": true, "$ref": true, "$dynamicRef": true, "$recursiveRef": true,
	"anyOf": true, "oneOf": true, "allOf": true, "not": true, "if": true, "then": true, "else": true,
	"properties": true, "required": true, "additionalProperties": true, "patternProperties": true, "propertyNames": true,
	"minProperties": true, "maxProperties": true, "dependentRequired": true, "dependentSchemas": true, "dependencies": true, "unevaluatedProperties": true,
	"items": true, "prefixItems": true, "additionalItems": true, "contains": true, "minContains": true, "maxContains": true, "minItems": true, "maxItems": true,
	"uniqueItems": true, "unevaluatedItems": true,
	"minLength": true, "maxLength": true, "pattern": true, "format": true,
	"minimum": true, "maximum": true, "exclusiveMinimum": true, "exclusiveMaximum": true, "multipleOf": true,
}

// checks are the keywords that a dialect keeps or describes, by the type that they apply to.
var checks = map[string][]string{
	"string":  {"minLength", "maxLength", "pattern", "format"},
	"number":  {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
	"integer": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
	"array":   {"minItems", "maxItems", "uniqueItems", "contains", "minContains", "maxContains", "unevaluatedItems"},
	"object":  {"minProperties", "maxProperties", "propertyNames", "dependentRequired", "dependentSchemas", "dependencies"},
	"":        {"not", "if", "then", "else", "allOf", "$ref", "$dynamicRef", "$recursiveRef"}, // of any type; the last where they are left
}

// formats are those that OpenAI and Anthropic hold a model to in strict mode. OpenAI does not have
// uri.
var formats = []string{"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid", "uri"}

// keeps reports whether a dialect has a keyword of checks, with that value.
func (d Dialect) keeps(keyword string, v *value) bool {
	text := ""
	if v.Is(jsonschema.String) {
		text = v.Text
	}
	switch d {
	case OpenAIStrict:
		switch keyword {
		case "format":
			return text != "uri" && slices.Contains(formats, text)
		case "pattern":
			return !lookaround(text)
		}
		return slices.Contains(checks["number"], keyword) || slices.Contains([]string{"minLength", "maxLength", "minItems", "maxItems"}, keyword)
	case AnthropicStrict:
		switch keyword {
		case "format":
			return slices.Contains(formats, text)
		case "minItems":
			n, ok := count(v)
			return ok && n <= 1
		}
	case Gemini:
		return slices.Contains([]string{"minimum", "maximum", "minItems", "maxItems", "format"}, keyword)
	}
	return false
}

// lookaround reports whether a regular expression looks ahead or behind.
func lookaround(pattern string) bool {
	for _, group := range []string{"(?=", "(?!", "(?<=", "(?<!"} {
		if strings.Contains(pattern, group) {
			return true
		}
	}
	return false
}

// count returns a number that counts something.
func count(v *value) (int, bool) {
	if !v.Is(jsonschema.Number) {
		return 0, false
	}
	i, err := strconv.Atoi(v.Text)
	return i, err == nil && i >= 0
}

// maxDescribed bounds what a description says of one keyword, in bytes.
const maxDescribed = 240

// A remark collects what the description of a schema says beside its own text.
type remark struct{ said []string }

// add adds a keyword. It reports false when its value is too long to be read.
func (r *remark) add(keyword string, v *value) bool {
	text := jsonschema.JSON(v)
	if len(text) > maxDescribed {
		return false
	}
	r.said = append(r.said, keyword+": "+string(text))
	return true
}

// on adds what was collected to the description of out, in the form in which the vendors' own
// transforms do.
func (r *remark) on(out *value) {
	if len(r.said) == 0 {
		return
	}
	text := out.TextOf("description")
	if text != "" {
		text += "\n\n"
	}
	text += "{" + strings.Join(r.said, ", ") + "}"
	rest := out.Without("title", "description")
	title := out.Get("title")
	out.Members = nil
	if title != nil {
		out.Set("title", title)
	}
	set(out, "description", text)
	out.Members = append(out.Members, rest.Members...)
}

// known are the types of JSON Schema but for null.
var known = []string{"string", "number", "integer", "boolean", "array", "object"}

// types returns the types that s names, and whether null is one of them. Where it names none they
// follow from what else it says.
func types(s *value) (types []string, null bool) {
	switch v := s.Get("type"); {
	case v == nil:
		types = implied(s)
	case v.Is(jsonschema.String):
		types = []string{v.Text}
	default:
		types = s.TextsOf("type")
	}
	types = slices.Clone(types)
	null = slices.Contains(types, "null")
	types = slices.DeleteFunc(types, func(t string) bool { return !slices.Contains(known, t) })
	if slices.Contains(types, "number") {
		types = slices.DeleteFunc(types, func(t string) bool { return t == "integer" })
	}
	slices.Sort(types)
	return slices.Compact(types), null
}

// implied returns the types of the values that s lists, else the one type that its keywords apply to.
func implied(s *value) (types []string) {
	if values, ok := literals(s); ok {
		for _, v := range values {
			types = append(types, typeOf(v))
		}
		return types
	}
	for _, hint := range []struct {
		t        string
		keywords []string
	}{
		{"object", []string{"properties", "required", "additionalProperties", "patternProperties", "minProperties", "maxProperties"}},
		{"array", []string{"items", "prefixItems", "minItems", "maxItems", "uniqueItems"}},
		{"string", checks["string"]},
		{"number", checks["number"]},
	} {
		if slices.ContainsFunc(hint.keywords, s.Has) {
			return []string{hint.t}
		}
	}
	return nil
}

// literals returns the values that s lists by enum, by const, or by both.
func literals(s *value) ([]*value, bool) {
	list := s.ListOf("enum")
	if only := s.Get("const"); only != nil {
		if s.Has("enum") && !holds(list, only) {
			return nil, true
		}
		return []*value{only}, true
	}
	return list, s.Has("enum")
}

// holds reports whether a list has a value.
func holds(list []*value, v *value) bool {
	return slices.ContainsFunc(list, func(have *value) bool { return jsonschema.Equal(have, v) })
}

// isNull reports whether a value is null.
func isNull(v *value) bool { return v.Is(jsonschema.Null) }

// typeOf returns the name of the type of a JSON value.
func typeOf(v *value) string {
	if v.Is(jsonschema.Number) { // 1.0 is an integer too
		if f, err := strconv.ParseFloat(v.Text, 64); err == nil && f != math.Trunc(f) {
			return "number"
		}
		return "integer"
	}
	return [...]string{jsonschema.Null: "null", jsonschema.Bool: "boolean", jsonschema.String: "string", jsonschema.Array: "array", jsonschema.Object: "object"}[v.Kind]
}

// isOf reports whether a value is of a type.
func isOf(v *value, t string) bool {
	have := typeOf(v)
	return have == t || have == "integer" && t == "number"
}
