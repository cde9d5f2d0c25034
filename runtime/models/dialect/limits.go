package dialect

import (
	"regexp"
	"unicode/utf8"

	"github.com/ambit-tools/ambit/internal/jsonschema"
)

// The limits of OpenAI for the strict schema of one tool.
const (
	maxMembers    = 5_000
	maxLevels     = 10 // of objects in each other
	maxValues     = 1_000
	maxCharacters = 120_000 // of names of members and definitions, and of listed values
	longEnum      = 250     // values: the texts of an enum with more have a limit together
	maxEnum       = 15_000  // characters of the texts of such an enum
)

// The limits of Anthropic for all strict tools of one request.
const (
	MaxStrictTools    = 20 // tools
	MaxStrictOptional = 24 // members that may be left out
	MaxStrictUnions   = 16 // unions
)

// limits counts what a provider bounds.
type limits struct {
	members, values, characters int
	enum                        int // characters of the longest enum that has more than longEnum values
}

// measure counts what a rewritten schema and all in it have.
func (l *limits) measure(x *value) {
	switch {
	case x.Is(jsonschema.Array):
		for _, v := range x.Items {
			l.measure(v)
		}
	case x.Is(jsonschema.Object):
		for _, keyword := range []string{"properties", "$defs"} {
			for _, m := range x.ObjectOf(keyword).Fields() {
				l.characters += utf8.RuneCountInString(m.Name)
				if keyword == "properties" {
					l.members++
				}
				l.measure(m.Value)
			}
		}
		l.measure(x.Get("items"))
		l.measure(x.Get("anyOf"))
		if values, ok := literals(x); ok {
			texts := 0
			for _, v := range values {
				if v.Is(jsonschema.String) {
					texts += utf8.RuneCountInString(v.Text)
				} else {
					l.characters += len(jsonschema.JSON(v))
				}
			}
			l.values += len(values)
			l.characters += texts
			if len(values) > longEnum {
				l.enum = max(l.enum, texts)
			}
		}
	}
}

// checkLimits refuses a schema that is beyond the limits of the provider.
func (w *rewriter) checkLimits(out *value) {
	switch w.d {
	case OpenAIStrict:
		var size limits
		size.measure(out)
		w.most("properties", "members", size.members, maxMembers)
		w.most("enum", "listed values", size.values, maxValues)
		w.most("enum", "characters in an enum of more than 250 texts", size.enum, maxEnum)
		w.most("properties", "characters in names and listed values", size.characters, maxCharacters)
		w.most("properties", "levels of objects", w.levels(out, map[string]int{}), maxLevels)
	case AnthropicStrict:
		w.most("required", "members that may be left out", w.optional, MaxStrictOptional)
		w.most("anyOf", "unions", w.unions, MaxStrictUnions)
	}
}

func (w *rewriter) most(keyword, what string, n, most int) {
	if n > most {
		w.refuse(w.source, keyword, "the schema has %d %s, a strict one may have %d", n, what, most)
	}
}

// levels returns how many objects are in each other, each definition counted once: one that refers
// to itself has no depth. deep holds what was counted.
func (w *rewriter) levels(node *value, deep map[string]int) int {
	deepest := 0
	below := func(v *value) {
		if v.Is(jsonschema.Object) {
			deepest = max(deepest, w.levels(v, deep))
		}
	}
	if ref := node.TextOf("$ref"); ref != "" {
		if n, ok := deep[ref]; ok {
			return n
		}
		deep[ref] = 0
		below(w.definition(ref))
		deep[ref] = deepest
		return deepest
	}
	for _, branch := range node.ListOf("anyOf") {
		below(branch)
	}
	below(node.Get("items"))
	props := node.ObjectOf("properties")
	if props == nil {
		return deepest
	}
	for _, m := range props.Members {
		below(m.Value)
	}
	return deepest + 1
}

// definition returns what a reference of a rewritten schema leads to.
func (w *rewriter) definition(ref string) *value {
	for _, m := range w.defs {
		if refTo(m.Name) == ref {
			return m.Value // nil while it is being rewritten
		}
	}
	return nil
}

// The names of arguments, the members of the root, that providers document. They refuse a request, with all
// its tools, in which a tool has others.
var (
	anthropicName = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)
	geminiName    = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]{0,63}$`)
)

// checkNames notes the members of the root with a name that the provider does not take.
func (w *rewriter) checkNames(root *value) {
	var takes *regexp.Regexp
	switch w.d {
	case Anthropic, AnthropicStrict:
		takes = anthropicName
	case Gemini:
		takes = geminiName
	default:
		return
	}
	props := root.ObjectOf("properties")
	if props == nil {
		return
	}
	for _, m := range props.Members {
		if !takes.MatchString(m.Name) {
			w.noteAt(place(props, m.Name), "properties", Refused, "the provider refuses a request with this tool: the name of an argument has to match %s", takes)
		}
	}
}
