package dsl

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The readers of this file return the zero value for what they refuse. A node
// that has been refused before is passed over in silence.

// wrong reports a value of the wrong kind.
func (p *parser) wrong(n *node, key, want string) {
	if n.kind == nodeBad {
		return
	}
	hint := "write " + want
	switch meant := spelling(n.text); {
	case n.kind == nodeNull:
		hint = "give a value or remove the key"
	case want == "a text" && (n.kind == nodeNumber || n.kind == nodeBool):
		hint = "quote it: " + strconv.Quote(n.text)
	case want == "a text" && n.kind == nodeMap && len(n.pairs) == 1 && n.pairs[0].val.text != "":
		name, value := n.pairs[0].name, n.pairs[0].val.text
		hint = "quote it"
		switch bare := bareWord.MatchString(name) && bareWord.MatchString(value); {
		case bare && name == "group":
			hint = "write group:" + value
		case bare:
			hint = "write " + name + ":" + value + ", or quote it"
		}
		hint += ": a colon with a blank behind it makes a mapping"
	case want == "true or false" && n.kind == nodeString && (meant == "write true" || meant == "write false"):
		hint = meant
	case n.kind == nodeString && (want == "a whole number" || want == "a number") &&
		(oldNumber.MatchString(n.text) || jsonNumber.MatchString(n.text)):
		hint = meant
	case want == "a list" && n.kind == nodeString && bareWord.MatchString(n.text) && scalarKind(n.text) == nodeString:
		hint = "write it as [" + n.text + "]"
	case want == "a list":
		hint = "write it as [a, b]"
	case want == "a mapping":
		hint = "write keys and values, such as {key: value}"
	}
	p.report(n.pos, hint, "%s must be %s, not %s", key, want, n.shown())
}

// bareWord matches what needs no quotes as an entry of a list.
var bareWord = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._/-]*$`)

func (p *parser) isMap(n *node, key string) bool {
	if n.kind != nodeMap {
		p.wrong(n, key, "a mapping")
	}
	return n.kind == nodeMap
}

func (p *parser) isList(n *node, key string) bool {
	if n.kind != nodeList {
		p.wrong(n, key, "a list")
	}
	return n.kind == nodeList
}

// entries is a list with at least one entry.
func (p *parser) entries(n *node, key string) []*node {
	if !p.isList(n, key) {
		return nil
	}
	if len(n.items) == 0 {
		p.report(n.pos, "give at least one entry or remove the key", "%s is empty", key)
	}
	return n.items
}

func (p *parser) text(n *node, key string) (string, bool) {
	if n.kind != nodeString {
		p.wrong(n, key, "a text")
		return "", false
	}
	if n.text == "" {
		p.report(n.pos, "give a value or remove the key", "%s is empty", key)
		return "", false
	}
	return n.text, true
}

// prose is text for people.
func (p *parser) prose(n *node, key string) (string, bool) {
	text, ok := p.text(n, key)
	if ok && strings.TrimSpace(text) == "" {
		p.report(n.pos, "say what it is in a sentence", "%s is blank", key)
		return "", false
	}
	return strings.TrimSpace(text), ok
}

// choice is one of a few words.
func (p *parser) choice(n *node, key string, of ...string) string {
	text, ok := p.text(n, key)
	if !ok {
		return ""
	}
	for _, word := range of {
		if text == word {
			return text
		}
	}
	hint := p.didYouMean(text, of)
	p.report(n.pos, hint, "%s must be %s, not %s", key, oneOf(of), quote(text))
	return ""
}

func (p *parser) flag(n *node, key string) bool {
	if n.kind != nodeBool {
		p.wrong(n, key, "true or false")
		return false
	}
	return n.text == "true"
}

// count is a whole number of at least least.
func (p *parser) count(n *node, key string, least int) int {
	if n.kind != nodeNumber || !isInteger(n.text) {
		p.wrong(n, key, "a whole number")
		return 0
	}
	v := rat(n.text).Num()
	switch {
	case !v.IsInt64() || v.Int64() > math.MaxInt32:
		p.report(n.pos, "write a smaller number", "%s must be at most %d, not %s", key, math.MaxInt32, n.text)
		return 0
	case v.Int64() < int64(least):
		p.report(n.pos, "write "+strconv.Itoa(least)+" or more", "%s must be at least %d, not %s", key, least, n.text)
		return 0
	}
	return int(v.Int64())
}

// duration is a Go duration above zero.
func (p *parser) duration(n *node, key string) time.Duration {
	d, ok := p.delay(n, key)
	if ok && d == 0 {
		p.report(n.pos, durationHint, "%s must be longer than zero", key)
	}
	return d
}

const durationHint = `write a number with a unit, such as 500ms, 5s or 1h30m`

// delay is a Go duration that may be zero.
func (p *parser) delay(n *node, key string) (time.Duration, bool) {
	if n.kind == nodeNumber && n.text == "0" {
		return 0, true
	}
	if n.kind == nodeNumber {
		p.report(n.pos, durationHint, "%s must be a duration, not %s", key, n.text)
		return 0, false
	}
	text, ok := p.text(n, key)
	if !ok {
		return 0, false
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		p.report(n.pos, durationHint, "%s must be a duration, not %s", key, quote(text))
		return 0, false
	case d < 0:
		p.report(n.pos, durationHint, "%s must not be negative", key)
		return 0, false
	}
	return d, true
}

// size is a number of bytes, with or without a binary unit.
func (p *parser) size(n *node, key string) int64 {
	const hint = "write bytes or a number with B, KiB, MiB or GiB, such as 64KiB"
	var digits string
	unit := "B"
	switch {
	case n.kind == nodeNumber && isInteger(n.text) && inInt64(n.text):
		digits = rat(n.text).Num().String()
	case n.kind == nodeString && sizeText.MatchString(n.text):
		m := sizeText.FindStringSubmatch(n.text)
		digits, unit = m[1], m[2]
	case n.kind == nodeBad:
		return 0
	default:
		p.report(n.pos, hint, "%s must be a size, not %s", key, n.shown())
		return 0
	}
	v, _ := strconv.ParseInt(digits, 10, 64)
	shift := map[string]int{"B": 0, "KiB": 10, "MiB": 20, "GiB": 30}[unit]
	if v <= 0 || v > math.MaxInt64>>shift {
		p.report(n.pos, hint, "%s must be above zero and below 8 EiB, not %s", key, n.text)
		return 0
	}
	return v << shift
}

// labels is a list of different names that match re; nil stands for any text.
func (p *parser) labels(n *node, key string, re *regexp.Regexp) []string {
	if !p.isList(n, key) {
		return nil
	}
	var out []string
	seen := make(map[string]bool)
	for _, item := range n.items {
		text, ok := p.text(item, "an entry of "+key)
		switch {
		case !ok:
		case seen[text]:
			p.report(item.pos, "remove one of them", "%s names %s twice", key, quote(text))
		case re != nil && !re.MatchString(text):
			p.report(item.pos, rule(re), "%s: name %s is not allowed", key, quote(text))
		case re == nil && (strings.ContainsFunc(text, isControl) || strings.TrimSpace(text) != text):
			p.report(item.pos, "remove them", "%s: %s has control characters or spaces around it", key, quote(text))
		default:
			seen[text] = true
			out = append(out, text)
		}
	}
	return out
}

// filled is labels with at least one entry.
func (p *parser) filled(n *node, key string, re *regexp.Regexp) []string {
	if n.kind == nodeList && len(n.items) == 0 {
		p.report(n.pos, "name at least one or remove the key", "%s is empty", key)
		return nil
	}
	return p.labels(n, key, re)
}

// semver is a version as semver.org defines it.
func (p *parser) semver(n *node, key string) string {
	if n.kind != nodeBad && (n.kind != nodeString || !version.MatchString(n.text)) {
		p.report(n.pos, "write MAJOR.MINOR.PATCH, such as 1.2.0", "%s must be a semantic version, not %s", key, n.shown())
	}
	return n.text
}

var version = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)` +
	`(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$`)

// number is a literal, kept exact.
func (p *parser) number(n *node, key string) string {
	if n.kind != nodeNumber {
		p.wrong(n, key, "a number")
		return ""
	}
	return n.text
}

// bound is a count of zero or more. A highest count that no value reaches is as good as any
// other such.
func (p *parser) bound(n *node, key string) *int {
	v := math.MaxInt32
	if n.kind != nodeNumber || !strings.HasPrefix(key, "max") || !isInteger(n.text) || rat(n.text).Cmp(rat(strconv.Itoa(v))) < 0 {
		v = p.count(n, key, 0)
	}
	return &v
}
