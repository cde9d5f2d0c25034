package models

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	goruntime "runtime"
	"slices"
	"sync"
	"weak"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/models/dialect"
)

// A Definition is a tool as a model is told of it. It must not be changed.
type Definition struct {
	// Name is the alias of the tool where the provider takes it, and its name otherwise.
	Name, Description string

	// Schema is the input schema in the dialect.
	Schema json.RawMessage

	// Strict says that the provider may be asked to hold the model to Schema.
	Strict bool

	// Notes name what the dialect cannot say. The decoder of the tool still checks it.
	Notes []dialect.Note

	tool      string // its name in the registry
	former    []string
	rewritten *dialect.Schema
}

// Members returns the members of Schema, for an SDK that takes a map. Each value is a
// json.RawMessage, so that the order of members and the digits of numbers stay.
func (d *Definition) Members() map[string]any { return members(d.Schema) }

// members returns the members of a JSON object with their texts as values.
func members(text []byte) map[string]any {
	var raw map[string]json.RawMessage
	_ = json.Unmarshal(text, &raw) // the texts of this package are objects
	out := make(map[string]any, len(raw))
	for name, value := range raw {
		out[name] = value
	}
	return out
}

// Tools are the definitions of the tools of a registry in a dialect. They are immutable and safe for
// concurrent use.
type Tools struct {
	dialect     dialect.Dialect
	definitions []Definition
	index       map[string]int
}

// A cacheKey names what Definitions has returned. It does not keep the registry alive.
type cacheKey struct {
	reg weak.Pointer[runtime.Registry]
	d   dialect.Dialect
}

var cached sync.Map // of cacheKey to *Tools

// Definitions returns the tools of a registry in a dialect. It rewrites their schemas once per
// registry and dialect. The error names a tool whose schema is not that of an object.
func Definitions(reg *runtime.Registry, d dialect.Dialect) (*Tools, error) {
	key := cacheKey{weak.Make(reg), d}
	if have, ok := cached.Load(key); ok {
		return have.(*Tools), nil
	}
	t, err := define(reg, d)
	if err != nil {
		return nil, err
	}
	have, loaded := cached.LoadOrStore(key, t)
	if !loaded && reg != nil {
		goruntime.AddCleanup(reg, func(key cacheKey) { cached.Delete(key) }, key)
	}
	return have.(*Tools), nil
}

// openSchema is the schema of a tool that publishes none.
const openSchema = `{"type":"object","additionalProperties":true}`

func define(reg *runtime.Registry, d dialect.Dialect) (*Tools, error) {
	t := &Tools{dialect: d, index: map[string]int{}}
	var request allowance
	for _, tool := range reg.All() {
		spec := tool.Spec()
		schema := openSchema
		if spec.InputSchema != nil {
			schema = *spec.InputSchema
		}
		s, err := dialect.Rewrite([]byte(schema), d)
		if err == nil && d == dialect.AnthropicStrict && s.Strict {
			s, err = request.admit(s, []byte(schema))
		}
		if err != nil {
			return nil, fmt.Errorf("the input schema of %q: %w", spec.Name, err)
		}
		t.add(Definition{offered(spec, d), described(spec), s.JSON, s.Strict, s.Notes, spec.Name, spec.RenamedFrom, s})
	}
	return t, nil
}

// providerName matches the names of tools that every provider takes.
var providerName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)

// offered is the name under which a model is told of a tool.
func offered(spec *runtime.Spec, d dialect.Dialect) string {
	if spec.Alias != "" && (d == dialect.JSONSchema || providerName.MatchString(spec.Alias)) {
		return spec.Alias
	}
	return spec.Name
}

// described is the description of a tool, which says when it is deprecated.
func described(spec *runtime.Spec) string {
	if spec.Deprecated == nil {
		return spec.Description
	}
	return spec.Description + "\n\nThis tool is " + spec.Deprecated.String()
}

func (t *Tools) add(d Definition) {
	for _, name := range append([]string{d.Name, d.tool}, d.former...) {
		t.index[name] = len(t.definitions)
	}
	t.definitions = append(t.definitions, d)
}

// An allowance counts what Anthropic bounds over all strict tools of a request.
type allowance struct{ tools, optional, unions int }

// admit returns s, or the schema without strict mode when a request with the tools before it and s
// would be beyond the bounds.
func (a *allowance) admit(s *dialect.Schema, schema []byte) (*dialect.Schema, error) {
	sum := allowance{a.tools + 1, a.optional + s.Optional, a.unions + s.Unions}
	if sum.tools <= dialect.MaxStrictTools && sum.optional <= dialect.MaxStrictOptional && sum.unions <= dialect.MaxStrictUnions {
		*a = sum
		return s, nil
	}
	plain, err := dialect.Rewrite(schema, dialect.Anthropic)
	if err != nil {
		return nil, err
	}
	out := *plain
	out.Notes = append(slices.Clone(plain.Notes), dialect.Note{Keyword: "strict", Effect: dialect.Refused, Text: fmt.Sprintf(
		"the tools before it leave no room: a request may have %d strict tools with %d members that may be left out and %d unions",
		dialect.MaxStrictTools, dialect.MaxStrictOptional, dialect.MaxStrictUnions)})
	return &out, nil
}

// All returns the definitions, in the order of the registry.
func (t *Tools) All() []Definition { return slices.Clone(t.definitions) }

// Lookup returns the definition of a tool, by the name in it, the name of the tool or an earlier one.
func (t *Tools) Lookup(name string) (Definition, bool) {
	i, ok := t.index[name]
	if !ok {
		return Definition{}, false
	}
	return t.definitions[i], true
}

// Call returns a call as a model wrote it: with the text of its arguments, from which it takes the
// nulls that the dialect made the model write (dialect.Schema.Restore). No text at all is an object
// without members.
func (t *Tools) Call(id, name string, arguments []byte) runtime.Call {
	if len(bytes.TrimSpace(arguments)) == 0 {
		arguments = []byte("{}")
	}
	if i, ok := t.index[name]; ok {
		arguments = t.definitions[i].rewritten.Restore(arguments)
	}
	return runtime.Call{ID: id, Tool: name, Input: arguments}
}
