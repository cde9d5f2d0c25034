package dsl

import (
	"encoding/json"
	"go/token"

	"github.com/invopop/jsonschema"
)

// The words of the grammar. Each type says with JSONSchema which values of the
// YAML it stands for, and with its name what the table of keys calls them.
type (
	grammarVersion    string
	grammarPackage    string
	grammarSemver     string
	grammarProse      string
	grammarEffect     string
	grammarAsk        string
	grammarCover      string
	grammarLabel      string
	grammarName       string
	grammarMedia      string
	grammarDuration   string
	grammarDelay      string
	grammarSize       string
	grammarDedupe     string
	grammarDialect    string
	grammarRef        string
	grammarType       string
	grammarFormat     string
	grammarCount      int
	grammarBound      int
	grammarMultipleOf float64
	grammarNames      []string
	grammarToolNames  []string
	grammarUnique     []string
	grammarGroup      []string
	grammarValues     []any
	grammarBranches   []*grammarSchema
	grammarTypes      map[string]*grammarSchema
	grammarTools      map[string]*grammarTool
	grammarReasons    map[string]grammarProse
	grammarModes      map[string][]string
	grammarProperties map[string]*grammarSchema

	// A list of tools, or the long form.
	grammarPreceding struct {
		Tools grammarToolNames
		Long  *grammarPrecedingMap
	}
	// A number, or the long form.
	grammarMaxCalls struct {
		Max  grammarCount
		Long *grammarMaxCallsMap
	}
	// A duration, or the long form.
	grammarCooldown struct {
		For  grammarDelay
		Long *grammarCooldownMap
	}
	// The schema of an object.
	grammarRoot struct{ Schema *grammarSchema }
	// True, false or a schema.
	grammarAdditional struct {
		Any    bool
		Schema *grammarSchema
	}
	// False or a schema.
	grammarItems struct {
		None   bool
		Schema *grammarSchema
	}
)

const (
	semverPattern   = `^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`
	durationPattern = `^\+?([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))*$`
	refPattern      = `^#/(types|\$defs)/[A-Za-z][A-Za-z0-9_]{0,63}$`
)

func oneWord(values ...any) *jsonschema.Schema { return &jsonschema.Schema{Enum: values} }

func textLike(pattern string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Pattern: pattern}
}

func wholeFrom(least json.Number) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "integer", Minimum: least, Maximum: "2147483647"}
}

func anyOf(schemas ...*jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: schemas}
}

func listOf(item *jsonschema.Schema) *jsonschema.Schema {
	one := uint64(1)
	return &jsonschema.Schema{Type: "array", Items: item, MinItems: &one, UniqueItems: true}
}

func mapOf(names string, value *jsonschema.Schema) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", AdditionalProperties: value}
	if names != "" {
		s.PropertyNames = &jsonschema.Schema{Pattern: names}
	}
	return s
}

// refTo refers to the definition of a grammar type, see definitionName.
func refTo(name string) *jsonschema.Schema { return &jsonschema.Schema{Ref: "#/$defs/" + name} }

func (grammarVersion) JSONSchema() *jsonschema.Schema { return oneWord("v1") }
func (grammarPackage) JSONSchema() *jsonschema.Schema {
	// Go's letters and digits, and all else that is not ASCII: classes of Unicode are
	// not in every validator's patterns.
	s := textLike("^[^\\x00-@\\[-^`{-\\x7f][^\\x00-/:-@\\[-^`{-\\x7f]{0,63}$")
	var keywords []string
	for t := range token.TILDE {
		if t.IsKeyword() {
			keywords = append(keywords, t.String())
		}
	}
	s.Not = oneWord(list(append(keywords, "_"))...)
	return s
}

// A text for people is not blank.
func (grammarProse) JSONSchema() *jsonschema.Schema  { return textLike(`\S`) }
func (grammarSemver) JSONSchema() *jsonschema.Schema { return textLike(semverPattern) }
func (grammarEffect) JSONSchema() *jsonschema.Schema { return oneWord("read", "write", "destructive") }
func (grammarAsk) JSONSchema() *jsonschema.Schema    { return oneWord("always", "policy") }
func (grammarCover) JSONSchema() *jsonschema.Schema  { return oneWord("exact", "args", "tool") }
func (grammarLabel) JSONSchema() *jsonschema.Schema  { return textLike(labelName.String()) }
func (grammarName) JSONSchema() *jsonschema.Schema   { return textLike(lowerName.String()) }
func (grammarMedia) JSONSchema() *jsonschema.Schema  { return textLike(mediaType.String()) }

func (grammarDuration) JSONSchema() *jsonschema.Schema { return textLike(durationPattern) }
func (grammarDelay) JSONSchema() *jsonschema.Schema {
	return anyOf(textLike(durationPattern), oneWord(0, "0"))
}
func (grammarSize) JSONSchema() *jsonschema.Schema {
	return anyOf(&jsonschema.Schema{Type: "integer", Minimum: "1"}, textLike(sizeText.String()))
}
func (grammarDedupe) JSONSchema() *jsonschema.Schema {
	return anyOf(textLike(durationPattern), oneWord(true, false, "always", "never"))
}

func (grammarDialect) JSONSchema() *jsonschema.Schema {
	all := []any{dialect, dialect + "#"}
	for _, name := range draft07 {
		all = append(all, name, name+"#")
	}
	return oneWord(all...)
}
func (grammarRef) JSONSchema() *jsonschema.Schema    { return textLike(refPattern) }
func (grammarFormat) JSONSchema() *jsonschema.Schema { return oneWord(list(formats)...) }
func (grammarType) JSONSchema() *jsonschema.Schema {
	one, two := uint64(1), uint64(2)
	single := listOf(oneWord(list(typeNames)...))
	single.MaxItems = &one
	pair := listOf(oneWord(append(list(typeNames), "null")...))
	pair.MinItems, pair.MaxItems, pair.Contains = &two, &two, oneWord("null")
	return anyOf(oneWord(list(typeNames)...), single, pair)
}

func (grammarCount) JSONSchema() *jsonschema.Schema { return wholeFrom("1") }
func (grammarBound) JSONSchema() *jsonschema.Schema { return wholeFrom("0") }
func (grammarMultipleOf) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "number", ExclusiveMinimum: "0"}
}

func (grammarNames) JSONSchema() *jsonschema.Schema {
	return listOf(&jsonschema.Schema{Type: "string"})
}
func (grammarToolNames) JSONSchema() *jsonschema.Schema { return listOf(textLike(lowerName.String())) }
func (grammarUnique) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "string"}, UniqueItems: true}
}
func (grammarGroup) JSONSchema() *jsonschema.Schema {
	return anyOf(textLike(labelName.String()), listOf(textLike(labelName.String())))
}
func (grammarValues) JSONSchema() *jsonschema.Schema {
	return listOf(anyOf(&jsonschema.Schema{Type: "string"}, &jsonschema.Schema{Type: "number"},
		&jsonschema.Schema{Type: "boolean"}, &jsonschema.Schema{Type: "null"}))
}
func (grammarBranches) JSONSchema() *jsonschema.Schema {
	s := listOf(refTo("schema"))
	s.UniqueItems = false
	return s
}

func (grammarTypes) JSONSchema() *jsonschema.Schema {
	return mapOf(typeName.String(), refTo("schema"))
}
func (grammarTools) JSONSchema() *jsonschema.Schema {
	one := uint64(1)
	s := mapOf(lowerName.String(), refTo("tool"))
	s.MinProperties = &one
	return s
}
func (grammarReasons) JSONSchema() *jsonschema.Schema {
	return mapOf(lowerName.String(), grammarProse("").JSONSchema())
}
func (grammarModes) JSONSchema() *jsonschema.Schema {
	return mapOf(lowerName.String(), listOf(textLike(labelName.String())))
}

// A property needs a description, unless its target may have one.
func (grammarProperties) JSONSchema() *jsonschema.Schema {
	most := uint64(maxProperties)
	s := mapOf("", &jsonschema.Schema{
		AllOf: []*jsonschema.Schema{refTo("schema")},
		AnyOf: []*jsonschema.Schema{{Required: []string{"description"}}, {Required: []string{"$ref"}}},
	})
	s.MaxProperties = &most
	s.PropertyNames = &jsonschema.Schema{MinLength: new(uint64)}
	*s.PropertyNames.MinLength = 1
	return s
}

func (grammarPreceding) JSONSchema() *jsonschema.Schema {
	return anyOf(listOf(textLike(lowerName.String())), refTo("precedingMap"))
}
func (grammarMaxCalls) JSONSchema() *jsonschema.Schema {
	return anyOf(wholeFrom("1"), refTo("maxCallsMap"))
}
func (grammarCooldown) JSONSchema() *jsonschema.Schema {
	return anyOf(textLike(durationPattern), oneWord(0, "0"), refTo("cooldownMap"))
}

// A root is an object; what a reference leads to is seen by Parse only.
func (grammarRoot) JSONSchema() *jsonschema.Schema {
	object := jsonschema.NewProperties()
	object.Set("type", objectType())
	return &jsonschema.Schema{
		AllOf: []*jsonschema.Schema{refTo("schema"), {Properties: object}},
		AnyOf: []*jsonschema.Schema{{Required: []string{"type"}}, {Required: []string{"$ref"}}},
	}
}

// objectType is the type of an object, alone or as the only one of a list.
func objectType() *jsonschema.Schema {
	return anyOf(oneWord("object"), &jsonschema.Schema{Const: []string{"object"}})
}
func (grammarAdditional) JSONSchema() *jsonschema.Schema {
	return anyOf(oneWord(true, false), refTo("schema"))
}
func (grammarItems) JSONSchema() *jsonschema.Schema { return anyOf(oneWord(false), refTo("schema")) }

// JSONSchemaExtend says that a schema is a type, a reference or a oneOf, and that
// a keyword needs a type that it says something about.
func (grammarSchema) JSONSchemaExtend(s *jsonschema.Schema) {
	s.OneOf = []*jsonschema.Schema{{Required: []string{"type"}}, {Required: []string{"$ref"}}, {Required: []string{"oneOf"}}}
	s.DependentSchemas = make(map[string]*jsonschema.Schema)
	for key := s.Properties.Oldest(); key != nil; key = key.Next() {
		types := appliesTo(key.Key)
		if types == nil {
			continue
		}
		var names []any
		for _, t := range types {
			names = append(names, string(t))
		}
		pair := &jsonschema.Schema{Type: "array", Contains: oneWord(names...)}
		s.DependentSchemas[key.Key] = with("type", anyOf(oneWord(names...), pair))
	}
	s.AllOf = []*jsonschema.Schema{integersAreWhole(), branchesAreObjects()}
}

// integersAreWhole says that the bounds of an integer are.
func integersAreWhole() *jsonschema.Schema {
	bounds := jsonschema.NewProperties()
	for _, key := range []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"} {
		bounds.Set(key, &jsonschema.Schema{Type: "integer"})
	}
	return &jsonschema.Schema{If: with("type", oneWord("integer")), Then: &jsonschema.Schema{Properties: bounds}}
}

// branchesAreObjects says so of the branches of a oneOf.
func branchesAreObjects() *jsonschema.Schema {
	branch, key := jsonschema.NewProperties(), jsonschema.NewProperties()
	branch.Set("type", objectType())
	key.Set("oneOf", &jsonschema.Schema{Items: &jsonschema.Schema{Properties: branch}})
	return &jsonschema.Schema{Properties: key}
}

// JSONSchemaExtend says that only what may run twice is tried again, what the
// engine needs to run a tool, and what a heartbeat adds to the input.
func (grammarTool) JSONSchemaExtend(s *jsonschema.Schema) {
	one := uint64(1)
	s.DependentSchemas = map[string]*jsonschema.Schema{
		"retry": with("idempotent", oneWord(true)),
		"transactional": {
			If:   with("transactional", oneWord(true)),
			Then: &jsonschema.Schema{Not: with("effect", oneWord("read"))},
		},
		"every": {
			If:   with("input", with("required", &jsonschema.Schema{MinItems: &one})),
			Then: &jsonschema.Schema{Required: []string{"args"}},
		},
		"heartbeat": {
			If:   with("input", with("properties", with("request_heartbeat", jsonschema.TrueSchema))),
			Then: with("heartbeat", oneWord(false)),
		},
	}
}

// JSONSchemaExtend says which rules exclude each other, and what is for all tools only.
func (grammarRules) JSONSchemaExtend(s *jsonschema.Schema) {
	s.Not = &jsonschema.Schema{AllOf: []*jsonschema.Schema{with("continue_loop", oneWord(true)), with("exit_loop", oneWord(true))}}
	each := with("each", oneWord(true))
	each.Type = "object"
	rule := jsonschema.NewProperties()
	rule.Set("max_calls", &jsonschema.Schema{Not: each})
	rule.Set("cooldown", &jsonschema.Schema{Not: each})
	s.AllOf = []*jsonschema.Schema{{Properties: rule}}
}

// with is an object that has a member of this schema.
func with(name string, value *jsonschema.Schema) *jsonschema.Schema {
	member := jsonschema.NewProperties()
	member.Set(name, value)
	return &jsonschema.Schema{Required: []string{name}, Properties: member}
}

func list(words []string) []any {
	out := make([]any, len(words))
	for i, word := range words {
		out[i] = word
	}
	return out
}
