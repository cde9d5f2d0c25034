package ir

import (
	"strconv"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A Place is what has a name in Go besides the one in the declaration.
type Place struct {
	Tool   string // its name; empty in an entry of types
	At     string // "input: /a/b", "types/Item: /a"
	What   string // "member", "value", "type" or "members that are not declared"
	GoName string
	Pos    dsl.Pos
}

// Places lists the members, constants and types of a package.
func (p *Package) Places() []Place {
	w := &placeWalk{seen: map[string]bool{}}
	named := func(within string, all []*dsl.NamedSchema) {
		for _, n := range all {
			if t := p.named[n]; t != nil {
				w.walk(t, within+n.Name+": ", "")
			}
		}
	}
	named("types/", p.file.Types)
	for _, t := range p.Tools {
		w.tool = t.Decl.Name
		roots := []struct {
			key string
			s   *dsl.Schema
			t   *Type
		}{{"input", t.Decl.Input, t.Input}, {"output", t.Decl.Output, t.Output}, {"undo.state", nil, t.State}}
		if t.Decl.Undo != nil {
			roots[2].s = t.Decl.Undo.State
		}
		for _, root := range roots {
			if root.s != nil {
				named(root.key+"/$defs/", root.s.Defs)
			}
			if root.t != nil {
				w.walk(root.t, root.key+": ", "")
			}
		}
	}
	return w.all
}

type placeWalk struct {
	tool string
	all  []Place
	seen map[string]bool // names of types
}

func (w *placeWalk) add(root, at, what, name string, s *dsl.Schema) {
	p := Place{Tool: w.tool, At: root + at, What: what, GoName: name}
	if at == "" {
		p.At += "/"
	}
	if s != nil {
		p.Pos = s.Pos
	}
	w.all = append(w.all, p)
}

// walk adds what a type has below a place. A type that is declared is walked once, from where it is first
// met: entries of types before tools.
func (w *placeWalk) walk(t *Type, root, at string) {
	if t = t.Base(); t.Name != "" {
		if w.seen[t.Name] {
			return
		}
		w.seen[t.Name] = true
		w.add(root, at, "type", t.Name, t.Schema)
	}
	for _, f := range t.Fields {
		below := at + "/" + wire.EscapePointer(f.Name)
		if f.GoName != "" {
			w.add(root, below, "member", f.GoName, f.Schema)
		}
		w.walk(f.Type, root, below)
	}
	for i, item := range t.Items {
		w.walk(item, root, at+"/"+strconv.Itoa(i))
	}
	if t.Extra != nil {
		w.add(root, at, "members that are not declared", t.ExtraName, t.Schema)
		w.walk(t.Extra, root, at+"/*")
	}
	if t.Elem != nil {
		w.walk(t.Elem, root, at+"/*")
	}
	for _, v := range t.Variants {
		branch := v.Tag
		if v.JSON != 0 {
			branch = v.JSON.String()
		}
		w.walk(v.Type, root, at+" ("+branch+")")
	}
	for _, v := range t.Enum {
		value := strconv.Quote(v.Text)
		if t.Kind == KindIntEnum {
			value = strconv.FormatInt(v.Int, 10)
		}
		w.add(root, at+" "+value, "value", v.GoName, t.Schema)
	}
}
