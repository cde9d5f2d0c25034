package dsl

// unsupported explains a keyword of JSON Schema that is known and refused: what
// cannot be enforced must not look as if it were.
func unsupported(key string) (message, hint string) {
	if message, hint := misplaced(key); message != "" {
		return message, hint
	}
	switch key {
	case "anyOf":
		hint = "use oneOf whose branches are objects told apart by a required const member"
	case "allOf":
		hint = "write all properties in one object, or use a $ref"
	case "not":
		hint = "say what is allowed with enum, pattern or bounds"
	case "if", "then", "else", "dependentRequired", "dependentSchemas", "dependencies":
		hint = "use oneOf with a const member for each case, or a policy"
	case "patternProperties", "propertyNames":
		hint = "use additionalProperties with a schema for all other members"
	case "contains", "minContains", "maxContains":
		hint = "use items, which holds for every element"
	case "unevaluatedProperties", "unevaluatedItems":
		hint = "objects are closed already; use additionalProperties or items"
	case "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "$anchor", "$id", "$vocabulary":
		hint = `use $ref: "#/types/NAME" or "#/$defs/NAME"`
	case "contentEncoding", "contentMediaType", "contentSchema":
		hint = "use a pattern, and say in the description how the text is encoded"
	case "readOnly", "writeOnly":
		hint = "leave the member out of the input or of the output"
	default:
		return "", ""
	}
	return "keyword " + quote(key) + " is not supported yet", hint
}

// misplaced explains keywords of older drafts and of OpenAPI.
func misplaced(key string) (message, hint string) {
	switch key {
	case "definitions":
		hint = "use $defs, or types for the whole file"
	case "additionalItems":
		hint = "use items beside prefixItems"
	case "nullable":
		hint = `use type: [T, "null"]`
	case "discriminator":
		hint = "remove it: the const member of the oneOf branches is found without it"
	case "example":
		hint = "use examples, a list"
	case "$comment":
		hint = "use a YAML comment"
	case "optional":
		hint = "members are optional unless required lists them"
	default:
		return "", ""
	}
	return "keyword " + quote(key) + " is not part of the declaration", hint
}
