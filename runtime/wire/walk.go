package wire

import (
	"maps"
	"slices"
)

// A Value is a decoded value. Walk visits all of it: objects begin with a
// KindObject token, arrays with KindArray, and both end with KindEnd.
type Value interface {
	Walk(w Visitor)
}

// A Visitor is given the tokens of a value in order.
type Visitor interface {
	Visit(t Token)
}

// A Kind tells what a Token is.
type Kind uint8

// The kinds of a Token.
const (
	KindInvalid Kind = iota // a value that has no JSON form; Str says why
	KindObject              // Int is the number of members, -1 when not known in advance
	KindArray               // Int is the number of elements, -1 when not known in advance
	KindEnd
	KindName // Str is the name of a member; its value follows
	KindString
	KindInt
	KindFloat
	KindBool
	KindNull
)

// A Token is one step of a walk.
type Token struct {
	Kind      Kind
	Sensitive bool // must not be shown or logged
	Bool      bool
	Str       string
	Int       int64
	Float     float64 // Str is the exact number in JSON, when this is not
	Rule      Rule    // what the schema says; may be nil
}

// secretly marks all tokens of a sensitive value.
type secretly struct{ Visitor }

// Visit passes the token on as a sensitive one.
func (s secretly) Visit(t Token) {
	t.Sensitive = true
	s.Visitor.Visit(t)
}

func visitorFor(w Visitor, secret bool) Visitor {
	if _, done := w.(secretly); secret && !done {
		return secretly{w}
	}
	return w
}

// ruleOf returns a rule as a Rule; nil when it is none or a nil pointer.
func ruleOf[R any](rule *R) Rule {
	if rule == nil {
		return nil
	}
	r, _ := any(rule).(Rule)
	return r
}

// Member visits a member that is always present.
//
//go:noinline
func Member[P, R any](w Visitor, name string, p P, walk func(Visitor, P, R), rule R) {
	if e, ok := w.(*encoder); ok {
		e.name(name, false)
	} else {
		w.Visit(Token{Kind: KindName, Str: name})
	}
	walk(w, p, rule)
}

// OptMember visits a member when it is present.
//
//go:noinline
func OptMember[T, R any](w Visitor, name string, p *Opt[T], walk func(Visitor, *T, *R), rule *R) {
	if p.Set {
		Member(w, name, &p.V, walk, rule)
	}
}

// FixedMember visits a member that has one value and no field.
func FixedMember(w Visitor, name string, rule *StringRule) {
	w.Visit(Token{Kind: KindName, Str: name})
	w.Visit(Token{Kind: KindString, Str: rule.Enum[0], Sensitive: rule.Sensitive, Rule: rule})
}

// ExtraMembers visits the undeclared members of an open object, sorted by name.
func ExtraMembers[T, R any](w Visitor, m map[string]T, walk func(Visitor, *T, *R), rule *R) {
	if len(m) == 0 {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		v := m[name]
		Member(w, name, &v, walk, rule)
	}
}

// BeginObject visits the beginning of an object whose members follow.
//
//go:noinline
func BeginObject(w Visitor, rule *ObjectRule) {
	if e, ok := w.(*encoder); ok {
		e.begin(frame{object: true, secret: rule != nil && rule.Sensitive, members: rule, at: e.next()})
		return
	}
	t := Token{Kind: KindObject, Int: -1}
	if rule != nil {
		t.Rule, t.Sensitive = rule, rule.Sensitive
	}
	w.Visit(t)
}

// BeginArray visits the beginning of an array whose n elements follow.
func BeginArray(w Visitor, n int, rule *ArrayRule) {
	t := Token{Kind: KindArray, Int: int64(n)}
	if rule != nil {
		t.Rule, t.Sensitive = rule, rule.Sensitive
	}
	w.Visit(t)
}

// End visits the end of an object or array.
//
//go:noinline
func End(w Visitor) {
	if e, ok := w.(*encoder); ok {
		e.end()
		return
	}
	w.Visit(Token{Kind: KindEnd})
}

// WalkString visits a string.
func WalkString(w Visitor, p *string, rule *StringRule) {
	if e, ok := w.(*encoder); ok {
		e.string(*p, rule)
		return
	}
	t := Token{Kind: KindString, Str: *p}
	if rule != nil {
		t.Rule, t.Sensitive = rule, rule.Sensitive
	}
	w.Visit(t)
}

// WalkEnum visits a string of a type of its own.
func WalkEnum[S ~string](w Visitor, p *S, rule *StringRule) {
	s := string(*p)
	WalkString(w, &s, rule)
}

// WalkInt visits an integer.
func WalkInt(w Visitor, p *int64, rule *IntRule) {
	if e, ok := w.(*encoder); ok {
		e.int(*p, rule)
		return
	}
	t := Token{Kind: KindInt, Int: *p}
	if rule != nil {
		t.Rule, t.Sensitive = rule, rule.Sensitive
	}
	w.Visit(t)
}

// WalkIntEnum visits an integer of a type of its own.
func WalkIntEnum[N ~int64](w Visitor, p *N, rule *IntRule) {
	n := int64(*p)
	WalkInt(w, &n, rule)
}

// WalkFloat visits a number.
func WalkFloat(w Visitor, p *float64, rule *NumberRule) {
	t := Token{Kind: KindFloat, Float: *p}
	if rule != nil {
		t.Rule, t.Sensitive = rule, rule.Sensitive
	}
	w.Visit(t)
}

// WalkBool visits a boolean.
func WalkBool(w Visitor, p *bool, rule *BoolRule) {
	t := Token{Kind: KindBool, Bool: *p}
	if rule != nil {
		t.Rule, t.Sensitive = rule, rule.Sensitive
	}
	w.Visit(t)
}

// WalkObject visits a struct.
//
//go:noinline
func WalkObject[P Value](w Visitor, p P, rule *ObjectRule) {
	p.Walk(visitorFor(w, rule != nil && rule.Sensitive))
}

// WalkTuple visits an array whose elements have a schema each.
func WalkTuple[P Value](w Visitor, p P, rule *ArrayRule) {
	p.Walk(visitorFor(w, rule != nil && rule.Sensitive))
}

// WalkArray visits an array. A nil slice is an empty one.
func WalkArray[T, R any](w Visitor, p *[]T, rule *ArrayRule, walk func(Visitor, *T, *R), item *R) {
	w = visitorFor(w, rule != nil && rule.Sensitive)
	BeginArray(w, len(*p), rule)
	for i := range *p {
		walk(w, &(*p)[i], item)
	}
	End(w)
}

// WalkMap visits a map, sorted by name. A nil map is an empty one.
func WalkMap[T, R any](w Visitor, p *map[string]T, rule *ObjectRule, walk func(Visitor, *T, *R), value *R) {
	w = visitorFor(w, rule != nil && rule.Sensitive)
	t := Token{Kind: KindObject, Int: int64(len(*p))}
	if rule != nil {
		t.Rule, t.Sensitive = rule, rule.Sensitive
	}
	w.Visit(t)
	ExtraMembers(w, *p, walk, value)
	End(w)
}

// WalkNull visits null or the value.
func WalkNull[T, R any](w Visitor, p *Null[T], walk func(Visitor, *T, *R), rule *R) {
	if !p.Valid {
		w.Visit(Token{Kind: KindNull})
		return
	}
	walk(w, &p.V, rule)
}

// WalkPointer visits the value that is pointed to. A nil pointer is null,
// which the rule does not allow.
func WalkPointer[T, R any](w Visitor, p **T, walk func(Visitor, *T, *R), rule *R) {
	if *p == nil {
		w.Visit(Token{Kind: KindNull, Rule: ruleOf(rule)})
		return
	}
	walk(w, *p, rule)
}

// WalkUnion visits the variant that a union holds. A nil union is null, which
// the rule does not allow.
func WalkUnion[T Value](w Visitor, p *T, rule *UnionRule) {
	if any(*p) == nil {
		w.Visit(Token{Kind: KindNull, Rule: ruleOf(rule)})
		return
	}
	w = visitorFor(w, rule != nil && rule.Sensitive)
	switch w.(type) {
	case *encoder, secretly, *marking:
	default:
		w = &marking{w: w}
	}
	(*p).Walk(w)
}

// marking marks all tokens of a variant that is sensitive by its own rule,
// which only its first token tells. An encoder sees that for itself.
type marking struct {
	w     Visitor
	depth int // of objects and arrays inside the sensitive one, with itself
}

// Visit passes the token on, as a sensitive one inside of a sensitive object.
func (m *marking) Visit(t Token) {
	t.Sensitive = t.Sensitive || m.depth > 0
	switch {
	case t.Kind == KindEnd && m.depth > 0:
		m.depth--
	case t.Kind == KindObject && t.Sensitive, t.Kind == KindArray && t.Sensitive:
		m.depth++
	}
	m.w.Visit(t)
}
