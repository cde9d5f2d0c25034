// Package dialect rewrites JSON Schemas into what the providers of models take of them.
//
// Each provider takes a part of JSON Schema 2020-12, and in strict mode, in which it holds a model
// to the schema of a tool while the model writes, a smaller part. Rewrite returns a schema in that
// part. What the part cannot say goes into descriptions, where the model can read it, and into
// notes. The decoder of a tool goes on checking the published schema, so that a call that a dialect
// allows and the tool does not is refused with violations and runs nothing.
//
// In a strict schema of OpenAI each member is required. A member that may be left out is nullable
// there instead, and Schema.Restore takes the null out again before the input is decoded.
package dialect

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/internal/jsonschema"
)

// A Dialect is a part of JSON Schema that a provider takes. The set is closed.
type Dialect uint8

// The dialects.
const (
	JSONSchema      Dialect = iota // as published: for providers that take any JSON Schema
	OpenAI                         // tools of OpenAI without strict mode
	OpenAIStrict                   // all members required, objects closed, no oneOf
	Anthropic                      // tools of Anthropic without strict mode
	AnthropicStrict                // objects closed, constraints in descriptions
	Gemini                         // parametersJsonSchema of Gemini
)

var names = [...]string{"json_schema", "openai", "openai_strict", "anthropic", "anthropic_strict", "gemini"}

// Names returns the names of all dialects, in the order of the constants.
func Names() []string { return slices.Clone(names[:]) }

// Parse returns the dialect that has name. The error lists those that exist.
func Parse(name string) (Dialect, error) {
	if i := slices.Index(names[:], name); i >= 0 {
		return Dialect(i), nil
	}
	return 0, fmt.Errorf("%.40q is no dialect: there are %s", name, strings.Join(names[:], ", "))
}

// String returns the name of d, such as openai_strict.
func (d Dialect) String() string {
	if int(d) < len(names) {
		return names[d]
	}
	return fmt.Sprintf("dialect(%d)", uint8(d))
}

// strict reports whether d is a dialect of a strict mode.
func (d Dialect) strict() bool { return d == OpenAIStrict || d == AnthropicStrict }

// plain returns the dialect of the provider without strict mode.
func (d Dialect) plain() Dialect {
	switch d {
	case OpenAIStrict:
		return OpenAI
	case AnthropicStrict:
		return Anthropic
	}
	return d
}

// An Effect says what became of a keyword that a dialect does not have.
type Effect uint8

// The effects.
const (
	Described Effect = iota // the description says it
	Dropped                 // the schema does not say it any more
	Changed                 // the schema says something else, which the note explains
	Refused                 // strict mode does not take the schema, because of this, or the provider does not take the tool at all
)

// String returns described, dropped, changed or refused.
func (e Effect) String() string {
	return [...]string{"described", "dropped", "changed", "refused"}[min(e, Refused)]
}

// MarshalText returns the name of e.
func (e Effect) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// A Note names a place of a schema of which a dialect says less than the schema, or something else.
type Note struct {
	At      string `json:"at"`      // JSON Pointer into the schema that was rewritten
	Keyword string `json:"keyword"` // of JSON Schema
	Effect  Effect `json:"effect"`
	Text    string `json:"text"` // what that means, in a sentence
}

// String returns the note as one line.
func (n Note) String() string {
	at := n.At
	if at == "" {
		at = "(root)"
	}
	return fmt.Sprintf("%s: %s: %s: %s", at, n.Keyword, n.Effect, n.Text)
}

// A Schema is a schema in a dialect. It must not be changed; it is safe for concurrent use.
type Schema struct {
	JSON json.RawMessage

	// Strict says that the provider may be asked to hold the model to the schema. In a strict
	// dialect that cannot say the schema it is false, a note is Refused, and JSON is the schema in
	// the dialect without strict mode.
	Strict bool

	// Notes are in the order of the schema.
	Notes []Note

	// Nullable are the members that were made nullable because they may be left out, as JSON
	// Pointers into the schema that was rewritten. Restore takes the null out of an input.
	Nullable []string

	// Optional is how many members of objects may be left out, and Unions how many unions there
	// are: Anthropic bounds their number over all strict tools of a request.
	Optional, Unions int

	reader reader // of JSON, while Nullable is not empty
}

// Rewrite returns schema in a dialect. The error says that schema is not a JSON Schema of an
// object, or that d is no dialect.
func Rewrite(schema []byte, d Dialect) (*Schema, error) {
	if int(d) >= len(names) {
		return nil, fmt.Errorf("%v is no dialect: there are %s", d, strings.Join(names[:], ", "))
	}
	root, err := parse(schema)
	if err != nil {
		return nil, err
	}
	if d == JSONSchema {
		return &Schema{JSON: slices.Clone(schema)}, nil
	}
	if !d.strict() && d != Gemini {
		return finish(plainRoot(root, d))
	}
	w := newRewriter(root, d)
	out := w.root()
	if !d.strict() || !w.refused() {
		return w.schema(out)
	}
	plain, err := finish(plainRoot(root, d.plain()))
	if err != nil {
		return nil, err
	}
	for _, n := range w.notes {
		if n.Effect == Refused && !slices.Contains(plain.Notes, n) {
			plain.Notes = append(plain.Notes, n)
		}
	}
	return plain, nil
}

// schema returns the result of a rewriting that was not refused.
func (w *rewriter) schema(out *value) (*Schema, error) {
	s, err := finish(out, w.notes)
	if err != nil {
		return nil, err
	}
	s.Strict = w.d.strict()
	s.Optional, s.Unions = w.optional, w.unions
	if len(w.nullable) > 0 {
		s.Nullable, s.reader = w.nullable, w.reader(out)
	}
	return s, nil
}

func finish(out *value, notes []Note) (*Schema, error) {
	return &Schema{JSON: jsonschema.JSON(out), Notes: notes}, nil
}
