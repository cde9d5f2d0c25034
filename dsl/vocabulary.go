package dsl

import "regexp"

// What Parse and the editor schema both hold a value to.

const maxName = 64

var (
	lowerName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
	typeName  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,63}$`)
	refText   = regexp.MustCompile(`^#/(types|\$defs)/([A-Za-z][A-Za-z0-9_]{0,63})$`)
	labelName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/-]{0,63}$`)
)

// rule says in words what a name must look like.
func rule(re *regexp.Regexp) string {
	switch re {
	case lowerName:
		return "use at most 64 lower-case letters, digits and underscores, a letter first"
	case typeName:
		return "use at most 64 letters, digits and underscores, a letter first"
	}
	return "use at most 64 letters, digits and . _ : / -, a letter or digit first"
}

var typeNames = []string{"object", "array", "string", "integer", "number", "boolean"}

var formats = []string{"date-time", "date", "time", "duration", "uuid", "ipv4", "ipv6", "uri", "email", "hostname"}

// maxProperties is how many members a generated decoder keeps track of.
const maxProperties = 256

var mediaType = regexp.MustCompile(`^[a-z0-9][a-z0-9!#$&^_.+-]{0,63}/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}$`)

var sizeText = regexp.MustCompile(`^([0-9]{1,15})(B|KiB|MiB|GiB)$`)

const dialect = "https://json-schema.org/draft/2020-12/schema"

// assertionVocab makes a format a limit of the schemas whose meta-schema has it.
const assertionVocab = "https://json-schema.org/draft/2020-12/vocab/format-assertion"

// draft07 are the spellings of draft-07. Of the keywords of a declaration it
// reads the same, but for what draft07Differs finds.
var draft07 = []string{"http://json-schema.org/draft-07/schema", "https://json-schema.org/draft-07/schema"}

// appliesTo says which types a keyword constrains; nil for the keywords that
// fit every schema.
func appliesTo(key string) []Type {
	switch key {
	case "properties", "required", "additionalProperties", "minProperties", "maxProperties":
		return []Type{TypeObject}
	case "items", "prefixItems", "uniqueItems", "minItems", "maxItems":
		return []Type{TypeArray}
	case "pattern", "format", "minLength", "maxLength":
		return []Type{TypeString}
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		return []Type{TypeInteger, TypeNumber}
	case "enum", "const":
		return []Type{TypeString, TypeInteger, TypeNumber, TypeBoolean}
	}
	return nil
}

// The words of which a key has one.
var (
	effects = []string{"read", "write", "destructive"}
	asks    = []string{"always", "policy"}
	// formatPolicies are what a file may say of formats that are not enforced.
	formatPolicies = []string{"annotate", "strict"}
	covers         = []string{"exact", "args", "tool"}
)
