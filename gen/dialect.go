package gen

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen/internal/ir"
	"github.com/ambit-tools/ambit/runtime/models/dialect"
)

// A ToolSchema is the input schema of a tool in a dialect.
type ToolSchema struct {
	Tool   *dsl.Tool
	Schema *dialect.Schema

	// At are where the notes of Schema are in the declaration, in their order.
	At []dsl.Pos
}

// Schemas returns the input schemas of all tools in a dialect. The error is a [dsl.Diagnostics]
// when the declaration cannot be generated.
func Schemas(f *dsl.File, d dialect.Dialect) ([]ToolSchema, error) {
	p, err := ir.Build(f)
	if err != nil {
		return nil, err
	}
	var out []ToolSchema
	for _, t := range p.Tools {
		s, err := dialect.Rewrite(t.InputSchema, d)
		if err != nil {
			return nil, err
		}
		ts := ToolSchema{Tool: t.Decl, Schema: s}
		for _, n := range s.Notes {
			ts.At = append(ts.At, place(f, t.Decl, n))
		}
		out = append(out, ts)
	}
	return out, nil
}

// DialectFiles returns the input schemas of all tools in a dialect as files, below schemas and the
// name of the dialect. The error is that of [Schemas].
func DialectFiles(f *dsl.File, d dialect.Dialect) ([]OutputFile, error) {
	tools, err := Schemas(f, d)
	if err != nil {
		return nil, err
	}
	var files []OutputFile
	for _, t := range tools {
		var content bytes.Buffer
		if err := json.Indent(&content, t.Schema.JSON, "", "  "); err != nil {
			return nil, err
		}
		content.WriteByte('\n')
		files = append(files, OutputFile{"schemas/" + d.String() + "/" + t.Tool.Name + ".input.json", content.Bytes()})
	}
	return files, nil
}

// place returns where a note about the published input of a tool is in the declaration: at the
// keyword, else at the schema that has it, else at the tool.
func place(f *dsl.File, t *dsl.Tool, n dialect.Note) dsl.Pos {
	at, s := t.Pos, t.Input
	if s != nil {
		at = s.Pos
	}
	tokens := strings.Split(n.At, "/")[1:]
	for len(tokens) > 0 && s != nil {
		for s.Ref != "" && s.Target != nil {
			s = s.Target.Schema
			at = s.Pos
		}
		next, rest := below(f, t, s, tokens)
		if next == nil && s.Source != nil {
			return inside(s.Source, s.Pos, tokens, n.Keyword)
		}
		if s, tokens = next, rest; s != nil {
			at = s.Pos
		}
	}
	if s == nil {
		return at
	}
	if pos, ok := s.Keys[n.Keyword]; ok {
		return pos
	}
	if s.Source != nil {
		return inside(s.Source, at, nil, n.Keyword)
	}
	return at
}

// inside returns where the keyword is of what the tokens of a pointer lead to from v, which is at
// a place; as far as they lead.
func inside(v *dsl.Value, at dsl.Pos, tokens []string, keyword string) dsl.Pos {
	for _, token := range append(slices.Clone(tokens), keyword) {
		name := strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		i := slices.IndexFunc(v.Members, func(m *dsl.ValueMember) bool { return m.Name == name })
		n, err := strconv.Atoi(name)
		switch {
		case i >= 0:
			at, v = v.Members[i].Pos, v.Members[i].Value
		case err == nil && 0 <= n && n < len(v.Items):
			at, v = v.Items[n].Pos, v.Items[n]
		default:
			return at
		}
	}
	return at
}

// below returns the schema that the first tokens of a pointer lead to from s, nil where that is not
// in the declaration, and the rest of the pointer.
func below(f *dsl.File, t *dsl.Tool, s *dsl.Schema, tokens []string) (*dsl.Schema, []string) {
	keyword, rest := tokens[0], tokens[1:]
	switch keyword {
	case "items":
		return s.Items, rest
	case "additionalProperties":
		return s.Additional, rest
	}
	if len(rest) == 0 {
		return nil, nil
	}
	name := strings.NewReplacer("~1", "/", "~0", "~").Replace(rest[0])
	rest = rest[1:]
	switch keyword {
	case "properties":
		for _, p := range s.Properties {
			if p.Name == name {
				return p.Schema, rest
			}
		}
	case "$defs":
		return named(f, t, name), rest
	case "oneOf", "anyOf", "prefixItems":
		list := s.OneOf
		if s.OrNull != nil && keyword != "prefixItems" { // null has no keywords
			return s.OrNull, rest
		}
		if keyword == "prefixItems" {
			list = s.PrefixItems
		}
		if i, err := strconv.Atoi(name); err == nil && 0 <= i && i < len(list) {
			return list[i], rest
		}
	}
	return nil, rest
}

// named returns the schema that is called name under types or in the input of t.
func named(f *dsl.File, t *dsl.Tool, name string) *dsl.Schema {
	lists := [][]*dsl.NamedSchema{f.Types}
	if t.Input != nil {
		lists = append(lists, t.Input.Defs)
	}
	for _, list := range lists {
		for _, n := range list {
			if n.Name == name {
				return n.Schema
			}
		}
	}
	return nil
}
