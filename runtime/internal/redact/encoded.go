package redact

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// encodedForms returns how a string is written by code that encodes it for a URL, a form, a header or a page: what
// net/url and net/http write into their errors, and base64 and hexadecimal digits. The longest are first, and none is the
// string itself.
func encodedForms(secret string) []string {
	query := url.QueryEscape(secret)
	forms := []string{
		query, strings.ReplaceAll(query, "+", "%20"), component.Replace(query), url.PathEscape(secret), (&url.URL{Path: secret}).EscapedPath(),
		(&url.URL{Fragment: secret}).EscapedFragment(), url.User(secret).String(), url.QueryEscape(query), html.EscapeString(secret),
	}
	if len(secret) >= minSecret { // a few characters are in many texts
		digits := hex.EncodeToString([]byte(secret))
		forms = append(forms, digits, strings.ToUpper(digits))
		for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			for before := range 3 {
				text := within(e, secret, before)
				forms = append(forms, text, url.QueryEscape(text))
			}
		}
	}
	for _, f := range forms {
		if lower := escape.ReplaceAllStringFunc(f, strings.ToLower); lower != f {
			forms = append(forms, lower)
		}
	}
	slices.SortFunc(forms, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	return slices.DeleteFunc(slices.Compact(forms), func(f string) bool { return f == "" || f == secret })
}

// escape is an escaped byte of a URL. Its digits are written in both cases.
var escape = regexp.MustCompile(`%(?:25)?[0-9A-F]{2}`)

// component turns a form of a query into what encodeURIComponent of ECMAScript writes.
var component = strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*")

// within returns the characters of a base64 text that are those of a value alone, when some bytes are before it, as the
// name of a user is, and others may follow.
func within(e *base64.Encoding, secret string, before int) string {
	text := e.EncodeToString([]byte(strings.Repeat("\x00", before) + secret))
	from, to := (8*before+5)/6, 8*(before+len(secret))/6
	return text[from:to]
}
