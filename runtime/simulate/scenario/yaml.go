package scenario

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/dsl/yamldoc"
)

const (
	maxSource = 8 << 20
	maxDepth  = 64
	maxNodes  = 200_000 // aliases may repeat what is written once
)

type kind uint8

const (
	kindNull kind = iota
	kindBool
	kindNumber
	kindString
	kindList
	kindMap
)

// String names k in messages.
func (k kind) String() string {
	return [...]string{"nothing", "a boolean", "a number", "a text", "a list", "a mapping"}[k]
}

// A node is a YAML value whose scalars are resolved.
type node struct {
	kind  kind
	pos   dsl.Pos
	text  string // of a scalar; numbers as JSON writes them
	plain bool   // a scalar without quotes
	items []*node
	pairs []pair
}

// A pair is one entry of a mapping.
type pair struct {
	name string
	key  dsl.Pos
	val  *node
}

// get returns the value of a key, nil when it is absent.
func (n *node) get(name string) *node {
	for _, p := range n.pairs {
		if p.name == name {
			return p.val
		}
	}
	return nil
}

// A reader turns text into nodes, and nodes into cases. It notes every fault
// and goes on.
type reader struct {
	path  string
	lines []string
	nodes int
	found dsl.Diagnostics
}

// report notes a fault.
func (r *reader) report(pos dsl.Pos, hint, format string, args ...any) {
	d := &dsl.Diagnostic{Pos: pos, Hint: hint, Message: fmt.Sprintf(format, args...)}
	d.Pos.File = r.path
	d.Pos.Line = min(max(pos.Line, 1), max(len(r.lines), 1))
	d.Pos.Col = max(pos.Col, 1)
	if len(r.lines) > 0 {
		d.Excerpt = r.lines[d.Pos.Line-1]
		d.Pos.Col = min(d.Pos.Col, utf8.RuneCountInString(d.Excerpt)+1)
	}
	r.found = append(r.found, d)
}

// load reads the one document of a file. It returns nil when there is none.
func (r *reader) load(src []byte) *node {
	if len(src) > maxSource {
		r.report(dsl.Pos{}, "split it", "the file has %d bytes, more than the limit of %d", len(src), maxSource)
		return nil
	}
	text := strings.TrimPrefix(string(src), "\ufeff")
	r.lines = strings.Split(strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\r\n", "\n"), "\n")
	doc, second, err := yamldoc.Decode([]byte(text))
	switch {
	case err != nil:
		r.syntax(text, err)
		return nil
	case doc == nil || len(doc.Content) == 0:
		r.report(dsl.Pos{}, `start with "scenarios: v1"`, "the file is empty")
		return nil
	case second != nil:
		r.report(dsl.Pos{Line: second.Line, Col: second.Column}, "put it into a file of its own", "a second document starts here, a scenario file has one")
	}
	return r.convert(doc.Content[0], 1)
}

func (r *reader) syntax(text string, err error) {
	line, what := yamldoc.FaultIn([]byte(text), err)
	r.report(dsl.Pos{Line: line}, "look at this line and the ones beside it", "not valid YAML: %s", what)
}

// convert resolves a YAML node. An alias stands for what it names.
func (r *reader) convert(y *yaml.Node, depth int) *node {
	n := &node{pos: dsl.Pos{File: r.path, Line: y.Line, Col: y.Column}}
	r.nodes++
	switch {
	case depth > maxDepth:
		r.report(n.pos, "", "nested deeper than %d levels", maxDepth)
		return n
	case r.nodes > maxNodes:
		if r.nodes == maxNodes+1 {
			r.report(n.pos, "write fewer aliases", "the file has more than %d values", maxNodes)
		}
		return n
	case y.Kind != yaml.AliasNode && y.Style&yaml.TaggedStyle != 0:
		r.report(n.pos, "remove the tag; quote the value when it is a text", "tag %q is not allowed", y.Tag)
		return n
	}
	switch y.Kind {
	case yaml.AliasNode:
		at := n.pos
		n = r.convert(y.Alias, depth+1)
		n.pos = at
	case yaml.SequenceNode:
		n.kind = kindList
		for _, item := range y.Content {
			n.items = append(n.items, r.convert(item, depth+1))
		}
	case yaml.MappingNode:
		n.kind = kindMap
		r.convertPairs(n, y.Content, depth)
	case yaml.ScalarNode:
		n.kind, n.text = kindString, y.Value
		if y.Style == 0 {
			n.plain = true
			r.resolve(n)
		}
	}
	return n
}

func (r *reader) convertPairs(n *node, content []*yaml.Node, depth int) {
	for i := 0; i+1 < len(content); i += 2 {
		key := content[i]
		e := pair{name: key.Value, key: dsl.Pos{File: r.path, Line: key.Line, Col: key.Column}}
		if key.Kind != yaml.ScalarNode || key.Style == 0 && key.Value == "<<" {
			r.report(e.key, "write a name before the colon", "a key must be a text")
			continue
		}
		e.val = r.convert(content[i+1], depth+1)
		if j := slices.IndexFunc(n.pairs, func(p pair) bool { return p.name == e.name }); j >= 0 {
			r.report(e.key, "remove one of them", "duplicate key %q, first in line %d", e.name, n.pairs[j].key.Line)
			continue
		}
		n.pairs = append(n.pairs, e)
	}
}

var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// resolve tells what a scalar without quotes is: what JSON writes so. Anything
// else is a text.
func (r *reader) resolve(n *node) {
	switch n.text {
	case "", "~", "null":
		n.kind, n.text = kindNull, ""
	case "true", "false":
		n.kind = kindBool
	default:
		if jsonNumber.MatchString(n.text) {
			n.kind = kindNumber
		}
	}
}

// appendJSON appends n as JSON, numbers as they are written.
func (n *node) appendJSON(dst []byte) []byte {
	switch n.kind {
	case kindBool, kindNumber:
		return append(dst, n.text...)
	case kindString:
		return appendString(dst, n.text)
	case kindList:
		dst = append(dst, '[')
		for i, item := range n.items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.appendJSON(dst)
		}
		return append(dst, ']')
	case kindMap:
		dst = append(dst, '{')
		for i, p := range n.pairs {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendString(dst, p.name), ':')
			dst = p.val.appendJSON(dst)
		}
		return append(dst, '}')
	}
	return append(dst, "null"...)
}
