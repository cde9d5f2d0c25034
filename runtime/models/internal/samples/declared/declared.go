// Package declared publishes schemas as this module does: it imports a tool that has one, as "ambit import"
// does, and returns what is generated of the declaration.
package declared

import (
	"encoding/json"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen"
	"github.com/ambit-tools/ambit/internal/importer"
	"github.com/ambit-tools/ambit/runtime/models/dialect"
	"github.com/ambit-tools/ambit/runtime/models/internal/samples"
)

// Publish returns the schema of a tool as an MCP server lists it once it is declared, or nothing where no
// declaration can say it.
func Publish(tool map[string]json.RawMessage) ([]samples.Sample, error) {
	list, err := json.Marshal([]any{tool})
	if err != nil {
		return nil, err
	}
	r, err := importer.MCP(list, importer.Options{Package: "corpus", Path: "tools.yaml"})
	if err != nil || r.Text == nil {
		return nil, err
	}
	f, err := dsl.Parse("tools.yaml", r.Text, dsl.WithPatterns(gen.PatternFault))
	if err != nil {
		return nil, err
	}
	tools, err := gen.Schemas(f, dialect.JSONSchema)
	if err != nil {
		return nil, err
	}
	var out []samples.Sample
	for _, t := range tools {
		out = append(out, samples.Sample{Name: t.Tool.Name, Schema: t.Schema.JSON})
	}
	return out, nil
}

// Made returns what is published of n made declarations.
func Made(n int) ([]samples.Sample, error) {
	var out []samples.Sample
	for seed := uint64(0); len(out) < n; seed++ {
		for _, s := range []samples.Sample{samples.Random(seed), samples.Complete(seed)} {
			name, err := json.Marshal("declared_" + s.Name)
			if err != nil {
				return nil, err
			}
			made, err := Publish(map[string]json.RawMessage{"name": name, "description": json.RawMessage(`"Does it."`), "inputSchema": s.Schema})
			if err != nil {
				return nil, err
			}
			out = append(out, made...)
		}
	}
	return out[:n], nil
}
