package dsl

import (
	"encoding/json"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"
)

// A word says which values of the YAML a key may have.
type word struct {
	def    string // its name in $defs of the editor schema; empty: it is written out
	words  string // what docs/declaration.md calls it
	schema func() *jsonschema.Schema
	of     *word // of a list that is written out
}

// maxAlias is how long an alias may be: as the name of a tool in the Model Context Protocol.
const maxAlias = 128

// aliasName matches an alias as the editor schema can say it: what prints, on one line.
const aliasPattern = `^\S(.{0,126}\S)?$`

// The words of the grammar.
var (
	wordVersion    = word{def: "version", words: "`v1`", schema: versionSchema}
	wordPackage    = word{def: "package", words: "Go identifier", schema: packageSchema}
	wordSemver     = word{def: "semver", words: "version", schema: semverSchema}
	wordProse      = word{def: "prose", words: "text", schema: proseSchema}
	wordEffect     = word{def: "effect", words: choiceWords(effects), schema: effectSchema}
	wordAsk        = word{def: "ask", words: choiceWords(asks), schema: askSchema}
	wordCover      = word{def: "cover", words: choiceWords(covers), schema: coverSchema}
	wordLabel      = word{def: "label", words: "label", schema: labelSchema}
	wordAlias      = word{def: "alias", words: "text", schema: aliasSchema}
	wordName       = word{def: "name", words: "name", schema: nameSchema}
	wordMedia      = word{def: "media", words: "media type", schema: mediaSchema}
	wordDuration   = word{def: "duration", words: "duration", schema: durationSchema}
	wordDelay      = word{def: "delay", words: "delay", schema: delaySchema}
	wordSize       = word{def: "size", words: "size", schema: sizeSchema}
	wordDedupe     = word{def: "dedupe", words: "duration, `true`, `always` or `never`", schema: dedupeSchema}
	wordDialect    = word{def: "dialect", words: "text", schema: dialectSchema}
	wordRef        = word{def: "ref", words: "text", schema: refSchema}
	wordType       = word{def: "type", words: codeWords(typeNames) + ", `\"null\"`, or a list of them", schema: typeSchema}
	wordFormat     = word{def: "format", words: codeWords(formats) + ", or another text", schema: formatSchema}
	wordFormats    = word{def: "formats", words: choiceWords(formatPolicies), schema: func() *jsonschema.Schema { return oneWord(list(formatPolicies)...) }}
	wordCount      = word{def: "count", words: "whole number from 1", schema: countSchema}
	wordBound      = word{def: "bound", words: "whole number from 0", schema: boundSchema}
	wordMost       = word{def: "most", words: "whole number from 0", schema: func() *jsonschema.Schema { return &jsonschema.Schema{Type: "integer", Minimum: "0"} }}
	wordMultipleOf = word{def: "multipleOf", words: "number", schema: multipleOfSchema}
	wordNames      = word{def: "names", words: "list of texts", schema: namesSchema}
	wordToolNames  = word{def: "toolNames", words: "list of tools", schema: toolNamesSchema}
	wordUnique     = word{def: "unique", words: "list of texts", schema: uniqueSchema}
	wordGroup      = word{def: "group", words: "label or list of labels", schema: groupSchema}
	wordValues     = word{def: "values", words: "list of values", schema: valuesSchema}
	wordBranches   = word{def: "branches", words: "list of schemas", schema: branchesSchema}
	wordTypes      = word{def: "types", words: "name to schema", schema: typesSchema}
	wordTools      = word{def: "tools", words: "name to tool", schema: toolsSchema}
	wordReasons    = word{def: "reasons", words: "name to text", schema: reasonsSchema}
	wordModes      = word{def: "modes", words: "name to list of labels", schema: modesSchema}
	wordProperties = word{def: "properties", words: "name to schema", schema: propertiesSchema}
	wordPreceding  = word{def: "preceding", words: "list of tools, or long form", schema: precedingSchema}
	wordMaxCalls   = word{def: "maxCalls", words: "count, or long form", schema: maxCallsSchema}
	wordCooldown   = word{def: "cooldown", words: "delay, or long form", schema: cooldownSchema}
	wordRoot       = word{def: "root", words: "schema", schema: rootSchema}
	wordAdditional = word{def: "additional", words: "boolean or schema", schema: additionalSchema}
	wordNeeds      = word{def: "needs", words: "member to list of texts", schema: needsSchema}
	wordParts      = word{def: "parts", words: "name or pattern to schema", schema: partsSchema}
	wordItems      = word{def: "items", words: "boolean or schema", schema: itemsSchema}

	wordFlag    = word{words: "boolean", schema: func() *jsonschema.Schema { return &jsonschema.Schema{Type: "boolean"} }}
	wordNumber  = word{words: "number", schema: func() *jsonschema.Schema { return &jsonschema.Schema{Type: "number"} }}
	wordText    = word{words: "text", schema: func() *jsonschema.Schema { return &jsonschema.Schema{Type: "string"} }}
	wordValue   = word{words: "value", schema: func() *jsonschema.Schema { return &jsonschema.Schema{} }}
	wordList    = word{words: "list of values", schema: func() *jsonschema.Schema { return &jsonschema.Schema{Type: "array", Items: jsonschema.TrueSchema} }}
	wordMembers = word{words: "member to value", schema: func() *jsonschema.Schema { return &jsonschema.Schema{Type: "object"} }}
	wordFormer  = word{words: "list of names", of: &wordName, schema: func() *jsonschema.Schema {
		return &jsonschema.Schema{Type: "array", MinItems: new(uint64(1)), Items: refTo(wordName.def)}
	}}
	wordLabels = word{words: "list of labels", of: &wordLabel, schema: func() *jsonschema.Schema {
		return &jsonschema.Schema{Type: "array", Items: refTo(wordLabel.def)}
	}}
)

// mapping is the word for another mapping: a level that has this name in $defs.
func mapping(def string) word { return word{def: def, words: "see below"} }

// codeWords lists words as code.
func codeWords(words []string) string { return "`" + strings.Join(words, "`, `") + "`" }

// choiceWords lists words of which one is chosen.
func choiceWords(words []string) string {
	last := len(words) - 1
	return codeWords(words[:last]) + " or " + codeWords(words[last:])
}

const (
	semverPattern   = `^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`
	durationPattern = `^\+?([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))*$`
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

// refTo refers to a definition of the editor schema.
func refTo(name string) *jsonschema.Schema { return &jsonschema.Schema{Ref: "#/$defs/" + name} }

func versionSchema() *jsonschema.Schema { return oneWord("v1") }
func packageSchema() *jsonschema.Schema {
	// Go's letters and digits, and all else that is not ASCII: classes of Unicode are
	// not in every validator's patterns.
	s := textLike("^[^\\x00-@\\[-^`{-\\x7f][^\\x00-/:-@\\[-^`{-\\x7f]{0,63}$")
	taken := append(types.Universe.Names(), unusablePackages...)
	for t := range token.TILDE {
		if t.IsKeyword() {
			taken = append(taken, t.String())
		}
	}
	s.Not = anyOf(oneWord(list(append(taken, "_"))...), textLike("_test$"))
	return s
}

// A text for people is not blank.
func proseSchema() *jsonschema.Schema  { return textLike(`\S`) }
func semverSchema() *jsonschema.Schema { return textLike(semverPattern) }
func effectSchema() *jsonschema.Schema { return oneWord(list(effects)...) }
func askSchema() *jsonschema.Schema    { return oneWord(list(asks)...) }
func coverSchema() *jsonschema.Schema  { return oneWord(list(covers)...) }
func labelSchema() *jsonschema.Schema  { return textLike(labelName.String()) }
func nameSchema() *jsonschema.Schema   { return textLike(lowerName.String()) }
func aliasSchema() *jsonschema.Schema  { return textLike(aliasPattern) }
func mediaSchema() *jsonschema.Schema  { return textLike(mediaType.String()) }

func durationSchema() *jsonschema.Schema { return textLike(durationPattern) }
func delaySchema() *jsonschema.Schema {
	return anyOf(textLike(durationPattern), oneWord(0, "0"))
}
func sizeSchema() *jsonschema.Schema {
	return anyOf(&jsonschema.Schema{Type: "integer", Minimum: "1"}, textLike(sizeText.String()))
}
func dedupeSchema() *jsonschema.Schema {
	return anyOf(textLike(durationPattern), oneWord(true, false, "always", "never"))
}

func dialectSchema() *jsonschema.Schema {
	all := []any{dialect, dialect + "#"}
	for _, name := range draft07 {
		all = append(all, name, name+"#")
	}
	return oneWord(all...)
}
func refSchema() *jsonschema.Schema    { return textLike(".") }
func formatSchema() *jsonschema.Schema { return anyOf(oneWord(list(formats)...), textLike(".")) }
func typeSchema() *jsonschema.Schema {
	name := oneWord(append(list(typeNames), "null")...)
	return anyOf(name, listOf(name))
}

func countSchema() *jsonschema.Schema { return wholeFrom("1") }
func boundSchema() *jsonschema.Schema { return wholeFrom("0") }
func multipleOfSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "number", ExclusiveMinimum: "0"}
}

func namesSchema() *jsonschema.Schema {
	return listOf(&jsonschema.Schema{Type: "string"})
}
func toolNamesSchema() *jsonschema.Schema { return listOf(textLike(lowerName.String())) }
func uniqueSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "string"}, UniqueItems: true}
}
func groupSchema() *jsonschema.Schema {
	return anyOf(textLike(labelName.String()), listOf(textLike(labelName.String())))
}
func valuesSchema() *jsonschema.Schema {
	s := listOf(jsonschema.TrueSchema)
	s.UniqueItems, s.MinItems = false, nil // a warning says so
	return s
}
func branchesSchema() *jsonschema.Schema {
	s := listOf(additionalSchema())
	s.UniqueItems = false
	return s
}

func typesSchema() *jsonschema.Schema {
	return mapOf(typeName.String(), additionalSchema())
}
func partsSchema() *jsonschema.Schema { return mapOf("", additionalSchema()) }
func needsSchema() *jsonschema.Schema { return mapOf("", uniqueSchema()) }
func toolsSchema() *jsonschema.Schema {
	one := uint64(1)
	s := mapOf(lowerName.String(), refTo("tool"))
	s.MinProperties = &one
	return s
}
func reasonsSchema() *jsonschema.Schema {
	return mapOf(lowerName.String(), proseSchema())
}
func modesSchema() *jsonschema.Schema {
	return mapOf(lowerName.String(), listOf(textLike(labelName.String())))
}

// That a property needs a description is for Parse: not so inside a checked schema.
func propertiesSchema() *jsonschema.Schema { return mapOf("", additionalSchema()) }

func precedingSchema() *jsonschema.Schema {
	return anyOf(listOf(textLike(lowerName.String())), refTo("precedingMap"))
}
func maxCallsSchema() *jsonschema.Schema {
	return anyOf(wholeFrom("1"), refTo("maxCallsMap"))
}
func cooldownSchema() *jsonschema.Schema {
	return anyOf(textLike(durationPattern), oneWord(0, "0"), refTo("cooldownMap"))
}

// A root is an object; what a reference leads to is seen by Parse only.
func rootSchema() *jsonschema.Schema {
	object := jsonschema.NewProperties()
	object.Set("type", objectType())
	return anyOf(oneWord(true), &jsonschema.Schema{AllOf: []*jsonschema.Schema{refTo("schema"), {Properties: object}}})
}

// objectType is the type of an object, alone or as the only one of a list.
func objectType() *jsonschema.Schema {
	return anyOf(oneWord("object"), &jsonschema.Schema{Const: []string{"object"}})
}
func additionalSchema() *jsonschema.Schema {
	return anyOf(oneWord(true, false), refTo("schema"))
}
func itemsSchema() *jsonschema.Schema { return additionalSchema() }

// toolConditions says that only what may run twice is tried again, what the
// engine needs to run a tool, and what a heartbeat adds to the input.
func toolConditions(s *jsonschema.Schema) {
	one := uint64(1)
	s.Required = slices.DeleteFunc(s.Required, func(key string) bool { return key == "output" })
	s.AnyOf = []*jsonschema.Schema{{Required: []string{"output"}}, {Required: []string{"command"}}}
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
		"isolation": {Required: []string{"command"}},
		"heartbeat": {
			If:   with("input", with("properties", with("request_heartbeat", jsonschema.TrueSchema))),
			Then: with("heartbeat", oneWord(false)),
		},
	}
}

// ruleConditions says which rules exclude each other, and what is for all tools only.
func ruleConditions(s *jsonschema.Schema) {
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
