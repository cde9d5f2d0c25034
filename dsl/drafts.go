package dsl

import "strings"

// A Draft is a published version of JSON Schema, in the order of their publication.
type Draft int

// The drafts that an import reads.
const (
	Draft04 Draft = iota + 1
	Draft06
	Draft07
	Draft2019
	Draft2020
)

var draftNames = map[string]Draft{
	"json-schema.org/draft-04/schema":      Draft04,
	"json-schema.org/draft-06/schema":      Draft06,
	"json-schema.org/draft-07/schema":      Draft07,
	"json-schema.org/draft/2019-09/schema": Draft2019,
	"json-schema.org/draft/2020-12/schema": Draft2020,
}

// DraftOf returns the draft whose meta-schema has a URI; false for none of them.
func DraftOf(uri string) (Draft, bool) {
	_, name, _ := strings.Cut(strings.TrimSuffix(uri, "#"), "://")
	d, ok := draftNames[name]
	return d, ok
}

// spans are the first and the last draft of the keywords that limit values or lead to
// schemas and that not every draft has. "definitions" and "$defs" are not among them: they hold
// what references lead to in any draft. Nor is "dependencies": draft 2019-09 replaced it, and readers
// of later drafts, this one among them, still enforce it.
var spans = map[string][2]Draft{
	"id": {Draft04, Draft04}, "$id": {Draft06, Draft2020},
	"const": {Draft06, Draft2020}, "contains": {Draft06, Draft2020}, "propertyNames": {Draft06, Draft2020},
	"if": {Draft07, Draft2020}, "then": {Draft07, Draft2020}, "else": {Draft07, Draft2020},
	"dependentRequired": {Draft2019, Draft2020}, "dependentSchemas": {Draft2019, Draft2020},
	"minContains": {Draft2019, Draft2020}, "maxContains": {Draft2019, Draft2020},
	"unevaluatedProperties": {Draft2019, Draft2020}, "unevaluatedItems": {Draft2019, Draft2020},
	"$anchor": {Draft2019, Draft2020}, "$vocabulary": {Draft2019, Draft2020},
	"$recursiveRef": {Draft2019, Draft2019}, "$recursiveAnchor": {Draft2019, Draft2019},
	"additionalItems": {Draft04, Draft2019}, "prefixItems": {Draft2020, Draft2020},
	"$dynamicRef": {Draft2020, Draft2020}, "$dynamicAnchor": {Draft2020, Draft2020},
}

// Has reports whether a keyword means something in a draft. It is true of annotations, and of
// keywords that no draft has: neither says anything of values.
func (d Draft) Has(keyword string) bool {
	span, some := spans[keyword]
	return !some || span[0] <= d && d <= span[1]
}

// BesideRef reports whether a keyword beside $ref means in a draft what it says elsewhere. Until
// draft-07 nothing beside a reference limits values.
func (d Draft) BesideRef(keyword string) bool {
	switch keyword {
	case "$ref", "$schema", "$defs", "definitions", "title", "description", "$comment", "examples", "deprecated", "readOnly", "writeOnly", "x-sensitive":
		return true
	}
	return d > Draft07
}
