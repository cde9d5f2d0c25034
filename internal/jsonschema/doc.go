// Package jsonschema finds what the references of a JSON Schema lead to, for every reader of schemas here, and
// holds the tree of those that rewrite schemas.
//
// An [Index] resolves $ref, $id and $anchor over any [Tree]: of declarations with their places, and of the JSON
// values ([Value]) that an import and the dialects of providers rewrite, whose members keep their order and whose
// numbers keep their digits.
package jsonschema
