package emit

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/ambit-tools/ambit/gen/internal/ir"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// schemaTable is the table of a schema for which Go has no type:
//
//	&wire.Schema{Nodes: []wire.Node{
//		{Any: []int{2, 3}}, // 1
//		{Types: wire.TypeString},
//		{Types: wire.TypeNull},
//	}}
func schemaTable(r *ir.Rule) *jen.Statement {
	s, vars := r.Schema(), map[*wire.Pattern]string{}
	for _, p := range r.Patterns {
		vars[p.Pattern] = p.Var
	}
	nodes := make([]jen.Code, len(s.Nodes))
	for i := range s.Nodes {
		nodes[i] = inline(nodeTable(&s.Nodes[i], vars))
	}
	var t table
	t.add(true, "Nodes", jen.Index().Add(fromWire("Node")).Add(lines(nodes)))
	t.add(s.Resources != nil, "Resources", jen.Index().Index().Add(fromWire("Part")).Add(list(s.Resources, func(parts []wire.Part) jen.Code { return list(parts, part) })))
	t.flag(s.Hidden, "Hidden")
	return jen.Op("&").Add(fromWire("Schema")).Add(inline(t))
}

func nodeTable(n *wire.Node, vars map[*wire.Pattern]string) table {
	var t table
	t.flag(n.Never, "Never")
	t.add(n.Types != 0, "Types", typeSet(n.Types))
	t.add(n.Enum != nil, "Enum", texts(n.Enum))
	t.flag(n.Const, "Const")
	for _, bound := range []struct{ name, value string }{
		{"Minimum", n.Minimum}, {"Maximum", n.Maximum}, {"ExclusiveMinimum", n.ExclusiveMinimum}, {"ExclusiveMaximum", n.ExclusiveMaximum},
		{"MultipleOf", n.MultipleOf},
	} {
		t.add(bound.value != "", bound.name, text(bound.value))
	}
	t.counted("Length", n.Length)
	if n.Pattern != nil {
		t.add(true, "Pattern", address(id(vars[n.Pattern])))
	}
	t.add(n.Format != 0, "Format", fromWire(formatName(n.Format)))
	t.counted("Items", n.Items)
	t.flag(n.Unique, "Unique")
	t.nodes("Prefix", n.Prefix...)
	t.node("Rest", n.Rest)
	t.node("Contains", n.Contains)
	t.counted("Contain", n.Contain)
	t.counted("Members", n.Members)
	t.add(n.Required != nil, "Required", texts(n.Required))
	t.parts("Properties", n.Properties)
	t.add(n.Patterns != nil, "Patterns", jen.Index().Add(fromWire("PatternPart")).Add(list(n.Patterns, func(p wire.PatternPart) jen.Code {
		return jen.Values(keyed("Pattern", address(id(vars[p.Pattern]))), keyed("Node", jen.Lit(p.Node)))
	})))
	t.node("Additional", n.Additional)
	t.node("Names", n.Names)
	t.add(n.Needs != nil, "Needs", jen.Index().Add(fromWire("Need")).Add(list(n.Needs, func(need wire.Need) jen.Code {
		return jen.Values(keyed("Name", text(need.Name)), keyed("Required", texts(need.Required)))
	})))
	t.parts("Dependencies", n.Dependencies)
	t.sameValue(n)
	return t
}

// sameValue adds the schemas of the same value.
func (t *table) sameValue(n *wire.Node) {
	t.nodes("All", n.All...)
	t.nodes("Any", n.Any...)
	t.nodes("One", n.One...)
	t.node("Not", n.Not)
	t.node("If", n.If)
	t.node("Then", n.Then)
	t.node("Else", n.Else)
	t.node("Ref", n.Ref)
	t.add(n.Anchor != "", "Anchor", text(n.Anchor))
	t.node("UnevaluatedMembers", n.UnevaluatedMembers)
	t.node("UnevaluatedItems", n.UnevaluatedItems)
	t.node("Resource", n.Resource)
}

func (t *table) node(name string, node int) { t.add(node > 0, name, jen.Lit(node)) }

func (t *table) nodes(name string, nodes ...int) {
	t.add(nodes != nil, name, jen.Index().Int().Add(list(nodes, func(n int) jen.Code { return jen.Lit(n) })))
}

func (t *table) parts(name string, parts []wire.Part) {
	t.add(parts != nil, name, jen.Index().Add(fromWire("Part")).Add(list(parts, part)))
}

func (t *table) counted(name string, r wire.Range) {
	var fields table
	bounds(&fields, r.Has, jen.Lit(r.Min), jen.Lit(r.Max))
	t.add(r.Has != 0, name, fromWire("Range").Add(inline(fields)))
}

func part(p wire.Part) jen.Code {
	return jen.Values(keyed("Name", text(p.Name)), keyed("Node", jen.Lit(p.Node)))
}

// typeSet is a set of types as the sum of its constants.
func typeSet(t wire.Types) *jen.Statement {
	out := jen.Null()
	for _, name := range []string{"null", "boolean", "integer", "number", "string", "array", "object"} {
		one, _ := wire.ParseType(name)
		if t&one == 0 {
			continue
		}
		if t&(one-1) != 0 {
			out.Op("|")
		}
		out.Add(fromWire("Type" + strings.ToUpper(name[:1]) + name[1:]))
	}
	return out
}
