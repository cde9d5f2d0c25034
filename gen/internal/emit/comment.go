package emit

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ambit-tools/ambit/gen/internal/ir"
)

// commentWidth is where the text of a comment is wrapped.
const commentWidth = 77

// deprecated begins the paragraph that the tools of Go act on.
const deprecated = "Deprecated:"

// docLines are the lines of a comment. Only what the declaration calls
// deprecated is so in Go.
func docLines(d ir.Doc) []string {
	out := commentLines(d.Text)
	if d.Deprecated == "" {
		return out
	}
	return paragraph(out, wrap(append([]string{deprecated}, words(d.Deprecated)...)))
}

// beside makes one comment line of a text, however long.
func beside(text string) string {
	return strings.Join(append([]string{"//"}, textOnly(words(text))...), " ")
}

func commentLines(paragraphs []string) []string {
	var parts []string
	for _, p := range paragraphs {
		parts = append(parts, strings.FieldsFunc(p, func(r rune) bool { return r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029' })...)
	}
	var out []string
	for i, part := range parts {
		all := textOnly(words(part))
		if i > 0 && i < len(parts)-1 {
			all = stopped(all)
		}
		out = paragraph(out, wrap(all))
	}
	return out
}

// paragraph adds lines after an empty one.
func paragraph(out, lines []string) []string {
	if len(lines) > 0 && len(out) > 0 {
		out = append(out, "//")
	}
	return append(out, lines...)
}

// words are those of a text, without what is not only text.
func words(s string) []string { return strings.Fields(clean(s)) }

// clean makes everything that an editor or a terminal would obey a space. What
// go vet would take for a build constraint is broken up, and so is what go doc
// would list among the bugs.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
	return strings.NewReplacer("+build", "+ build", "BUG(", "BUG (").Replace(s)
}

// textOnly quotes the word that would make more than text of a paragraph: a notice
// of deprecation, which linters report in every importing package, or a heading.
func textOnly(words []string) []string {
	if len(words) == 0 {
		return words
	}
	first := words[0]
	switch n := len(deprecated); {
	case first == "#":
		first = `"#"`
	case len(first) >= n && strings.EqualFold(first[:n], deprecated):
		first = `"` + first[:n] + `"` + first[n:]
	}
	return append([]string{first}, words[1:]...)
}

// stopped ends a paragraph, neither the first nor the last, with a period where gofmt
// would otherwise take it for a heading: a line that looks like a title.
func stopped(words []string) []string {
	if len(words) == 0 {
		return words
	}
	first, _ := utf8.DecodeRuneInString(words[0])
	last := len(words) - 1
	end, _ := utf8.DecodeLastRuneInString(words[last])
	if unicode.IsUpper(first) && (unicode.IsLetter(end) || unicode.IsDigit(end)) {
		words[last] += "."
	}
	return words
}

// wrap cuts a paragraph into comment lines.
func wrap(words []string) []string {
	var out []string
	line := "//"
	for _, word := range words {
		if len(line) > len("//") && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > commentWidth {
			out = append(out, line)
			line = "//"
		}
		line += " " + word
	}
	if line != "//" {
		out = append(out, line)
	}
	return out
}
