package policydir

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/open-policy-agent/opa/v1/ast"
)

// keywords replaces by one error those that follow from a word in the place of a
// keyword, such as iff: the parser takes it for another rule.
func (b *Bundle) keywords(list ast.Errors) ast.Errors {
	said := map[int]bool{} // the lines that have their error
	var out ast.Errors
	for _, e := range list {
		if !fromKeyword(e) {
			out = append(out, e)
			continue
		}
		if said[e.Location.Row] {
			continue
		}
		for _, other := range list {
			if !fromKeyword(other) || other.Location.Row != e.Location.Row {
				continue
			}
			if word := b.wordAt(other.Location); word != "" {
				e = ast.NewError(ast.ParseErr, other.Location, "%q is no keyword. (hint: %s)", word, keywordHint(word))
				said[e.Location.Row] = true
				break
			}
		}
		out = append(out, e)
	}
	return out
}

// fromKeyword says that an error may follow from a word that is no keyword.
func fromKeyword(e *ast.Error) bool {
	return e.Code == ast.ParseErr && e.Location != nil && slices.ContainsFunc([]string{
		"var cannot be used for rule name", "rule name conflicts with built-in function", "`if` keyword is required before rule body",
	}, func(text string) bool { return strings.HasPrefix(e.Message, text) })
}

// wordAt returns the word at a place, when it is not the first of its line.
func (b *Bundle) wordAt(at *ast.Location) string {
	lines := b.Src.lines(at.File)
	if at.Row < 1 || at.Row > len(lines) {
		return ""
	}
	line := lines[at.Row-1]
	if at.Col < 1 || at.Col > len(line) || strings.TrimSpace(line[:at.Col-1]) == "" {
		return ""
	}
	return leadingWord(line[at.Col-1:])
}

// keywordHint names the keyword that was meant.
func keywordHint(word string) string {
	if hint := DidYouMean(strings.ToLower(word), []string{"if", "contains", "else"}); hint != "" {
		return hint
	}
	return fmt.Sprintf("after the head of a rule stands if: write name if { ... }, not %s", word)
}

// leadingWord returns the word that a text begins with.
func leadingWord(text string) string {
	end := strings.IndexFunc(text, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if end < 0 {
		end = len(text)
	}
	return text[:end]
}
