package redact

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ambit-tools/ambit/runtime/internal/walk"
	"github.com/ambit-tools/ambit/runtime/wire"
)

const (
	withheld = "(withheld: it mentions a sensitive value)"
	// maxText is how much of a foreign text is kept.
	maxText = 4096
	// minSecret is the length from which a sensitive value is cut out of a text;
	// a text that holds a shorter one is not shown at all.
	minSecret = 4
)

// Secrets collects the texts of sensitive values. The zero value has none.
type Secrets struct {
	texts   []string
	objects []*wire.ObjectRule // that are open; nil: an array, or without a rule
}

// Visit notes a token that is sensitive. The names of members are, inside of
// something sensitive, unless they are declared.
func (s *Secrets) Visit(t wire.Token) {
	n := len(s.objects)
	switch t.Kind {
	case wire.KindObject:
		rule, _ := t.Rule.(*wire.ObjectRule)
		s.objects = append(s.objects, rule)
	case wire.KindArray:
		s.objects = append(s.objects, nil)
	case wire.KindEnd:
		s.objects = s.objects[:max(n-1, 0)]
	}
	if !t.Sensitive {
		return
	}
	switch t.Kind {
	case wire.KindString:
		s.texts = append(s.texts, t.Str)
	case wire.KindName:
		if n == 0 || s.objects[n-1] == nil || !slices.Contains(s.objects[n-1].Names, t.Str) {
			s.texts = append(s.texts, t.Str)
		}
	case wire.KindInt:
		s.texts = append(s.texts, strconv.FormatInt(t.Int, 10))
	case wire.KindFloat:
		s.texts = append(s.texts, numberForms(t)...)
	}
}

// numberForms returns how a number is printed.
func numberForms(t wire.Token) []string {
	forms := []string{
		strconv.FormatFloat(t.Float, 'g', -1, 64), strconv.FormatFloat(t.Float, 'f', -1, 64), strconv.FormatFloat(t.Float, 'e', -1, 64),
	}
	if b, violations := wire.Append(nil, walk.Tokens{{Kind: wire.KindFloat, Float: t.Float}}); violations == nil {
		forms = append(forms, string(b))
	}
	if t.Str == "" {
		return forms
	}
	forms = append(forms, t.Str)
	digits, exp, _ := strings.Cut(t.Str, "e")
	if n, err := strconv.Atoi(exp); err == nil && 0 <= n && n < 400 { // no float64 is larger
		forms = append(forms, digits+strings.Repeat("0", n))
	}
	return forms
}

// Collect adds the sensitive values of the value that f returns, nil for none. A panic
// of the value's own code ends the walk: what it showed before is collected.
func (s *Secrets) Collect(f func() wire.Value) {
	defer func() { _ = recover() }()
	if v := f(); v != nil {
		s.objects = s.objects[:0]
		v.Walk(s)
	}
}

// Redact replaces the collected values in a text that foreign code wrote, such as the
// message of an error, and shortens it to 4096 bytes of valid UTF-8. Where a value is
// shorter than four bytes the whole text is withheld. Of a value in another encoding (encodedForms) up to four
// characters of base64 at its ends may stay, which are those of its neighbours too. What the code has derived from a
// value, a digest or its first half, cannot be recognized.
func (s *Secrets) Redact(text string) string {
	slices.SortFunc(s.texts, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	s.texts = slices.Compact(s.texts)
	for _, secret := range s.texts {
		if secret == "" {
			continue
		}
		for _, form := range append(formsOf(secret), encodedForms(secret)...) {
			if !strings.Contains(text, form) {
				continue
			}
			if len(secret) < minSecret {
				return withheld
			}
			text = strings.ReplaceAll(text, form, "(sensitive)")
		}
	}
	return shorten(text)
}

// formsOf returns how a string is written: as it is, as Go quotes it, and as JSON
// does, in ASCII or not, with what HTML knows escaped or not.
func formsOf(secret string) []string {
	forms := []string{secret, strconv.Quote(secret), strconv.QuoteToASCII(secret)}
	if html, err := json.Marshal(secret); err == nil {
		forms = append(forms, string(html), asciiJSON(string(html)))
	}
	if plain, violations := wire.Append(nil, walk.Tokens{{Kind: wire.KindString, Str: secret}}); violations == nil {
		forms = append(forms, string(plain), asciiJSON(string(plain)))
	}
	for i := range forms[1:] {
		forms[i+1] = forms[i+1][1 : len(forms[i+1])-1]
	}
	slices.SortStableFunc(forms, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return slices.Compact(forms)
}

// asciiJSON escapes what is not ASCII in a JSON text.
func asciiJSON(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf:
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// shorten makes text valid UTF-8 and not longer than maxText.
func shorten(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= maxText {
		return text
	}
	cut := maxText
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}
