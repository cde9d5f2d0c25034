package evolution

import (
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/internal/evolution/inclusion"
)

func member(s *dsl.Schema, name string) *dsl.Property {
	for _, p := range s.Properties {
		if p.Name == name {
			return p
		}
	}
	return nil
}

func token(name string) string { return "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }

// object compares the members of objects.
func (w *walk) object(was, now *dsl.Schema, at string) {
	if now.Type != dsl.TypeObject {
		return
	}
	for _, p := range was.Properties {
		n := member(now, p.Name)
		if n != nil {
			w.compare(p.Schema, n.Schema, at+token(p.Name))
			w.absent(p.Schema, n.Schema, at+token(p.Name))
			if x, y := field(was, p), field(now, n); x != y {
				w.add(n.Schema, "", at+token(p.Name), false, false, "the member was %s in Go and is %s", x, y).code = true
			}
			continue
		}
		// What an open object takes in its place is compared below.
		d := w.add(now, "properties", at+token(p.Name), now.Closed || now.Additional != nil, !now.Closed, "the member is not declared any more")
		d.gone = true
	}
	for _, n := range now.Properties {
		if member(was, n.Name) == nil {
			w.add(n.Schema, "", at+token(n.Name), !was.Closed, was.Closed || was.Additional != nil, "the member is new")
		}
	}
	for _, name := range now.Required {
		if !slices.Contains(was.Required, name) {
			w.add(now, "required", at+token(name), true, false, "the member is required now")
		}
	}
	for _, name := range was.Required {
		if !slices.Contains(now.Required, name) {
			n := member(now, name)
			w.add(now, "required", at+token(name), false, true, "the member may be absent now").absent = n == nil || defaultOf(n.Schema) == nil
		}
	}
	w.undeclared(was, now, at)
}

// absent compares what an absent member means.
func (w *walk) absent(was, now *dsl.Schema, at string) {
	switch a, b := was.Default, now.Default; {
	case a == nil:
	case b == nil:
		w.add(now, "default", at, true, false, "the default was %s and is not said", a.JSON())
	case !inclusion.Equal(a, b):
		w.add(now, "default", at, true, false, "the default was %s and is %s", a.JSON(), b.JSON())
	}
}

// undeclared compares which members objects take that they do not declare.
func (w *walk) undeclared(was, now *dsl.Schema, at string) {
	switch {
	case was.Closed && now.Closed:
	case was.Closed:
		w.add(now, "additionalProperties", at, false, true, "other members are taken now")
	case now.Closed:
		w.add(now, "additionalProperties", at, true, false, "other members are refused now")
	case was.Additional == nil && now.Additional == nil:
	case was.Additional == nil:
		w.add(now, "additionalProperties", at, true, false, "other members have a schema now")
	case now.Additional == nil:
		w.add(now, "additionalProperties", at, false, true, "other members have no schema any more")
	default:
		w.compare(was.Additional, now.Additional, at+"/*")
	}
}

// array compares the elements of arrays.
func (w *walk) array(was, now *dsl.Schema, at string) {
	if now.Type != dsl.TypeArray {
		return
	}
	tuples := len(was.PrefixItems) > 0 || len(now.PrefixItems) > 0
	if len(was.PrefixItems) != len(now.PrefixItems) || tuples && (was.Items == nil) != (now.Items == nil) {
		w.add(now, "prefixItems", at, true, true, "the array has other elements")
		return
	}
	if (was.Items == nil) != (now.Items == nil) { // no schema of the elements takes all
		kept, _ := w.old.Included(was, w.new, now)
		same, _ := w.new.Included(now, w.old, was)
		if !kept || !same {
			w.add(now, "items", at, !kept, !same, "the elements have another schema")
		}
		return
	}
	for i := range was.PrefixItems {
		w.compare(was.PrefixItems[i], now.PrefixItems[i], at+"/*")
	}
	w.compare(was.Items, now.Items, at+"/*")
}

// union compares the branches of unions by their tags.
func (w *walk) union(was, now *dsl.Schema, at string) {
	if was.OneOf == nil || now.OneOf == nil || was.Tag != now.Tag || was.Tag == "" {
		w.add(now, "oneOf", at, true, true, "the union has changed as a whole").gone = true
		return
	}
	a, b := branches(was), branches(now)
	for tag, branch := range a {
		if b[tag] == nil {
			w.add(now, "oneOf", at, true, false, "the branch %s is gone", tag).gone = true
		} else {
			w.compare(branch, b[tag], at)
		}
	}
	for tag, branch := range b {
		if a[tag] == nil {
			w.add(branch, "", at, false, true, "the branch %s is new", tag)
		}
	}
}

// byType compares the branches of unions that have a type each.
func (w *walk) byType(was, now *dsl.Schema, at string) {
	a, b := typesOf(was), typesOf(now)
	for _, kind := range []dsl.Type{dsl.TypeBoolean, dsl.TypeNumber, dsl.TypeString, dsl.TypeArray, dsl.TypeObject} {
		switch x, y := a[kind], b[kind]; {
		case x == nil && y == nil:
		case x == nil:
			w.add(now, now.Union, at, false, true, "%s is taken now", y.Type).gone = true
		case y == nil:
			w.add(now, now.Union, at, true, false, "%s is refused now", x.Type).gone = true
		default:
			w.compare(x, y, at)
		}
	}
	if was.ByType != now.ByType && len(a) == len(b) {
		w.add(now, now.Union, at, false, false, "the value has another type in Go").gone = true
	}
}

// typesOf are the branches of a union by their types, or of what has one type.
func typesOf(s *dsl.Schema) map[dsl.Type]*dsl.Schema {
	whole := *s
	whole.Nullable = false // null is not of the branch
	branches := []*dsl.Schema{&whole}
	if s.ByType {
		branches = s.OneOf
	}
	all := map[dsl.Type]*dsl.Schema{}
	for _, branch := range branches {
		kind := dsl.TypeObject // of a union by tag
		if b, _ := notNull(branch); b != nil && b.Type != "" {
			kind = b.Type
		}
		if kind == dsl.TypeInteger {
			kind = dsl.TypeNumber
		}
		all[kind] = branch
	}
	return all
}

// branches are the branches of a union by the text of their tag.
func branches(s *dsl.Schema) map[string]*dsl.Schema {
	out := map[string]*dsl.Schema{}
	for _, branch := range s.OneOf {
		b := resolved(branch)
		if b == nil {
			continue
		}
		if p := member(b, s.Tag); p != nil {
			if values, _ := listed(resolved(p.Schema)); len(values) > 0 {
				out[values[0].JSON()] = b
			}
		}
	}
	return out
}
