package dialect

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
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

// byNames are the keywords whose value has a schema for each of its names.
var byNames = map[string]bool{
	"properties": true, "patternProperties": true, "$defs": true, "definitions": true, "dependentSchemas": true, "dependencies": true,
}

// holdsSchemas reports whether the value of a keyword is a schema, or a list of schemas.
func holdsSchemas(keyword string) bool {
	return assertions[keyword] && !byNames[keyword] && !slices.Contains([]string{"enum", "const", "required", "dependentRequired"}, keyword)
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
func (d Dialect) keeps(keyword string, value any) bool {
	text, _ := value.(string)
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
			n, ok := count(value)
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
func count(v any) (int, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	i, err := strconv.Atoi(n.String())
	return i, err == nil && i >= 0
}

// maxDescribed bounds what a description says of one keyword, in bytes.
const maxDescribed = 240

// A remark collects what the description of a schema says beside its own text.
type remark struct{ said []string }

// add adds a keyword. It reports false when its value is too long to be read.
func (r *remark) add(keyword string, value any) bool {
	text, err := encode(value)
	if err != nil || len(text) > maxDescribed {
		return false
	}
	r.said = append(r.said, keyword+": "+string(text))
	return true
}

// on adds what was collected to the description of out, in the form in which the vendors' own
// transforms do.
func (r *remark) on(out *object) {
	if len(r.said) == 0 {
		return
	}
	text := out.text("description")
	if text != "" {
		text += "\n\n"
	}
	text += "{" + strings.Join(r.said, ", ") + "}"
	rest := out.without("title", "description")
	title, ok := out.get("title")
	out.members = nil
	if ok {
		out.set("title", title)
	}
	out.set("description", text)
	out.members = append(out.members, rest.members...)
}

// known are the types of JSON Schema but for null.
var known = []string{"string", "number", "integer", "boolean", "array", "object"}

// types returns the types that s names, and whether null is one of them. Where it names none they
// follow from what else it says.
func (s *object) types() (types []string, null bool) {
	v, ok := s.get("type")
	switch v := v.(type) {
	case string:
		types = []string{v}
	case []any:
		types = s.strings("type")
	}
	if !ok {
		types = s.implied()
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
func (s *object) implied() (types []string) {
	if values, ok := s.literals(); ok {
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
		if slices.ContainsFunc(hint.keywords, s.has) {
			return []string{hint.t}
		}
	}
	return nil
}

// literals returns the values that s lists by enum, by const, or by both.
func (s *object) literals() ([]any, bool) {
	v, ok := s.get("enum")
	list, _ := v.([]any)
	if only, constant := s.get("const"); constant {
		if ok && !slices.ContainsFunc(list, func(v any) bool { return equal(v, only) }) {
			return nil, true
		}
		return []any{only}, true
	}
	return list, ok
}

// typeOf returns the name of the type of a JSON value.
func typeOf(v any) string {
	switch v := v.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case json.Number: // 1.0 is an integer too
		if f, err := v.Float64(); err == nil && f != math.Trunc(f) {
			return "number"
		}
		return "integer"
	case nil:
		return "null"
	case []any:
		return "array"
	}
	return "object"
}

// isOf reports whether a value is of a type.
func isOf(v any, t string) bool {
	have := typeOf(v)
	return have == t || have == "integer" && t == "number"
}
