package author

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/project"
	"github.com/ambit-tools/ambit/gen"
	"github.com/ambit-tools/ambit/runtime/models/dialect"
)

// dialects returns the dialects that a flag names.
func dialects(names []string) ([]dialect.Dialect, error) {
	var out []dialect.Dialect
	for _, name := range names {
		d, err := dialect.Parse(name)
		if err != nil {
			return nil, cmdutil.Usage(err.Error(), "")
		}
		if !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	return out, nil
}

// dialectNotes are what each dialect drops or refuses of the inputs of a declaration, with the
// places.
func dialectNotes(d *project.Declaration, in []dialect.Dialect) ([]finding, error) {
	if d == nil {
		return nil, nil
	}
	var notes []finding
	for _, name := range in {
		tools, err := gen.Schemas(d.File, name)
		if err != nil {
			return nil, err
		}
		for _, t := range tools {
			for i, n := range t.Schema.Notes {
				f := note(t.At[i], fmt.Sprintf("tool %q: %v: %s: %s: %s", t.Tool.Name, name, n.Keyword, n.Effect, n.Text))
				f.Code = name.String()
				notes = append(notes, f)
			}
		}
	}
	return notes, nil
}

// A toolSchema is what "ambit schema --for" prints of a tool.
type toolSchema struct {
	Tool     string          `json:"tool"`
	Strict   bool            `json:"strict"`
	Schema   json.RawMessage `json:"schema"`
	Nullable []string        `json:"nullable,omitempty"`
	Notes    []dialect.Note  `json:"notes,omitempty"`
}

// toolSchemas are the inputs of a declaration in a dialect.
func toolSchemas(d *project.Declaration, in dialect.Dialect) ([]toolSchema, error) {
	tools, err := gen.Schemas(d.File, in)
	if err != nil {
		return nil, err
	}
	out := make([]toolSchema, 0, len(tools))
	for _, t := range tools {
		out = append(out, toolSchema{t.Tool.Name, t.Schema.Strict, t.Schema.JSON, t.Schema.Nullable, t.Schema.Notes})
	}
	return out, nil
}

// dialectNames lists the dialects for a help text.
func dialectNames() string { return strings.Join(dialect.Names(), ", ") }
