package importer

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/internal/jsonschema"
)

// unprintable reports whether a character makes a name look like another one.
func unprintable(c rune) bool {
	return c != ' ' && !unicode.IsPrint(c) || unicode.Is(unicode.Cf, c)
}

// Name is the name that a declaration takes for a tool of a source: lower case, words
// joined by underscores, a letter first, at most 64 characters.
func Name(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, c := range runes {
		upper := c >= 'A' && c <= 'Z'
		if upper && i > 0 {
			before, after := runes[i-1], rune(0)
			if i+1 < len(runes) {
				after = runes[i+1]
			}
			if isLower(before) || isDigit(before) || before >= 'A' && before <= 'Z' && isLower(after) {
				b.WriteByte('_')
			}
		}
		switch {
		case upper:
			b.WriteRune(c - 'A' + 'a')
		case isLower(c), isDigit(c):
			b.WriteRune(c)
		default:
			b.WriteByte('_')
		}
	}
	out := strings.Join(strings.FieldsFunc(b.String(), func(c rune) bool { return c == '_' }), "_")
	if out == "" || isDigit(rune(out[0])) {
		out = strings.TrimRight("tool_"+out, "_")
	}
	return strings.TrimRight(out[:min(len(out), 64)], "_")
}

func isLower(c rune) bool { return c >= 'a' && c <= 'z' }
func isDigit(c rune) bool { return c >= '0' && c <= '9' }

// apart leaves out the tools that would become one: those of one name, and those whose
// names are the same in Go.
func apart(tools []sourceTool, name func(sourceTool) string) (kept []sourceTool, left []Left) {
	same := map[string][]sourceTool{}
	for _, t := range tools {
		same[dsl.GoName(name(t))] = append(same[dsl.GoName(name(t))], t)
	}
	for _, t := range tools {
		twins := same[dsl.GoName(name(t))]
		if len(twins) == 1 {
			kept = append(kept, t)
			continue
		}
		var others []string
		for _, o := range twins {
			if o.at != t.at {
				others = append(others, fmt.Sprintf("%q at %s", o.name, place(o.at.Pos)))
			}
		}
		left = append(left, Left{Tool: t.name, Pointer: "/name", Pos: t.at.Member("name").Value.Pos,
			Reason: fmt.Sprintf("it becomes %s, and so does %s", name(t), strings.Join(others, " and ")),
			Hint:   "rename one of them in the source"})
	}
	return kept, left
}

func place(p jsonschema.Pos) string { return fmt.Sprintf("%d:%d", p.Line, p.Col) }
