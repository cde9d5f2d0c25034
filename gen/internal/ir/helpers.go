package ir

import "slices"

// assignHelpers finds what is in use: it names the functions that read and
// walk what no function of package wire does alone, gives each to the type
// that first needs it, and drops the rule tables that nothing refers to.
func (b *builder) assignHelpers() {
	u := &usage{b: b, read: map[*Type]bool{}, walk: map[*Type]bool{}, rules: map[*Rule]bool{}}
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
	b          *builder
	owner      *Type // the declared type whose code is looked at
	read, walk map[*Type]bool
	rules      map[*Rule]bool
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
			u.rules[v.Type.Rule] = true
		}
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
		if !u.read[own] {
			u.read[own] = true
			own.Read = u.b.scope.unique("read" + own.Name)
			u.check(own)
		}
		t.Read = own.Read
	case KindTuple:
		own := u.b.types[t.Name]
		if !u.read[own] {
			u.read[own] = true
			own.Read = u.b.scope.unique("read" + own.Name)
			u.owner.Helpers = append(u.owner.Helpers, own)
		}
		t.Read = own.Read
	case KindArray, KindMap, KindNull, KindPointer:
		if u.read[t] {
			return
		}
		u.read[t] = true
		t.Read = u.b.scope.unique("read" + t.base)
		u.help(t)
		u.passRead(t.Elem)
		u.check(t.Elem)
	}
}

// passWalk is for a type whose walking function is passed as a value.
func (u *usage) passWalk(t *Type) {
	switch t.Kind {
	case KindArray, KindMap, KindNull, KindPointer:
		if u.walk[t] {
			return
		}
		u.walk[t] = true
		t.Walk = u.b.scope.unique("walk" + t.base)
		u.help(t)
		u.passWalk(t.Elem)
		u.check(t.Elem)
	}
}

// help gives the functions of t to the type that first needs one of them.
func (u *usage) help(t *Type) {
	if u.read[t] && u.walk[t] {
		return // the other function was given already, and brings this one along
	}
	u.owner.Helpers = append(u.owner.Helpers, t)
}
