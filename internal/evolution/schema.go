package evolution

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/internal/evolution/inclusion"
)

// A difference of two schemas.
type difference struct {
	pos             dsl.Pos
	text            string
	narrows, widens bool
	gone            bool // a member, or its type, that code and policies may name
	code            bool // the type in Go is another
	absent          bool // a member that was always there may not be
}

// at is where the difference is; other where the new schema has no place of it.
func (d *difference) at(other dsl.Pos) dsl.Pos {
	if d.pos.Line > 0 {
		return d.pos
	}
	return other
}

// differences compares schemas of two declarations node by node. What it cannot tell is both
// narrower and wider: it may name a change that breaks nothing, and misses none.
func (c *comparison) differences(was, now *dsl.Schema) []difference {
	w := &walk{seen: map[[2]*dsl.Schema]bool{}, old: c.oldSide, new: c.nowSide}
	w.compare(was, now, "")
	return w.found
}

type walk struct {
	found    []difference
	seen     map[[2]*dsl.Schema]bool
	old, new *inclusion.Side
}

func (w *walk) add(s *dsl.Schema, key, at string, narrows, widens bool, format string, args ...any) *difference {
	pos := s.Pos
	if p, ok := s.Keys[key]; ok {
		pos = p
	}
	if at == "" {
		at = "/"
	}
	w.found = append(w.found, difference{pos: pos, text: at + ": " + fmt.Sprintf(format, args...), narrows: narrows, widens: widens})
	return &w.found[len(w.found)-1]
}

// resolved follows references.
func resolved(s *dsl.Schema) *dsl.Schema {
	for i := 0; s != nil && s.Target != nil && i < 1000; i++ {
		s = s.Target.Schema
	}
	return s
}

func (w *walk) compare(was, now *dsl.Schema, at string) {
	a, hadNull := notNull(was)
	b, hasNull := notNull(now)
	pair := [2]*dsl.Schema{resolved(was), resolved(now)}
	if a == nil || b == nil || w.seen[pair] {
		return
	}
	w.seen[pair] = true
	if isRaw(a) || isRaw(b) {
		w.whole(resolved(was), resolved(now), at, len(w.found)).gone = isRaw(a) != isRaw(b)
		return
	}
	before := len(w.found)
	defer func() { w.inGo(was, now, at, before) }()
	if hadNull != hasNull {
		w.add(now, "type", at, hadNull, hasNull, "null was %s and is %s", taken(hadNull), taken(hasNull))
	}
	w.typed(a, b, at)
	if a.Composed || b.Composed {
		w.whole(a, b, at, before)
	}
}

// notNull is what the values are that are not null, and whether null is one.
func notNull(s *dsl.Schema) (typed *dsl.Schema, null bool) {
	s = resolved(s)
	for s != nil && s.OrNull != nil {
		s, null = resolved(s.OrNull), true
	}
	return s, s != nil && (null || s.Nullable)
}

// isRaw reports whether the values of a schema have no type in Go.
func isRaw(s *dsl.Schema) bool { return s.Any || s.Checked }

// typed compares what has a type in Go.
func (w *walk) typed(was, now *dsl.Schema, at string) {
	switch {
	case was.ByType || now.ByType:
		w.byType(was, now, at)
		return
	case was.OneOf != nil || now.OneOf != nil:
		w.union(was, now, at)
		return
	case !w.types(was, now, at):
		return
	}
	w.values(was, now, at)
	w.bounds(was, now, at)
	w.object(was, now, at)
	w.array(was, now, at)
}

// whole compares what schemas take, where keywords say it for which Go has no type, and adds
// a difference that is not among those found since before.
func (w *walk) whole(was, now *dsl.Schema, at string, before int) *difference {
	var d difference
	for _, found := range w.found[before:] {
		d.narrows, d.widens = d.narrows || found.narrows, d.widens || found.widens
	}
	kept, lost := w.old.Included(was, w.new, now)
	same, more := w.new.Included(now, w.old, was)
	narrows, widens := !kept && !d.narrows, !same && !d.widens
	switch {
	case narrows && widens:
		return w.add(now, lost, at, true, true, "whether the same values are taken cannot be told from %s: treated as breaking", lost)
	case narrows:
		return w.add(now, lost, at, true, false, "whether all values are taken that were cannot be told from %s: treated as breaking", lost)
	case widens:
		return w.add(now, more, at, false, true, "whether values are taken that were not cannot be told from %s: treated as breaking", more)
	}
	return &d
}

// types compares the types, and reports whether the rest can be compared.
func (w *walk) types(was, now *dsl.Schema, at string) bool {
	switch {
	case was.Type == now.Type:
		return true
	case was.Type == dsl.TypeInteger && now.Type == dsl.TypeNumber:
		w.add(now, "type", at, false, true, "the type was integer and is number").gone = true
		return true
	case was.Type == dsl.TypeNumber && now.Type == dsl.TypeInteger:
		w.add(now, "type", at, true, false, "the type was number and is integer").gone = true
		return true
	}
	w.add(now, "type", at, true, true, "the type was %s and is %s", was.Type, now.Type).gone = true
	return false
}

func taken(yes bool) string {
	if yes {
		return "taken"
	}
	return "refused"
}

// listed are the values that a schema lists; ok is false when it lists none.
func listed(s *dsl.Schema) (values []string, ok bool) {
	if s.Const != nil {
		return []string{s.Const.JSON()}, true
	}
	for _, v := range s.Enum {
		values = append(values, v.JSON())
	}
	return values, len(s.Enum) > 0
}

func (w *walk) values(was, now *dsl.Schema, at string) {
	a, hadList := listed(was)
	b, hasList := listed(now)
	switch {
	case !hadList && !hasList:
	case !hadList:
		w.add(now, "enum", at, true, false, "only listed values are taken")
	case !hasList:
		w.add(now, "type", at, false, true, "values that are not listed are taken")
	default:
		if lost := without(a, b); len(lost) > 0 {
			w.add(now, "enum", at, true, false, "%s is refused", strings.Join(lost, ", ")).code = constants(was) && constants(now)
		}
		if more := without(b, a); len(more) > 0 {
			w.add(now, "enum", at, false, true, "%s is taken", strings.Join(more, ", "))
		}
	}
}

func without(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(other, s) })
}

func (w *walk) bounds(was, now *dsl.Schema, at string) {
	low := func(key string, a, b *big.Rat) { w.bound(now, key, at, a, b, 1) }
	high := func(key string, a, b *big.Rat) { w.bound(now, key, at, a, b, -1) }
	low("minimum", rat(was.Minimum), rat(now.Minimum))
	low("exclusiveMinimum", rat(was.ExclusiveMinimum), rat(now.ExclusiveMinimum))
	high("maximum", rat(was.Maximum), rat(now.Maximum))
	high("exclusiveMaximum", rat(was.ExclusiveMaximum), rat(now.ExclusiveMaximum))
	low("minLength", count(was.MinLength), count(now.MinLength))
	high("maxLength", count(was.MaxLength), count(now.MaxLength))
	low("minItems", count(was.MinItems), count(now.MinItems))
	high("maxItems", count(was.MaxItems), count(now.MaxItems))
	low("minProperties", count(was.MinProperties), count(now.MinProperties))
	high("maxProperties", count(was.MaxProperties), count(now.MaxProperties))
	for _, k := range [][3]string{{"pattern", was.Pattern, now.Pattern}, {"format", was.Format, now.Format}, {"multipleOf", was.MultipleOf, now.MultipleOf}} {
		if k[1] != k[2] {
			w.add(now, k[0], at, k[2] != "", k[1] != "", "%s was %s and is %s", k[0], or(k[1]), or(k[2]))
		}
	}
	if was.UniqueItems != now.UniqueItems {
		w.add(now, "uniqueItems", at, now.UniqueItems, was.UniqueItems, "uniqueItems was %t and is %t", was.UniqueItems, now.UniqueItems)
	}
}

func or(text string) string {
	if text == "" {
		return "not said"
	}
	return text
}

// bound compares one bound, of which a value in the direction of sign is narrower.
func (w *walk) bound(now *dsl.Schema, key, at string, a, b *big.Rat, sign int) {
	shown := func(r *big.Rat) string {
		if r == nil {
			return "not said"
		}
		return strings.TrimSuffix(r.RatString(), "/1")
	}
	narrows := b != nil && (a == nil || b.Cmp(a) == sign)
	widens := a != nil && (b == nil || a.Cmp(b) == sign)
	if narrows || widens {
		w.add(now, key, at, narrows, widens, "%s was %s and is %s", key, shown(a), shown(b))
	}
}

func rat(text string) *big.Rat {
	if text == "" {
		return nil
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil
	}
	return r
}

func count(n *int) *big.Rat {
	if n == nil {
		return nil
	}
	return big.NewRat(int64(*n), 1)
}
