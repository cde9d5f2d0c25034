package scenario

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/dsl"
)

// parseTools reads the tools of a case with the reader of declarations, which
// gets them with everything filled in that they leave out.
func (r *reader) parseTools(c *Case, tools, rules *node) {
	if tools == nil {
		if rules != nil {
			r.report(rules.pos, "add tools", "rules of a set without tools")
		}
		return
	}
	if tools.kind != kindMap {
		r.report(tools.pos, "write tools: {name: {}}", "tools must be a mapping, not %s", tools.kind)
		return
	}
	if len(tools.pairs) == 0 {
		return
	}
	d := declaration{reader: r, open: map[string]bool{}}
	file, err := dsl.Parse(r.path, d.text(tools, rules))
	if err != nil {
		for _, f := range err.(dsl.Diagnostics) {
			r.report(d.places[min(max(f.Pos.Line, 1), len(d.places))-1], f.Hint, "%s", f.Message)
		}
		return
	}
	c.deadlines = map[string]time.Duration{}
	for _, t := range file.Tools {
		if _, own := t.Keys["deadline"]; own {
			c.deadlines[t.Name] = t.Deadline
		}
		if d.open[t.Name] {
			t.Input = &dsl.Schema{Pos: t.Pos, Type: dsl.TypeObject}
		}
	}
	c.tools = file
}

// A declaration is the text of a case's tools as a file of their own. Each of
// its lines holds one token, so that the line of a fault leads to the place in
// the scenario file.
type declaration struct {
	*reader
	out    bytes.Buffer
	places []dsl.Pos       // by line
	open   map[string]bool // tools that take any arguments
}

// line writes a line that stands for a place.
func (d *declaration) line(pos dsl.Pos, text string) {
	d.out.WriteString(text)
	d.out.WriteByte('\n')
	d.places = append(d.places, pos)
}

func (d *declaration) text(tools, rules *node) []byte {
	d.line(tools.pos, "{ambit: v1, package: scenario,")
	if rules != nil {
		d.line(rules.pos, "rules:")
		d.write(rules, ",")
	}
	d.line(tools.pos, "tools: {")
	for _, p := range tools.pairs {
		t := d.fill(p)
		d.line(p.key, jsonString(p.name)+":")
		d.write(t, ",")
	}
	d.line(tools.pos, "}}")
	return d.out.Bytes()
}

// safeScalar is a scalar that means the same inside of a flow mapping.
var safeScalar = regexp.MustCompile(`^[A-Za-z0-9_.+-]+$`)

// write writes n and what follows it.
func (d *declaration) write(n *node, after string) {
	switch n.kind {
	case kindMap:
		d.line(n.pos, "{")
		for _, p := range n.pairs {
			d.line(p.key, jsonString(p.name)+":")
			d.write(p.val, ",")
		}
		d.line(n.pos, "}"+after)
	case kindList:
		d.line(n.pos, "[")
		for _, item := range n.items {
			d.write(item, ",")
		}
		d.line(n.pos, "]"+after)
	case kindString:
		if n.plain && safeScalar.MatchString(n.text) {
			d.line(n.pos, n.text+after)
			return
		}
		d.line(n.pos, jsonString(n.text)+after)
	default:
		d.line(n.pos, string(n.appendJSON(nil))+after)
	}
}

// fill adds to a tool what a declaration must have.
func (d *declaration) fill(e pair) *node {
	t := &node{kind: kindMap, pos: e.key}
	if e.val.kind == kindMap {
		t.pairs = slices.Clone(e.val.pairs)
	} else if e.val.kind != kindNull {
		return e.val // dsl says what is wrong
	}
	at := e.key
	t.add(at, "version", text(at, "1.0.0"))
	t.add(at, "description", text(at, "The tool "+e.name+"."))
	t.each("input", func(n *node) *node { return describe(n, "object") })
	t.each("output", func(n *node) *node { return describe(n, "object") })
	if t.get("input") == nil {
		d.open[e.name] = true
		t.add(at, "input", openInput(at, t))
		if t.get("heartbeat") == nil {
			t.add(at, "heartbeat", &node{kind: kindBool, pos: at, text: "true"})
		}
	} else if in := t.get("input"); t.get("heartbeat") == nil && (in.get("properties") == nil || in.get("properties").get("request_heartbeat") == nil) {
		t.add(at, "heartbeat", &node{kind: kindBool, pos: at, text: "true"})
	}
	t.add(at, "output", openObject(at))
	t.each("consent", func(n *node) *node { return n.with("ask", text(n.pos, "policy")) })
	t.each("undo", fillUndo)
	t.each("idempotency", func(n *node) *node { return n.with("window", text(n.pos, "5m")) })
	return t
}

// fillUndo reads "undo: true" as an undo that needs to know nothing.
func fillUndo(n *node) *node {
	if n.kind == kindBool && n.text == "true" || n.kind == kindNull {
		n = &node{kind: kindMap, pos: n.pos}
	}
	if n.kind == kindMap && n.get("state") != nil {
		return describe(n, "")
	}
	return n.with("state", openObject(n.pos))
}

// openInput is the schema of any arguments, with the members that the tool's
// other keys name, since declarations may name no other. They are taken out
// once that has been checked.
func openInput(at dsl.Pos, t *node) *node {
	members := &node{kind: kindMap, pos: at}
	for _, name := range namedMembers(t) {
		m := &node{kind: kindMap, pos: at}
		m.add(at, "type", text(at, "string"))
		m.add(at, "description", text(at, "A member."))
		if c := t.get("consent"); c != nil && c.get("reveal") != nil && slices.ContainsFunc(c.get("reveal").items, func(n *node) bool { return n.text == name }) {
			m.add(at, "x-sensitive", &node{kind: kindBool, pos: at, text: "true"})
		}
		members.add(at, name, m)
	}
	in := openObject(at)
	if len(members.pairs) > 0 {
		in.add(at, "properties", members)
	}
	return in
}

var placeholder = regexp.MustCompile(`\{([^{}]*)\}`)

// namedMembers lists the members of the input that other keys of a tool name.
func namedMembers(t *node) []string {
	var names []string
	lists := func(n *node) {
		if n != nil {
			for _, item := range n.items {
				names = append(names, item.text)
			}
		}
	}
	if rules := t.get("rules"); rules != nil && rules.get("allowed_operations") != nil {
		if arg := rules.get("allowed_operations").get("arg"); arg != nil {
			names = append(names, arg.text)
		}
	}
	if i := t.get("idempotency"); i != nil {
		lists(i.get("key"))
	}
	if c := t.get("consent"); c != nil {
		lists(c.get("reveal"))
		if m := c.get("message"); m != nil {
			for _, match := range placeholder.FindAllStringSubmatch(m.text, -1) {
				names = append(names, match[1])
			}
		}
	}
	names = slices.DeleteFunc(names, func(s string) bool { return s == "" })
	slices.Sort(names)
	return slices.Compact(names)
}

// describe adds the types and descriptions that schemas must have to every
// property below n.
func describe(n *node, kind string) *node {
	if n.kind != kindMap {
		return n
	}
	out := &node{kind: kindMap, pos: n.pos, pairs: slices.Clone(n.pairs)}
	if kind != "" && n.get("$ref") == nil && n.get("oneOf") == nil {
		out.add(n.pos, "type", text(n.pos, kind))
	}
	for i, p := range out.pairs {
		v := p.val
		switch {
		case p.name == "properties" && v.kind == kindMap:
			v = &node{kind: kindMap, pos: v.pos, pairs: slices.Clone(v.pairs)}
			for j, m := range v.pairs {
				v.pairs[j].val = describe(m.val, "").with("description", text(m.key, "The member "+strings.TrimSpace(m.name)+"."))
			}
		case slices.Contains([]string{"items", "additionalProperties", "state"}, p.name) && v.kind == kindMap:
			v = describe(v, "")
		}
		out.pairs[i].val = v
	}
	return out
}

// add sets a key that is absent.
func (n *node) add(at dsl.Pos, name string, val *node) {
	if n.get(name) == nil {
		n.pairs = append(n.pairs, pair{name: name, key: at, val: val})
	}
}

// each replaces the value of a key, when it is there.
func (n *node) each(name string, f func(*node) *node) {
	for i, p := range n.pairs {
		if p.name == name {
			n.pairs[i].val = f(p.val)
		}
	}
}

// with returns n with a key that was absent; what is no mapping stays as it is.
func (n *node) with(name string, val *node) *node {
	if n.kind != kindMap {
		return n
	}
	out := &node{kind: kindMap, pos: n.pos, pairs: slices.Clone(n.pairs)}
	out.add(n.pos, name, val)
	return out
}

func text(at dsl.Pos, s string) *node { return &node{kind: kindString, pos: at, text: s} }

// openObject is the schema of any object.
func openObject(at dsl.Pos) *node {
	n := &node{kind: kindMap, pos: at}
	n.add(at, "type", text(at, "object"))
	n.add(at, "additionalProperties", &node{kind: kindBool, pos: at, text: "true"})
	return n
}

// jsonString quotes s as JSON does.
func jsonString(s string) string { return string(appendString(nil, s)) }

// appendString appends s as a JSON string.
func appendString(dst []byte, s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(s) != nil {
		return append(dst, `""`...) // strings can always be encoded
	}
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}
