package evolution

import (
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/dsl"
)

// A difference of two schemas.
type difference struct {
	pos             dsl.Pos
	text            string
	narrows, widens bool
	gone            bool // a member, or its type, that code and policies may name
}

// at is where the difference is; other where the new schema has no place of it.
func (d *difference) at(other dsl.Pos) dsl.Pos {
	if d.pos.Line > 0 {
		return d.pos
	}
	return other
}

// differences compares schemas node by node. What it cannot tell is both narrower and wider:
// it may name a change that breaks nothing, and misses none.
func differences(was, now *dsl.Schema) []difference {
	w := &walk{seen: map[[2]*dsl.Schema]bool{}}
	w.compare(was, now, "")
	return w.found
}

type walk struct {
	found []difference
	seen  map[[2]*dsl.Schema]bool
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
	w.beside(was, now, at)
	was, now = resolved(was), resolved(now)
	pair := [2]*dsl.Schema{was, now}
	if was == nil || now == nil || w.seen[pair] {
		return
	}
	w.seen[pair] = true
	if w.unknown(was, now, at) {
		return
	}
	if was.OneOf != nil || now.OneOf != nil {
		w.union(was, now, at)
		return
	}
	if !w.types(was, now, at) {
		return
	}
	w.values(was, now, at)
	w.bounds(was, now, at)
	w.object(was, now, at)
	w.array(was, now, at)
}

// beside compares what stands beside references.
func (w *walk) beside(was, now *dsl.Schema, at string) {
	narrower := func(s *dsl.Schema) bool {
		for key := range s.Keys {
			if !slices.Contains([]string{"$ref", "title", "description", "deprecated", "x-sensitive", "examples", "default"}, key) {
				return true
			}
		}
		return false
	}
	if was == nil || now == nil || was.Target == nil && now.Target == nil || was.Target == nil && !narrower(now) || now.Target == nil && !narrower(was) {
		return
	}
	if (was.Target == nil || narrower(was) || now.Target == nil || narrower(now)) && printed(was) != printed(now) {
		w.add(now, "$ref", at, true, true, "what stands beside the reference is not compared")
	}
}

// known are the keywords that are compared, or that say nothing about values.
var known = strings.Fields(`$schema $ref $defs type title description deprecated x-sensitive examples default enum const oneOf
properties required additionalProperties minProperties maxProperties items prefixItems minItems maxItems uniqueItems
minLength maxLength pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf`)

// unknown compares schemas with other keywords as a whole, and reports whether it did.
func (w *walk) unknown(was, now *dsl.Schema, at string) bool {
	for _, s := range []*dsl.Schema{was, now} {
		for key := range s.Keys {
			if slices.Contains(known, key) {
				continue
			}
			if printed(was) != printed(now) {
				w.add(now, key, at, true, true, "the schema has changed, and %s is not compared", key)
			}
			return true
		}
	}
	return false
}

// printed is everything that a schema says, without the places.
func printed(s *dsl.Schema) string {
	var b strings.Builder
	printValue(&b, reflect.ValueOf(s), 0)
	return b.String()
}

func printValue(b *strings.Builder, v reflect.Value, depth int) {
	switch {
	case depth > 200:
	case v.Kind() == reflect.Pointer && !v.IsNil():
		printValue(b, v.Elem(), depth+1)
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			switch name := v.Type().Field(i).Name; name {
			case "Pos", "Keys", "Target", "Title", "Description":
			default:
				fmt.Fprintf(b, "%s{", name)
				printValue(b, v.Field(i), depth+1)
				b.WriteByte('}')
			}
		}
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			printValue(b, v.Index(i), depth+1)
			b.WriteByte(',')
		}
	default:
		fmt.Fprintf(b, "%#v", v)
	}
}

// types compares the types, and reports whether the rest can be compared.
func (w *walk) types(was, now *dsl.Schema, at string) bool {
	if was.Nullable != now.Nullable {
		w.add(now, "type", at, was.Nullable, now.Nullable, "null was %s and is %s", taken(was.Nullable), taken(now.Nullable))
	}
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

// listed are the values that a schema lists; ok is false when it takes others.
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
			w.add(now, "enum", at, true, false, "%s is refused", strings.Join(lost, ", "))
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
