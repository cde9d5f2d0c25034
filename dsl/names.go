package dsl

import (
	"fmt"
	"strings"
	"unicode"
)

// GoName returns the exported Go identifier for a name of the declaration.
//
// The name is cut into words at every character that is neither a letter nor a
// digit, between a lower-case letter or a digit and an upper-case letter, and
// before the last letter of a run of capitals that a lower-case letter follows.
// Each word starts with a capital and goes on in lower case; a word that is a
// common initialism is written in capitals: file_id is FileID, httpURL is
// HTTPURL, maxSize is MaxSize. When the result would not start with an
// upper-case letter, X is put before it: 2nd is X2nd. A name without letters and
// digits becomes X and its code points: $ is X24.
func GoName(name string) string {
	var b strings.Builder
	for _, word := range words(name) {
		b.WriteString(capital(word))
	}
	if b.Len() == 0 {
		for _, r := range name {
			fmt.Fprintf(&b, "%X", r)
		}
	}
	out := b.String()
	if first := []rune(out + "x")[0]; !unicode.IsUpper(first) {
		return "X" + out
	}
	return out
}

// words cuts a name as GoName says.
func words(name string) []string {
	var out []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			out = append(out, string(word))
			word = nil
		}
	}
	runes := []rune(name)
	for i, r := range runes {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			flush()
			continue
		}
		if unicode.IsUpper(r) && len(word) > 0 {
			before := word[len(word)-1]
			followed := i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if !unicode.IsUpper(before) || followed {
				flush()
			}
		}
		word = append(word, r)
	}
	flush()
	return out
}

// capital writes one word of an identifier.
func capital(word string) string {
	upper := strings.ToUpper(word)
	switch upper {
	case "ACL", "API", "ASCII", "CPU", "CSS", "CSV", "DB", "DNS", "EOF", "GUID", "HTML", "HTTP", "HTTPS",
		"ID", "IP", "JSON", "LHS", "MCP", "OS", "QPS", "RAM", "RHS", "RPC", "SLA", "SMTP", "SQL", "SSH",
		"TCP", "TLS", "TTL", "UDP", "UI", "UID", "URI", "URL", "UTF8", "UUID", "VM", "XML", "XSS", "YAML":
		return upper
	case "IPV4", "IPV6":
		return "IPv" + upper[3:]
	case "IDS", "IPS", "URIS", "URLS", "UUIDS":
		return upper[:len(upper)-1] + "s"
	}
	runes := []rune(strings.ToLower(word))
	runes[0] = unicode.ToUpper(runes[0])
	return string(runes)
}

// fold maps names that differ only by case to the same string.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, s)
}
