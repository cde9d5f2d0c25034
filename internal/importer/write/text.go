// Package write writes tools as a declaration, and puts them into one that people have
// edited.
package write

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/ambit-tools/ambit/internal/jsonschema"
)

// A Place is what a line of the text comes from.
type Place struct {
	Tool int // index in the tools that were written; -1: none
	// Schema and Key are the schema and the keyword that the line begins. Schema is nil
	// where the line begins something else.
	Schema *jsonschema.Value
	Key    string
	At     *jsonschema.Value // the node of the source; nil: none
}

// A Text is a declaration, and where its lines come from.
type Text struct {
	lines  []string
	places []Place
}

// Bytes is the text.
func (t *Text) Bytes() []byte { return []byte(strings.Join(t.lines, "\n") + "\n") }

// Place is what a line comes from, counted from 1.
func (t *Text) Place(line int) Place {
	if line < 1 || line > len(t.places) {
		return Place{Tool: -1}
	}
	return t.places[line-1]
}

// add adds the lines of one text.
func (t *Text) add(indent int, text string, p Place) {
	for line := range strings.SplitSeq(text, "\n") {
		if line != "" {
			line = strings.Repeat(" ", indent) + line
		}
		t.lines = append(t.lines, line)
		t.places = append(t.places, p)
	}
}

// append adds the lines of another text.
func (t *Text) append(o *Text) {
	t.lines = append(t.lines, o.lines...)
	t.places = append(t.places, o.places...)
}

// plainKey matches what needs no quotes as a key.
var plainKey = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$-]*$`)

// otherwise matches words that a reader of YAML 1.1 takes for something else than text.
var otherwise = regexp.MustCompile(`(?i)^(y|n|yes|no|on|off|true|false|null)$`)

// MaxKey is how many characters a key of YAML may have.
const MaxKey = 1024

// KeyLength is how many characters a name has as a key.
func KeyLength(name string) int { return utf8.RuneCountInString(key(name)) }

func key(name string) string {
	if plainKey.MatchString(name) && !otherwise.MatchString(name) {
		return name
	}
	return quoted(name)
}
