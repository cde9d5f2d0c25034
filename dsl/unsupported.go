package dsl

// unsupported explains a keyword of JSON Schema that is known and refused: what
// cannot be enforced must not look as if it were.
func unsupported(key string) (message, hint string) {
	if message, hint := misplaced(key); message != "" {
		return message, hint
	}
	switch key {
	case "$recursiveRef", "$recursiveAnchor":
		hint = "use $dynamicRef and $dynamicAnchor"
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
	case "optional":
		hint = "members are optional unless required lists them"
	default:
		return "", ""
	}
	return "keyword " + quote(key) + " is not part of the declaration", hint
}
