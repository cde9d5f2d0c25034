package normalize

// A Kind says what a change of a schema is. Its text is part of the output of the command.
type Kind string

// The kinds of changes. [Kinds] says what each means.
const (
	Dialect           Kind = "dialect"
	Draft             Kind = "draft"
	DraftUnknown      Kind = "draft_unknown"
	OlderKeyword      Kind = "older_keyword"
	Sensitive         Kind = "sensitive"
	KeywordDropped    Kind = "keyword_dropped"
	ExamplesChanged   Kind = "examples"
	TextCleaned       Kind = "text_cleaned"
	DescriptionFilled Kind = "description_filled"
	DefaultDropped    Kind = "default_dropped"
	NoEffect          Kind = "no_effect"
	FormatEnforced    Kind = "format_enforced"
	PatternRespelled  Kind = "pattern"
	FormatDropped     Kind = "format_dropped"
	Reference         Kind = "reference"
	Definition        Kind = "definition"
	Nullable          Kind = "nullable"
	Unwrapped         Kind = "unwrapped"
	Constants         Kind = "constants"
	Tagged            Kind = "tagged"
	TypeAdded         Kind = "type_added"
	ValuesDropped     Kind = "values_dropped"
	Tuple             Kind = "tuple"
	Bound             Kind = "bound"
	Required          Kind = "required"
	Closed            Kind = "closed"
	Opened            Kind = "opened"
	Part              Kind = "part"
	Additional        Kind = "additional"
)

// A KindInfo describes a kind for people.
type KindInfo struct {
	Kind Kind
	What string
	// Narrows: the declaration may refuse values that the source accepts.
	Narrows bool
}

// Kinds describes every kind, in the order of the page about importing.
func Kinds() []KindInfo {
	return []KindInfo{
		{Dialect, "`$schema` is removed: a declaration is written in draft 2020-12", false},
		{Draft, "a keyword of an older draft is translated", false},
		{DraftUnknown, "a keyword that the draft in `$schema` does not have is removed", false},
		{OlderKeyword, "a keyword of an older draft than that of the schema is read as the older draft reads it", true},
		{Reference, "a `$ref` leads to a name in `$defs` of its own schema, or loses keywords beside it that its draft ignores", false},
		{Definition, "a definition is moved to `$defs` of its schema, or dropped because nothing refers to it", false},
		{Sensitive, "security: the source marks a value `x-sensitive`, so approvers and logs do not see it; only `--trust-hints` leaves the note out", false},
		{KeywordDropped, "a keyword that says nothing about values is removed", false},
		{NoEffect, "a keyword that says nothing about the type of its schema is removed", false},
		{TextCleaned, "control and bidirectional characters, and blanks around it, are removed from a text", false},
		{DescriptionFilled, "a missing description is filled in with the title or the name, and marked by a comment", false},
		{DefaultDropped, "a default that does not fit its schema, or that never applies, is removed", false},
		{ExamplesChanged, "`example` becomes `examples`, or examples that do not fit are removed", false},
		{FormatDropped, "a format is removed: it would be enforced where nothing may be narrowed, or the declaration says `formats: strict`", false},
		{FormatEnforced, "a format is an annotation in the source, and enforced here", true},
		{PatternRespelled, "a pattern that ECMA-262 takes without the flag `u` alone, as JSON Schema does not, is written as it is with it: `\\-` as `-`, `}` as `\\}`", false},
		{Nullable, "a union with null is written as `[T, \"null\"]`, or a null that cannot occur is removed", false},
		{Unwrapped, "a list, a union or an intersection of one entry is written as that entry", false},
		{Constants, "a union of constants is written as `enum`, or an `enum` of one tag as `const`", false},
		{Tagged, "`anyOf` of objects that a constant member tells apart is written as `oneOf`", false},
		{TypeAdded, "the type is written that the values imply", false},
		{ValuesDropped, "values of an `enum` that are repeated or that the type excludes are removed", false},
		{Tuple, "a tuple of fixed length is written with `items: false`, and one that may be shorter with `minItems: 0`", false},
		{Bound, "a bound that another one implies, or that 64 bits imply, is removed", false},
		{Required, "`required` is written without repetitions, and each of its names is a property", false},
		{Additional, "`unevaluatedProperties: false` is written as `additionalProperties: false` where both mean the same", false},
		{Opened, "an object without members takes any: written out, since it would take none here", false},
		{Part, "an object in `$defs` that is a part of another says with `patternProperties: {}` that it leaves other members to that one", false},
		{Closed, "an object says nothing about other members, and takes none here; `--open` keeps it open", true},
	}
}
