package ir

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ambit-tools/ambit/dsl"
)

// methodDoc turns a description in the imperative into the sentence that Go
// expects above a method: "Replace the content." becomes "FileWrite replaces
// the content." A description that does not start with a verb it knows is
// quoted as it stands.
func methodDoc(name string, d *dsl.Tool) string {
	text := strings.TrimSpace(d.Description)
	first, rest, _ := strings.Cut(text, " ")
	verb := strings.ToLower(first)
	if first != "" && !strings.HasPrefix(rest, "of ") && slices.Contains(verbs(), verb) {
		return sentence(name + " " + thirdPerson(verb) + " " + rest)
	}
	if text == "" {
		return name + " carries out the " + d.Name + " tool."
	}
	return sentence(name + " carries out the " + d.Name + " tool: " + text)
}

// typeDoc is the comment of a type that is what doc says, in paragraphs.
func typeDoc(name, doc, description string) []string {
	paragraphs := []string{name + " is " + doc + "."}
	if text := sentence(description); text != "" {
		paragraphs = append(paragraphs, text)
	}
	return paragraphs
}

// sharedDoc is the comment of a type of the declaration. Its description goes on
// from its name where the two make a sentence: "One change to a file." becomes
// "Edit is one change to a file."
func sharedDoc(name, description string) []string {
	first, rest, _ := strings.Cut(strings.TrimSpace(description), " ")
	second, _, _ := strings.Cut(rest, " ")
	switch {
	case slices.Contains([]string{"A", "An", "One", "What"}, first) && rest != "",
		first == "The" && rest != "" && !strings.HasSuffix(second, "s"): // not "Edit is the changes"
		return []string{sentence(name + " is " + strings.ToLower(first) + " " + rest)}
	}
	return typeDoc(name, "shared by the schemas that refer to it", description)
}

// verbs are the ones that descriptions of tools start with.
func verbs() []string {
	return strings.Fields(`add append apply approve archive ask assign build calculate call cancel change check clear
		close commit compare compile compute connect convert copy count create delete deploy describe detect disable
		display download drop edit enable evaluate execute export extract fetch filter find fix format generate get
		give grant import insert inspect install invoke kill launch list load look lookup make mark match measure merge
		modify move notify open parse patch pause perform ping plan play post predict print produce publish pull push
		put query quote rank read rebuild receive record refresh register reject release remove rename render reopen
		replace reply report request reset resize resolve restart restore resume retrieve return revert review rewrite
		run save scan schedule search select send set share show sign sleep sort split start stop store submit subscribe
		summarize switch sync tag take tell terminate test toggle track transfer transform translate turn undo
		uninstall unlock update upgrade upload use validate verify view wait walk watch write`)
}

func thirdPerson(verb string) string {
	vowel := func(i int) bool { return i >= 0 && strings.IndexByte("aeiou", verb[i]) >= 0 }
	last := len(verb) - 1
	switch {
	case verb[last] == 'y' && !vowel(last-1):
		return verb[:last] + "ies"
	case strings.HasSuffix(verb, "s"), strings.HasSuffix(verb, "x"), strings.HasSuffix(verb, "ch"),
		strings.HasSuffix(verb, "sh"), strings.HasSuffix(verb, "z"), verb[last] == 'o':
		return verb + "es"
	}
	return verb + "s"
}

// sentence is text with a full stop, unless it ends in punctuation.
func sentence(text string) string {
	text = strings.TrimSpace(text)
	r, _ := utf8.DecodeLastRuneInString(text)
	if text == "" || unicode.IsPunct(r) && r != ')' && r != '"' && r != '\'' && r != '`' {
		return text
	}
	return text + "."
}

// fieldDoc is the comment of a struct field: the description as it stands.
func fieldDoc(s *dsl.Schema) Doc {
	text := s.Description
	for n := s.Target; text == "" && n != nil; n = n.Schema.Target {
		text = n.Schema.Description
	}
	var doc Doc
	if text = sentence(text); text != "" {
		doc.Text = []string{text}
	}
	if s.Deprecated {
		doc.Deprecated = unwanted
	}
	return doc
}

// unwanted is what is said of the deprecated when there is nothing else to say.
const unwanted = "do not use it any more."

// deprecation is the notice above the method of a deprecated tool, or empty.
func deprecation(d *dsl.Tool) string {
	if d.Deprecated == nil {
		return ""
	}
	var words []string
	if d.Deprecated.Since != "" {
		words = append(words, "since "+d.Deprecated.Since+".")
	}
	if d.Deprecated.Use != "" {
		words = append(words, "Use "+d.Deprecated.Use+".")
	}
	if d.Deprecated.Message != "" {
		words = append(words, sentence(d.Deprecated.Message))
	}
	return cmp.Or(strings.Join(words, " "), unwanted)
}
