package write

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/ambit-tools/ambit/internal/jsonschema"
)

// quoted is a text in double quotes. Every reader of YAML takes it for that text: nothing
// in it is raw but what prints.
func quoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case visible(c):
			b.WriteRune(c)
		case c <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			fmt.Fprintf(&b, `\U%08x`, c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// visible reports whether a reader of the file sees a character: variation selectors, fillers and the like print, and show
// nothing.
func visible(c rune) bool {
	return unicode.IsPrint(c) && c != 0x2800 && !unicode.In(c, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// prose is a text for people behind a key: in lines of its own when it has several.
func prose(text string) string {
	if !strings.Contains(text, "\n") || strings.HasPrefix(text, " ") || strings.HasSuffix(text, "\n") ||
		strings.ContainsFunc(text, func(c rune) bool { return c != '\n' && !visible(c) }) {
		return quoted(text)
	}
	var b strings.Builder
	b.WriteString("|-")
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteByte('\n')
		if line != "" {
			b.WriteString("  " + line)
		}
	}
	return b.String()
}

// flow is a value in one line.
func flow(v *jsonschema.Value) string {
	var b strings.Builder
	writeFlow(&b, v)
	return b.String()
}

func writeFlow(b *strings.Builder, v *jsonschema.Value) {
	switch v.Kind {
	case jsonschema.Null:
		b.WriteString("null")
	case jsonschema.Bool:
		b.WriteString(strconv.FormatBool(v.Bool))
	case jsonschema.Number:
		b.WriteString(v.Text)
	case jsonschema.String:
		b.WriteString(quoted(v.Text))
	case jsonschema.Array:
		b.WriteByte('[')
		for i, item := range v.Items {
			if i > 0 {
				b.WriteString(", ")
			}
			writeFlow(b, item)
		}
		b.WriteByte(']')
	case jsonschema.Object:
		b.WriteByte('{')
		for i, m := range v.Members {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(quoted(m.Name) + ": ")
			writeFlow(b, m.Value)
		}
		b.WriteByte('}')
	}
}
