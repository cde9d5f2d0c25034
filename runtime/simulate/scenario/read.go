package scenario

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/dsl"
)

// fields says what to do with each key of a mapping.
type fields map[string]func(*node)

// mapping hands every entry of n to the function of its key, and reports
// unknown and missing keys.
func (r *reader) mapping(n *node, owner string, known fields, required ...string) bool {
	if n.kind != kindMap {
		r.report(n.pos, "", "%s must be a mapping, not %s", owner, n.kind)
		return false
	}
	for _, p := range n.pairs {
		if set, ok := known[p.name]; ok {
			set(p.val)
			continue
		}
		names := make([]string, 0, len(known))
		for name := range known {
			names = append(names, name)
		}
		slices.Sort(names)
		r.report(p.key, dsl.DidYouMean(p.name, names), "unknown key %s in %s", quote(p.name), owner)
	}
	for _, key := range required {
		if n.get(key) == nil {
			r.report(n.pos, "add "+key, "%s has no %s", owner, key)
		}
	}
	return true
}

// list calls f for the elements of n.
func (r *reader) list(n *node, key string, f func(*node)) {
	if n.kind != kindList {
		r.report(n.pos, "write a list: [a, b]", "%s must be a list, not %s", key, n.kind)
		return
	}
	for _, item := range n.items {
		f(item)
	}
}

func (r *reader) string(n *node, key string, dst *string) {
	switch n.kind {
	case kindString:
		*dst = n.text
	case kindNumber, kindBool: // ids such as 1 need no quotes
		*dst = n.text
	default:
		r.report(n.pos, "", "%s must be a text, not %s", key, n.kind)
	}
}

func (r *reader) bool(n *node, key string, dst *bool) {
	if n.kind != kindBool {
		r.report(n.pos, "write true or false", "%s must be a boolean, not %s", key, n.kind)
		return
	}
	*dst = n.text == "true"
}

func (r *reader) int(n *node, key string, dst *int) {
	v, err := strconv.Atoi(n.text)
	if n.kind != kindNumber || err != nil || v < 0 {
		r.report(n.pos, "", "%s must be a whole number that is not negative", key)
		return
	}
	*dst = v
}

func (r *reader) duration(n *node, key string, dst *time.Duration) {
	if n.kind == kindNumber && n.text == "0" {
		*dst = 0
		return
	}
	d, err := time.ParseDuration(n.text)
	if n.kind != kindString || err != nil || d < 0 {
		r.report(n.pos, "write a number with a unit, such as 500ms, 5s or 1h30m", "%s must be a duration, not %s", key, n.shown())
		return
	}
	*dst = d
}

// choice reads one of some words.
func (r *reader) choice(n *node, key string, dst *string, words ...string) {
	if n.kind != kindString || !slices.Contains(words, n.text) {
		r.report(n.pos, "use "+either(words), "%s cannot be %s", key, n.shown())
		return
	}
	*dst = n.text
}

// shown is n in a message.
func (n *node) shown() string {
	switch n.kind {
	case kindString:
		return quote(n.text)
	case kindBool, kindNumber:
		return n.text
	}
	return n.kind.String()
}

// quote shows a text of the file in a message, cut when it is long.
func quote(s string) string {
	if r := []rune(s); len(r) > 64 {
		s = string(r[:63]) + "…"
	}
	return strconv.Quote(s)
}

// either lists words as a person would: a, b or c.
func either(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
