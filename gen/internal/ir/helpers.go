package ir

import "slices"

// assignHelpers finds what is in use: it names the functions that read and
// walk what no function of package wire does alone, gives each to the type
// that first needs it, and drops the rule tables that nothing refers to.
func (b *builder) assignHelpers() {
	u := &usage{b: b, helpers: map[string]*Type{}, rules: map[*Rule]bool{}}
	for _, t := range b.pkg.Types {
		u.declared(t)
	}
	unused := func(r *Rule) bool { return !u.rules[r] }
	b.pkg.Rules = slices.DeleteFunc(b.pkg.Rules, unused)
	for _, t := range b.pkg.Types {
		t.Rules = slices.DeleteFunc(t.Rules, unused)
	}
	for _, r := range b.everyRule() {
		u.rules[r] = true
	}
	used := map[*Pattern]bool{}
	for r := range u.rules {
		used[r.Pattern] = true
		for _, p := range r.Patterns {
			used[p] = true
		}
	}
	b.pkg.Patterns = slices.DeleteFunc(b.pkg.Patterns, func(p *Pattern) bool { return !used[p] })
}

// everyRule lists the rule tables that are kept.
func (b *builder) everyRule() []*Rule {
	all := slices.Clone(b.pkg.Rules)
	for _, t := range b.pkg.Types {
		all = append(all, t.Rules...)
	}
	return all
}

// A usage notes which functions and rule tables are referred to.
type usage struct {
	b       *builder
	owner   *Type            // the declared type whose code is looked at
	helpers map[string]*Type // by helperKey
	rules   map[*Rule]bool
}

// declared looks at the code of one declared type.
func (u *usage) declared(t *Type) {
	u.owner = t
	switch t.Kind {
	case KindStruct, KindTuple:
		if t.Rule != nil {
			u.rules[t.Rule] = true
		}
	case KindUnion:
		for _, v := range t.Variants {
			if v.Type.Rule != nil {
				u.rules[v.Type.Rule] = true
			}
		}
	case KindBox:
		u.use(t.Elem)
	}
	for _, f := range t.Fields {
		u.use(f.Type)
	}
	for _, item := range t.Items {
		u.use(item)
	}
	if t.Extra != nil {
		u.passRead(t.Extra)
		u.passWalk(t.Extra)
		u.check(t.Extra)
	}
}

// use is for a type that generated code reads by a call and walks by a function value.
func (u *usage) use(t *Type) {
	u.check(t)
	u.passWalk(t)
	switch t.Kind {
	case KindUnion:
		u.passRead(t)
	case KindArray, KindMap, KindNull, KindPointer:
		u.passRead(t.Elem)
		u.check(t.Elem)
	}
}

// check notes the rule table that calls for t are given.
func (u *usage) check(t *Type) {
	if r := t.Check(); r != nil {
		u.rules[r] = true
	}
}

// passRead is for a type whose reading function is passed as a value.
func (u *usage) passRead(t *Type) {
	switch t.Kind {
	case KindUnion:
		own := u.b.types[t.Name]
		if own.Read == "" {
			own.Read = u.b.scope.unique("read" + own.Name)
			u.check(own)
		}
		t.Read = own.Read
	case KindTuple, KindArray, KindMap, KindNull, KindPointer:
		h := u.helper(t)
		if h.Read == "" {
			h.Read = u.b.scope.unique("read" + helperName(t))
			if h.Elem != nil { // a tuple's elements are read by its own method
				u.check(h.Elem)
				u.passRead(h.Elem)
			}
		}
		t.Read = h.Read
	}
}

// passWalk is for a type whose walking function is passed as a value.
func (u *usage) passWalk(t *Type) {
	switch t.Kind {
	case KindArray, KindMap, KindNull, KindPointer:
		h := u.helper(t)
		if h.Walk == "" {
			h.Walk = u.b.scope.unique("walk" + helperName(t))
			u.check(h.Elem)
			u.passWalk(h.Elem)
		}
		t.Walk = h.Walk
	}
}

// helper is the type whose functions read and walk t. The first of all that
// are alike has them, and they stand with the declared type that first needs them.
func (u *usage) helper(t *Type) *Type {
	key := helperKey(t)
	h := u.helpers[key]
	if h == nil {
		own := *t
		own.Read, own.Walk = "", ""
		h = &own
		u.helpers[key] = h
		u.owner.Helpers = append(u.owner.Helpers, h)
	}
	return h
}

// helperKey is equal for types that one function can read and walk: those
// with the same Go type and, inside, the same rule tables. The outer table is
// a parameter.
func helperKey(t *Type) string {
	switch t.Kind {
	case KindArray, KindMap:
		key := "[]"
		if t.Kind == KindMap {
			key = "map"
		}
		if r := t.Elem.Check(); r != nil {
			key += "(" + r.Var + ")"
		}
		return key + helperKey(t.Elem)
	case KindNull:
		return "null " + helperKey(t.Elem)
	case KindPointer:
		return "*" + helperKey(t.Elem)
	}
	return helperName(t)
}

// helperName is what the functions for t are named after: its Go type where
// that says it all, else the site of the schema.
func helperName(t *Type) string {
	switch t.Kind {
	case KindString:
		return "String"
	case KindInt:
		return "Int"
	case KindFloat:
		return "Float"
	case KindBool:
		return "Bool"
	case KindRaw:
		return "Raw"
	case KindNull:
		return helperName(t.Elem) + "OrNull"
	case KindPointer:
		return helperName(t.Elem) + "Pointer"
	case KindArray, KindMap:
		if r := t.Elem.Check(); r != nil && t.Elem.Base().Name == "" {
			return t.base
		}
		if t.Kind == KindArray {
			return helperName(t.Elem) + "List"
		}
		return helperName(t.Elem) + "Map"
	}
	return t.Name
}
