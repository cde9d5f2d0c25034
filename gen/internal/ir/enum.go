package ir

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ambit-tools/ambit/dsl"
)

// enum completes a named string with its constants.
func (b *builder) enum(t *Type, s *dsl.Schema, at site) {
	b.announce(t, s, at)
	b.addRule(t, at, &Rule{String: b.stringRule(s, at)})
	if t.Rule == nil {
		return
	}
	for _, value := range t.Rule.String.Enum {
		t.Enum = append(t.Enum, &EnumValue{Text: value})
	}
	b.fixups = append(b.fixups, func() { b.nameConstants(t, s) })
}

// intEnum completes a named int64 with its constants.
func (b *builder) intEnum(t *Type, s *dsl.Schema, at site) {
	b.announce(t, s, at)
	b.addRule(t, at, &Rule{Int: b.intRule(s)})
	if t.Rule == nil {
		return
	}
	for _, value := range t.Rule.Int.Enum {
		t.Enum = append(t.Enum, &EnumValue{Int: value})
	}
	b.fixups = append(b.fixups, func() { b.nameConstants(t, s) })
}

// nameConstants names the values of an enum, when the names that users chose are all taken.
func (b *builder) nameConstants(t *Type, s *dsl.Schema) {
	all := make([]spelled, len(t.Enum))
	for i, v := range t.Enum {
		value := v.Text
		if t.Kind == KindIntEnum {
			value = strconv.FormatInt(v.Int, 10)
		}
		all[i] = spelledValue(value)
	}
	for i, candidate := range distinguish(all) {
		for _, name := range append([]string{candidate}, all[i].others...) {
			name = t.Name + name
			if _, taken := b.scope.taken[name]; taken {
				name = t.Name + "Value" + strings.TrimPrefix(name, t.Name)
			}
			if _, taken := b.scope.taken[name]; !taken {
				t.Enum[i].GoName = name
				break
			}
		}
		b.declare(b.scope, t.Enum[i].GoName, fmt.Sprintf("the value %q", all[i].name), s.Pos)
	}
}

// spelledValue is what a value may be called after the name of its type.
func spelledValue(value string) spelled {
	names := valueNames(value)
	return spelled{name: value, plain: names[0], others: names[1:]}
}

// valueNames are what the constant of a value may be called after the name of
// its type, from the plainest to one that no other value has.
func valueNames(value string) []string {
	exact := exactName(value)
	mark := "Upper"
	if first, _ := utf8.DecodeRuneInString(value); unicode.IsLower(first) {
		mark = "Lower"
	}
	hash := sha256.Sum256([]byte(value))
	return []string{
		short(plainName(value)), short(wordName(spell(value, true))), short(exact), mark + short(exact),
		fmt.Sprintf("Code%x", hash[:4]),
	}
}

// short cuts a name that is too long to read.
func short(name string) string {
	const most = 50
	if runes := []rune(name); len(runes) > most {
		return string(runes[:most])
	}
	return name
}

// plainName names the symbols of a value that mean something and drops those
// that separate: text/plain is TextPlain, C++ is CPlusPlus, -1 is Minus1.
func plainName(value string) string {
	name := spell(value, false)
	if strings.TrimSpace(name) == "" {
		name = spell(value, true)
	}
	return wordName(name)
}

// wordName is the part of an identifier that words make: it may begin with a digit.
func wordName(words string) string {
	words = strings.TrimSpace(words)
	if words == "" {
		return "Empty"
	}
	if name, ok := strings.CutPrefix(dsl.GoName(words), "X"); ok && !strings.HasPrefix(strings.ToLower(words), "x") {
		return name // X stands where an identifier would begin with a digit
	}
	return dsl.GoName(words)
}

// exactName keeps the case of letters.
func exactName(value string) string {
	var b strings.Builder
	for word := range strings.FieldsSeq(spell(value, true)) {
		first, size := utf8.DecodeRuneInString(word)
		b.WriteRune(unicode.ToUpper(first))
		b.WriteString(word[size:])
	}
	if b.Len() == 0 {
		return "Empty"
	}
	return b.String()
}

// spell puts words in the place of symbols; of separators only if all is set.
func spell(value string, all bool) string {
	var b strings.Builder
	runes := []rune(value)
	for i, r := range runes {
		word, separates := symbol(r)
		before, next := ' ', ' '
		if i > 0 {
			before = runes[i-1]
		}
		if i+1 < len(runes) {
			next = runes[i+1]
		}
		if unicode.IsDigit(before) && unicode.IsDigit(next) && strings.ContainsRune(".:/", r) {
			separates = false // 1.5 is not 15
		}
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		case r == '-' && i == 0 && unicode.IsDigit(next):
			b.WriteString(" Minus ")
		case separates && !all:
			b.WriteByte(' ')
		default:
			b.WriteString(" " + word + " ")
		}
	}
	return b.String()
}

// symbol names what is neither letter nor digit, and tells whether it separates words.
func symbol(r rune) (word string, separates bool) {
	const separators = "Space Hyphen Underscore Dot Slash Colon Comma Semicolon Quote Apostrophe Backquote LeftParen RightParen " +
		"LeftBracket RightBracket LeftBrace RightBrace Backslash"
	const meaningful = "Plus Hash Star And Percent Dollar At Bang Less Greater Equal Tilde Caret Pipe Question"
	if i := strings.IndexRune(" -_./:,;\"'`()[]{}\\", r); i >= 0 {
		return strings.Fields(separators)[i], true
	}
	if i := strings.IndexRune("+#*&%$@!<>=~^|?", r); i >= 0 {
		return strings.Fields(meaningful)[i], false
	}
	return fmt.Sprintf("U%04X", r), unicode.IsSpace(r) || !unicode.IsPrint(r)
}
