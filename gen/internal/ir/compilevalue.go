package ir

import (
	"cmp"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// typesOf returns those that a keyword type names.
func typesOf(v *dsl.Value) wire.Types {
	one, _ := wire.ParseType(v.Text)
	for _, item := range v.Items {
		t, _ := wire.ParseType(item.Text)
		one |= t
	}
	return one
}

// texts are values as JSON.
func (c *compiler) texts(values []*dsl.Value) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = v.JSON()
	}
	return out
}

// number is a numeric literal.
func (c *compiler) number(v *dsl.Value) string {
	if _, err := parseDecimal(v.Text); err != nil {
		c.b.errorf(v.Pos, "write it in full", "%s: %v", v.Text, err)
	}
	return v.Text
}

// count enters a bound of a count.
func (c *compiler) count(r *wire.Range, m *dsl.ValueMember) {
	d, err := parseDecimal(m.Value.Text)
	if err != nil || !d.IsInt() || !d.Num().IsInt64() {
		return // refused already
	}
	n := int(d.Num().Int64())
	if m.Name[:3] == "min" {
		r.Has, r.Min = r.Has|wire.Min, n
	} else {
		r.Has, r.Max = r.Has|wire.Max, n
	}
}

// pattern compiles a pattern, once for all schemas that have it.
func (c *compiler) pattern(source string, pos dsl.Pos) *wire.Pattern {
	return c.b.pattern(&dsl.Schema{Pattern: source, Pos: pos}, site{name: cmp.Or(c.at.name, "Schema")})
}

func names(v *dsl.Value) []string {
	var all []string
	for _, item := range v.Items {
		all = append(all, item.Text)
	}
	return all
}

// isFragment reports whether a reference has the fragment.
func isFragment(ref, fragment string) bool {
	n := len(ref) - len(fragment)
	return n > 0 && ref[n-1] == '#' && ref[n:] == fragment
}

// patternsOf lists the patterns of a table.
func (b *builder) patternsOf(s *wire.Schema) []*Pattern {
	var all []*Pattern
	add := func(p *wire.Pattern) {
		if p != nil {
			all = append(all, b.patterns[p.Source])
		}
	}
	for i := range s.Nodes {
		add(s.Nodes[i].Pattern)
		for _, p := range s.Nodes[i].Patterns {
			add(p.Pattern)
		}
	}
	return all
}
