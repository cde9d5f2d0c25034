package dsl

// checkedLevelKeys are the keywords for which Go has no type, and annotations.
func checkedLevelKeys() keys[schemaWork] {
	part := func(name string, is word, doc string) key[schemaWork] {
		return key[schemaWork]{name: name, is: is, doc: doc, read: parts(name)}
	}
	mark := func(name string, is word, doc string) key[schemaWork] {
		return key[schemaWork]{name: name, is: is, doc: doc, read: note(name)}
	}
	return keys[schemaWork]{
		part("anyOf", wordBranches, "Schemas of which one fits at least."),
		part("allOf", wordBranches, "Schemas that all fit."),
		part("not", wordAdditional, "A schema that does not fit."),
		part("if", wordAdditional, "Chooses then where it fits, and else where not."),
		part("then", wordAdditional, "What holds where if fits."),
		part("else", wordAdditional, "What holds where if does not fit."),
		part("dependentRequired", wordNeeds, "Members that must be there beside another."),
		part("dependentSchemas", wordParts, "What holds of an object that has a member."),
		part("dependencies", wordMembers, "What dependentRequired and dependentSchemas say, as older drafts wrote it."),
		part("patternProperties", wordParts, "Members whose names match a pattern."),
		part("propertyNames", wordAdditional, "What the names of members are."),
		part("unevaluatedProperties", wordAdditional, "Members that no other keyword describes."),
		part("unevaluatedItems", wordAdditional, "Elements that no other keyword describes."),
		part("contains", wordAdditional, "What an element of the array is."),
		part("minContains", wordBound, "Fewest elements that contains describes."),
		part("maxContains", wordMost, "Most elements that contains describes."),
		part("$dynamicRef", wordText, "A reference to the outermost $dynamicAnchor of a name."),
		part("$vocabulary", wordMembers, "In a meta-schema: what its schemas may use."),
		mark("$id", wordText, "The URI that references inside the schema start from."),
		mark("$anchor", wordText, "A name for references inside the schema."),
		mark("$dynamicAnchor", wordText, "A name for $dynamicRef."),
		mark("$comment", wordText, "Note for readers of the schema."),
		mark("readOnly", wordFlag, "Annotation, published and not enforced."),
		mark("writeOnly", wordFlag, "Annotation, published and not enforced."),
		mark("contentEncoding", wordText, "Annotation, published and not enforced."),
		mark("contentMediaType", wordText, "Annotation, published and not enforced."),
		mark("x-mcp-header", wordText, "Annotation, published and not enforced: the header in which a client of MCP repeats the argument."),
		mark("contentSchema", wordAdditional, "Annotation, published and not enforced."),
	}
}

// parts reads a keyword of a composed schema.
func parts(name string) func(p *parser, n *node, w *schemaWork) {
	return func(p *parser, n *node, w *schemaWork) {
		if w.union {
			return // readOrNull or readByType reads it
		}
		p.checkedKeyword(w.node, pair{name: name, key: n.pos, val: n}, w.owner)
		if !w.Composed {
			p.report(n.pos, "add type: object and properties", "%s: %s of an object needs its properties", w.owner, name)
		}
	}
}

// note keeps an annotation.
func note(name string) func(p *parser, n *node, w *schemaWork) {
	return func(p *parser, n *node, w *schemaWork) {
		p.checkedKeyword(w.node, pair{name: name, key: n.pos, val: n}, w.owner)
		w.Notes = append(w.Notes, &ValueMember{Name: name, Value: p.value(n)})
	}
}
