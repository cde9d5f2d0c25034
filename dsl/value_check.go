package dsl

import (
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"
)

// value reads a JSON value.
func (p *parser) value(n *node) *Value {
	v := &Value{Pos: n.pos, Text: n.text}
	switch n.kind {
	case nodeBool:
		v.Kind, v.Bool, v.Text = ValueBool, n.text == "true", ""
	case nodeNumber:
		v.Kind = ValueNumber
	case nodeString:
		v.Kind = ValueString
	case nodeList:
		v.Kind = ValueArray
		for _, item := range n.items {
			v.Items = append(v.Items, p.value(item))
		}
	case nodeMap:
		v.Kind = ValueObject
		for _, e := range n.pairs {
			if e.twin {
				continue
			}
			v.Members = append(v.Members, &ValueMember{Name: e.name, Pos: e.key, Value: p.value(e.val)})
		}
	default:
		v.Text = ""
	}
	v.refused = n.kind == nodeBad
	return v
}

// values reads a list of JSON values.
func (p *parser) values(n *node, key string) []*Value {
	var out []*Value
	for _, item := range p.entries(n, key) {
		out = append(out, p.value(item))
	}
	return out
}

// canonical maps equal JSON values to the same text: 1 and 1.0 are equal.
func canonical(v *Value) string {
	switch v.Kind {
	case ValueNumber:
		return rat(v.Text).RatString()
	case ValueArray:
		parts := make([]string, len(v.Items))
		for i, item := range v.Items {
			parts[i] = canonical(item)
		}
		return "[" + strings.Join(parts, ",") + "]"
	case ValueObject:
		parts := make([]string, len(v.Members))
		for i, m := range v.Members {
			parts[i] = (&Value{Kind: ValueString, Text: m.Name}).JSON() + ":" + canonical(m.Value)
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, ",") + "}"
	}
	return v.JSON()
}

// shownValue names a value in a message.
func shownValue(v *Value) string {
	switch v.Kind {
	case ValueArray:
		return "an array"
	case ValueObject:
		return "an object"
	case ValueString:
		return quote(v.Text)
	}
	return v.JSON()
}

// checkValues checks the values that a schema holds against the schema itself.
func (p *parser) checkValues(s *Schema) {
	nulls := 0
	s.Enum = slices.DeleteFunc(s.Enum, func(v *Value) bool {
		if v.Kind == ValueNull && s.Nullable && !v.refused {
			nulls++
			return true
		}
		return false
	})
	if s.Nullable && len(s.Enum) > 0 && nulls == 0 {
		p.report(s.Keys["enum"], `add null to the enum, or remove "null" from the type`, "enum: the type allows null and the enum does not")
	}
	own := *s
	own.Enum, own.Const = nil, nil
	for _, v := range s.Enum {
		p.fits(v, &own, "enum")
	}
	if s.Const != nil {
		p.fits(s.Const, &own, "const")
	}
	if s.Default != nil {
		p.fits(s.Default, s, "default")
	}
	for _, v := range s.Examples {
		p.fits(v, s, "examples")
	}
}

// fits reports where a value does not fit a schema. Patterns and formats are
// left to the generator, which has their engine.
func (p *parser) fits(v *Value, s *Schema, key string) {
	s = s.base()
	if s != nil && s.OrNull != nil {
		if v.Kind != ValueNull {
			p.fits(v, s.OrNull, key)
		}
		return
	}
	if s == nil || s.Any || s.Checked || v.refused || v.Kind == ValueNull && s.Nullable {
		return
	}
	if s.ByType {
		p.fitsByType(v, s, key)
		return
	}
	if s.OneOf != nil {
		p.fitsBranch(v, s, key)
		return
	}
	if !p.fitsType(v, s, key) {
		return
	}
	switch s.Type {
	case TypeString:
		p.fitsCount(v, key, "characters", utf8.RuneCountInString(v.Text), s.MinLength, s.MaxLength)
	case TypeInteger, TypeNumber:
		p.fitsNumber(v, s, key)
	case TypeArray:
		p.fitsArray(v, s, key)
	case TypeObject:
		p.fitsObject(v, s, key)
	}
	p.fitsEnum(v, s, key)
}

// fitsEnum compares a value with enum or const.
func (p *parser) fitsEnum(v *Value, s *Schema, key string) {
	allowed := s.Enum
	if s.Const != nil {
		allowed = []*Value{s.Const}
	}
	if len(allowed) == 0 {
		return
	}
	set := p.enums[s]
	if set == nil {
		set = make(map[string]bool, len(allowed))
		for _, a := range allowed {
			set[canonical(a)] = true
		}
		p.enums[s] = set
	}
	if set[canonical(v)] {
		return
	}
	var shown []string
	for _, a := range allowed[:min(len(allowed), 16)] {
		shown = append(shown, a.JSON())
	}
	p.report(v.Pos, "use "+strings.Join(shown, ", "), "%s: %s is not an allowed value", key, shownValue(v))
}

// fitsType compares the kind of a value with the type.
func (p *parser) fitsType(v *Value, s *Schema, key string) bool {
	ok, want := true, ""
	switch s.Type {
	case TypeString:
		ok, want = v.Kind == ValueString, "a string"
	case TypeInteger:
		ok, want = v.Kind == ValueNumber && isInteger(v.Text) && inInt64(v.Text), "an integer of 64 bits"
	case TypeNumber:
		ok, want = v.Kind == ValueNumber, "a number"
	case TypeBoolean:
		ok, want = v.Kind == ValueBool, "true or false"
	case TypeArray:
		ok, want = v.Kind == ValueArray, "an array"
	case TypeObject:
		ok, want = v.Kind == ValueObject, "an object"
	}
	if ok {
		return true
	}
	hint := "write " + want
	switch {
	case v.Kind == ValueNull:
		hint = `give a value, or allow null with type: [` + string(s.Type) + `, "null"]`
	case s.Type == TypeString && (v.Kind == ValueNumber || v.Kind == ValueBool):
		hint = `quote it: "` + v.JSON() + `"`
	case v.Kind == ValueString && (oldNumber.MatchString(v.Text) || jsonNumber.MatchString(v.Text)) && (s.Type == TypeInteger || s.Type == TypeNumber):
		hint = spelling(v.Text)
	case v.Kind == ValueString && s.Type == TypeBoolean:
		hint = "write true or false, without quotes"
	case v.Kind == ValueNumber && s.Type == TypeInteger:
		hint = "write a whole number, or declare type: number"
	}
	p.report(v.Pos, hint, "%s: must be %s, not %s", key, want, shownValue(v))
	return false
}

// fitsCount compares a length with its bounds.
func (p *parser) fitsCount(v *Value, key, what string, n int, low, high *int) {
	if low != nil && n < *low {
		p.report(v.Pos, "give a longer value, or change the bound", "%s: has %d %s, at least %d are wanted", key, n, what, *low)
	}
	if high != nil && n > *high {
		p.report(v.Pos, "give a shorter value, or change the bound", "%s: has %d %s, at most %d are allowed", key, n, what, *high)
	}
}

func (p *parser) fitsNumber(v *Value, s *Schema, key string) {
	x := rat(v.Text)
	bound := func(limit, words string, outside func(c int) bool) {
		if limit != "" && outside(x.Cmp(rat(limit))) {
			p.report(v.Pos, "give another value, or change the bound", "%s: %s must be %s %s", key, v.Text, words, limit)
		}
	}
	bound(s.Minimum, "at least", func(c int) bool { return c < 0 })
	bound(s.Maximum, "at most", func(c int) bool { return c > 0 })
	bound(s.ExclusiveMinimum, "above", func(c int) bool { return c <= 0 })
	bound(s.ExclusiveMaximum, "below", func(c int) bool { return c >= 0 })
	if s.MultipleOf != "" {
		if step := rat(s.MultipleOf); step.Sign() > 0 && !new(big.Rat).Quo(x, step).IsInt() {
			p.report(v.Pos, "give another value, or change multipleOf", "%s: %s must be a multiple of %s", key, v.Text, s.MultipleOf)
		}
	}
}

func (p *parser) fitsArray(v *Value, s *Schema, key string) {
	if s.PrefixItems != nil {
		if len(v.Items) != len(s.PrefixItems) {
			p.report(v.Pos, "give one element for each of prefixItems", "%s: has %d elements, %d are wanted", key, len(v.Items), len(s.PrefixItems))
			return
		}
		for i, item := range v.Items {
			p.fits(item, s.PrefixItems[i], key)
		}
		return
	}
	p.fitsCount(v, key, "elements", len(v.Items), s.MinItems, s.MaxItems)
	seen := make(map[string]bool)
	for _, item := range v.Items {
		if s.Items != nil {
			p.fits(item, s.Items, key)
		}
		if c := canonical(item); s.UniqueItems && seen[c] {
			p.report(item.Pos, "remove one of them", "%s: holds %s twice", key, shownValue(item))
		} else {
			seen[c] = true
		}
	}
}

func (p *parser) fitsObject(v *Value, s *Schema, key string) {
	p.fitsCount(v, key, "members", len(v.Members), s.MinProperties, s.MaxProperties)
	for _, m := range v.Members {
		prop := s.property(m.Name)
		switch {
		case prop != nil:
			p.fits(m.Value, prop.Schema, key)
		case s.Closed:
			p.report(m.Value.Pos, p.didYouMean(m.Name, s.propertyNames()), "%s: member %s is not declared", key, quote(m.Name))
		case s.Additional != nil:
			p.fits(m.Value, s.Additional, key)
		}
	}
	for _, name := range s.Required {
		if s.property(name) != nil && v.member(name) == nil {
			p.report(v.Pos, "add it", "%s: required member %s is missing", key, quote(name))
		}
	}
}

// fitsBranch finds the branch of a oneOf by its tag.
func (p *parser) fitsBranch(v *Value, s *Schema, key string) {
	if s.Tag == "" {
		return
	}
	if v.Kind != ValueObject {
		p.report(v.Pos, "write {"+s.Tag+": ...}", "%s: must be an object, not %s", key, shownValue(v))
		return
	}
	tag := v.member(s.Tag)
	if tag == nil {
		p.report(v.Pos, "add it", "%s: required member %s is missing", key, quote(s.Tag))
		return
	}
	var known []string
	for _, branch := range s.OneOf {
		value := branch.tagValue(s.Tag)
		if value != nil && canonical(value) == canonical(tag) {
			p.fits(v, branch, key)
			return
		}
		known = append(known, value.Text)
	}
	p.report(tag.Pos, p.didYouMean(tag.Text, known), "%s: %s is not a value of %s", key, shownValue(tag), quote(s.Tag))
}
