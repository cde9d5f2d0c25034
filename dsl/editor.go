package dsl

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/invopop/jsonschema"
)

// EditorSchema returns the JSON Schema (draft 2020-12) of a declaration file,
// for editors and other tools without a parser of their own. It describes the shape
// of a file; [Parse] checks much more. Every call returns the same bytes.
func EditorSchema() ([]byte, error) {
	r := &jsonschema.Reflector{
		Anonymous:                  true,
		ExpandedStruct:             true,
		RequiredFromJSONSchemaTags: true,
		FieldNameTag:               "yaml",
		Namer:                      definitionName,
		LookupComment:              keyDoc,
	}
	s := r.Reflect(grammarFile{})
	// The words refer to these by name, which the reflector does not see.
	for _, v := range []any{grammarSchema{}, grammarTool{}, grammarPrecedingMap{}, grammarMaxCallsMap{}, grammarCooldownMap{}} {
		for name, def := range r.Reflect(v).Definitions {
			s.Definitions[name] = def
		}
		name := definitionName(reflect.TypeOf(v))
		def := r.Reflect(v)
		def.Version, def.Definitions = "", nil
		s.Definitions[name] = def
	}
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

// definitionName names a grammar type in $defs: grammarTool is tool.
func definitionName(t reflect.Type) string {
	name, ok := strings.CutPrefix(t.Name(), "grammar")
	if !ok {
		return t.Name()
	}
	return strings.ToLower(name[:1]) + name[1:]
}

// keyDoc is the description of a key: what it means and what holds without it.
func keyDoc(t reflect.Type, field string) string {
	f, ok := reflect.StructField{}, false
	if t.Kind() == reflect.Struct {
		f, ok = t.FieldByName(field)
	}
	if !ok {
		return ""
	}
	doc := f.Tag.Get("doc")
	if without := f.Tag.Get("default"); without != "" {
		doc += " Default: " + without + "."
	}
	return doc
}
