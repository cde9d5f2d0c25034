package normalize

import (
	"slices"
	"strings"
	"unicode"

	"github.com/ambit-tools/ambit/internal/jsonschema"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// vocabulary are the keywords of draft 2020-12 that a declaration reads or refuses, by
// what they constrain; those of "" hold for every type.
var vocabulary = map[string]string{
	"$ref": "", "$defs": "", "$dynamicRef": "", "$dynamicAnchor": "", "$vocabulary": "", "$schema": "", "$id": "", "$anchor": "",
	"$comment": "", "readOnly": "", "writeOnly": "", "contentEncoding": "string", "contentMediaType": "string", "x-mcp-header": "",
	"title": "", "description": "", "deprecated": "", "examples": "", "default": "", "x-sensitive": "",
	"type": "", "enum": "", "const": "", "allOf": "", "anyOf": "", "oneOf": "", "not": "", "if": "", "then": "", "else": "",
	"properties": "object", "required": "object", "additionalProperties": "object", "minProperties": "object", "maxProperties": "object",
	"patternProperties": "object", "propertyNames": "object", "dependentRequired": "object", "dependentSchemas": "object",
	"dependencies": "object", "unevaluatedProperties": "object",
	"items": "array", "prefixItems": "array", "uniqueItems": "array", "minItems": "array", "maxItems": "array",
	"contains": "array", "minContains": "array", "maxContains": "array", "unevaluatedItems": "array",
	"pattern": "string", "format": "string", "minLength": "string", "maxLength": "string",
	"minimum": "number", "maximum": "number", "exclusiveMinimum": "number", "exclusiveMaximum": "number", "multipleOf": "number",
}

// annotations removes what says nothing about values, and puts texts right.
func (w *work) annotations(s *jsonschema.Value) {
	if ex := s.Get("example"); ex != nil && !s.Has("examples") {
		s.Rename("example", "examples")
		s.Set("examples", jsonschema.NewArray(ex, ex))
		w.note(ExamplesChanged, ex, "example became examples")
	}
	types := typesOf(s)
	for _, name := range s.Names() {
		at := s.Get(name)
		of, known := vocabulary[name]
		switch {
		case name == "nullable" && at.IsTrue() && !slices.Contains(types, "null"):
			s.Delete(name)
			w.note(KeywordDropped, at, "nullable removed: in OpenAPI 3.0 it lets null through, in JSON Schema it does not, so null is refused; "+
				"where null is meant, the source has to say type: [T, \"null\"]")
		case !known:
			s.Delete(name)
			w.note(KeywordDropped, at, "%s removed: it says nothing about values", shown(name))
		case of != "" && len(types) > 0 && !slices.Contains(types, of):
			s.Delete(name)
			w.note(NoEffect, at, "%s removed: it says nothing about type %s", name, typeText(s))
		}
	}
	for _, name := range []string{"title", "description"} {
		w.text(s, name)
	}
	for _, name := range []string{"$comment", "contentEncoding", "contentMediaType", "x-mcp-header"} {
		if at := s.Get(name); at != nil && !at.Is(jsonschema.String) {
			s.Delete(name)
			w.note(KeywordDropped, at, "%s removed: it is no text", name)
		}
	}
	for _, name := range []string{"deprecated", "x-sensitive", "readOnly", "writeOnly"} {
		if at := s.Get(name); at != nil && !at.Is(jsonschema.Bool) {
			s.Delete(name)
			w.note(KeywordDropped, at, "%s removed: it is no boolean", name)
		}
	}
	if at := s.Get("x-sensitive"); at.IsTrue() {
		w.note(Sensitive, at, "security: the source marks this as sensitive, so approvers and logs do not see its value")
	}
	if ex := s.Get("examples"); ex != nil && (!ex.Is(jsonschema.Array) || len(ex.Items) == 0) {
		s.Delete("examples")
		w.note(ExamplesChanged, ex, "examples removed: they are no list of values")
	}
	w.format(s)
	w.patterns(s)
}

// patterns writes the patterns of a schema as ECMA-262 has them with the flag u. What is no pattern then either stays for the declaration
// to refuse.
func (w *work) patterns(s *jsonschema.Value) {
	respelled := func(pattern string, at *jsonschema.Value) string {
		if _, err := wire.CompilePattern(pattern); err == nil {
			return pattern
		}
		spelling, ok := wire.RespellPattern(pattern)
		if !ok {
			return pattern
		}
		w.note(PatternRespelled, at, "pattern %s is written %s", shown(pattern), shown(spelling))
		return spelling
	}
	if at := s.Get("pattern"); at.Is(jsonschema.String) {
		s.Set("pattern", jsonschema.NewString(respelled(at.Text, at), at))
	}
	for _, m := range members(s, "patternProperties") {
		if name := respelled(m.Name, m.Value); !s.Get("patternProperties").Has(name) {
			m.Name = name
		}
	}
}

// format notes of a format that a declaration enforces that it becomes a check, and removes it where
// nothing may be narrowed. Other formats stay what they are: annotations.
func (w *work) format(s *jsonschema.Value) {
	f := s.Get("format")
	if f == nil {
		return
	}
	switch _, enforced := wire.ParseFormat(f.Text); {
	case !f.Is(jsonschema.String), enforced && w.exact[s]:
		s.Delete("format")
		w.note(FormatDropped, f, "format %s removed", shown(f.Text))
	case enforced:
		w.note(FormatEnforced, f, "format %s is enforced", f.Text)
	}
}

// text cleans a text for people.
func (w *work) text(s *jsonschema.Value, name string) {
	at := s.Get(name)
	if at == nil {
		return
	}
	if !at.Is(jsonschema.String) {
		s.Delete(name)
		w.note(KeywordDropped, at, "%s removed: it is no text", name)
		return
	}
	if at.Broken {
		w.note(TextCleaned, at, "half of a surrogate pair became U+FFFD in %s", name)
	}
	switch clean := Clean(at.Text); {
	case clean == at.Text:
	case clean == "":
		s.Delete(name)
		w.note(TextCleaned, at, "%s removed: it is blank", name)
	default:
		s.Set(name, jsonschema.NewString(clean, at))
		if clean != strings.TrimSpace(at.Text) {
			w.note(TextCleaned, at, "control characters removed from %s", name)
		}
	}
}

// Clean is a text for people without characters that a declaration refuses or that make it
// look like another text, and without blanks around it.
func Clean(text string) string {
	return strings.TrimSpace(strings.Map(func(c rune) rune {
		switch {
		case c == '\n' || c == '\t':
			return c
		case c == '\r', unicode.IsControl(c), c == 0xfeff, c == 0x200e, c == 0x200f, c >= 0x202a && c <= 0x202e, c >= 0x2066 && c <= 0x2069:
			return -1
		case c == 0x2028, c == 0x2029:
			return '\n'
		}
		return c
	}, text))
}

// describe fills in the descriptions that members lack. A reference may leave its own to
// what it leads to.
func (w *work) describe(s *jsonschema.Value) {
	for _, m := range members(s, "properties") {
		p := m.Value
		if p.Is(jsonschema.Bool) {
			m.Value = jsonschema.NewObject(p)
			if !p.Bool {
				m.Value.Set("not", jsonschema.NewObject(p))
			}
			p = m.Value
		}
		if !p.Is(jsonschema.Object) || p.Has("description") || w.target(p).Has("description") {
			continue
		}
		text := jsonschema.NewString(describing(m.Name, p), p)
		text.Comment = Filled
		p.Members = slices.Insert(p.Members, min(1, len(p.Members)), &jsonschema.Member{Name: "description", Value: text})
		w.note(DescriptionFilled, p, "member %s has no description: %q filled in", shown(m.Name), text.Text)
	}
	for _, sub := range subschemas(s) {
		w.describe(sub)
	}
}

// Filled is the comment behind a description that the import wrote.
const Filled = "filled in by ambit import"

// describing is the title of a member, or the words of its name.
func describing(name string, s *jsonschema.Value) string {
	if title := s.Get("title"); title.Is(jsonschema.String) {
		return title.Text
	}
	var b strings.Builder
	lower := false
	for _, c := range name {
		switch {
		case !unicode.IsLetter(c) && !unicode.IsDigit(c):
			c = ' '
		case unicode.IsUpper(c) && lower:
			b.WriteByte(' ')
		}
		lower = unicode.IsLower(c)
		b.WriteRune(unicode.ToLower(c))
	}
	if words := strings.Join(strings.Fields(b.String()), " "); words != "" {
		return words
	}
	return "member " + Clean(name)
}

// typesOf are the types that a schema lists, integer as number as well.
func typesOf(s *jsonschema.Value) []string {
	var out []string
	add := func(v *jsonschema.Value) {
		if !v.Is(jsonschema.String) {
			return
		}
		out = append(out, v.Text)
		if v.Text == "integer" {
			out = append(out, "number")
		}
	}
	t := s.Get("type")
	add(t)
	if t.Is(jsonschema.Array) {
		for _, item := range t.Items {
			add(item)
		}
	}
	return out
}

// typeText are the types that a schema lists, for people.
func typeText(s *jsonschema.Value) string {
	t := s.Get("type")
	if !t.Is(jsonschema.Array) {
		return t.Text
	}
	var out []string
	for _, item := range t.Items {
		out = append(out, item.Text)
	}
	return strings.Join(out, ", ")
}

// shown is a name of the source in a message: hostile text in quotes, and not too long.
func shown(name string) string {
	if len(name) > 64 {
		name = strings.ToValidUTF8(name[:64], "") + "..."
	}
	if strings.ContainsFunc(name, func(c rune) bool { return unicode.IsControl(c) || unicode.IsSpace(c) || unicode.Is(unicode.Cf, c) }) || name == "" {
		return quote(name)
	}
	return name
}
