package dsl

import (
	"bytes"
	"encoding/json"

	"github.com/invopop/jsonschema"
)

// EditorSchema returns the JSON Schema (draft 2020-12) of a declaration file,
// for editors and other tools without a parser of their own. It describes the shape
// of a file; [Parse] checks much more. Every call returns the same bytes.
func EditorSchema() ([]byte, error) {
	l := newLevels()
	d := definitions{}
	s := describe(d, l.file)
	describe(d, l.tool)
	describe(d, l.limits)
	describe(d, l.defaults)
	describe(d, l.defaultConsent)
	describe(d, l.retry)
	describe(d, l.idempotency)
	describe(d, l.consent)
	describe(d, l.undo)
	describe(d, l.artifact)
	describe(d, l.deprecated)
	describe(d, l.setRules)
	describe(d, l.rules)
	describe(d, l.maxCalls)
	describe(d, l.cooldown)
	describe(d, l.preceding)
	describe(d, l.operations)
	describe(d, l.schema)
	describe(d, l.command)
	describe(d, l.element)
	describe(d, l.shell)
	describe(d, l.exit)
	describe(d, l.memoryBound)
	describe(d, l.sizeBound)
	describe(d, l.countBound)
	describe(d, l.timeBound)
	s.Version, s.Definitions = jsonschema.Version, jsonschema.Definitions(d)
	s.Title = editorTitle
	s.Description = "Tools and their rules; see docs/declaration.md."
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(s); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

const editorTitle = "Ambit declaration"

// IsEditorSchema reports whether content is an [EditorSchema] of any version.
func IsEditorSchema(content []byte) bool {
	var schema struct{ Title string }
	return json.Unmarshal(content, &schema) == nil && schema.Title == editorTitle
}

// definitions are the $defs of the editor schema.
type definitions map[string]*jsonschema.Schema

// describe returns the schema of a mapping, and adds it and the words of its keys to the
// definitions.
func describe[T any](d definitions, l level[T]) *jsonschema.Schema {
	s := &jsonschema.Schema{
		Type: "object", Properties: jsonschema.NewProperties(), Required: l.required(), AdditionalProperties: jsonschema.FalseSchema,
	}
	for _, k := range l.keys {
		value := d.use(k.is)
		value.Description = k.doc
		if k.without != "" {
			value.Description += " Default: " + k.without + "."
		}
		s.Properties.Set(k.name, value)
	}
	if l.conditions != nil {
		l.conditions(s)
	}
	if l.def != "" {
		d[l.def] = s
	}
	return s
}

// use returns the schema of a value, by reference where the word has a name. The
// definition of a mapping comes from its level.
func (d definitions) use(w word) *jsonschema.Schema {
	if w.of != nil {
		d.use(*w.of)
	}
	if w.def == "" {
		return w.schema()
	}
	if w.schema != nil && d[w.def] == nil {
		d[w.def] = w.schema()
	}
	return refTo(w.def)
}
