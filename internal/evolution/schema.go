package evolution

import (
	"fmt"
	"math"
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
	before := len(w.found)
	if !w.values(was, now, at) {
		w.bounds(was, now, at)
	}
	w.listed(was, now, before)
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

// listed are the values that a schema lists and takes; ok is false when it lists none, or all there are.
func listed(s *dsl.Schema) (values []*dsl.Value, ok bool) {
	all := s.Enum
	if s.Const != nil {
		all = []*dsl.Value{s.Const}
	}
	for _, v := range all {
		if !inclusion.Holds(values, v) {
			values = append(values, v)
		}
	}
	return values, len(all) > 0 && !(s.Type == dsl.TypeBoolean && len(values) == 2)
}

// listed takes out of the differences since before, each of one keyword, what is none of the values: where they are listed,
// another keyword may take or refuse the same.
func (w *walk) listed(was, now *dsl.Schema, before int) {
	_, hadList := listed(was)
	_, hasList := listed(now)
	if !hadList && !hasList || len(w.found) == before {
		return
	}
	kept, _ := w.old.Included(was, w.new, now)
	same, _ := w.new.Included(now, w.old, was)
	for i := range w.found[before:] {
		d := &w.found[before+i]
		d.narrows, d.widens = d.narrows && !kept, d.widens && !same
	}
	w.found = append(w.found[:before], slices.DeleteFunc(w.found[before:], func(d difference) bool {
		return !d.narrows && !d.widens && !d.gone && !d.code && !d.absent
	})...)
}

// values compares the listed values, and reports whether both schemas list them: no other keyword says
// more of the values then.
func (w *walk) values(was, now *dsl.Schema, at string) (both bool) {
	a, hadList := listed(was)
	b, hasList := listed(now)
	switch {
	case !hadList && !hasList:
	case !hadList:
		w.add(now, "enum", at, true, false, "only listed values are taken")
	case !hasList:
		w.add(now, "type", at, false, true, "values that are not listed are taken")
	default:
		a, b = taking(was, a), taking(now, b)
		if lost := withoutValues(a, b); len(lost) > 0 {
			w.add(now, "enum", at, true, false, "%s is refused", strings.Join(lost, ", ")).code = constants(was) && constants(now)
		}
		if more := withoutValues(b, a); len(more) > 0 {
			w.add(now, "enum", at, false, true, "%s is taken", strings.Join(more, ", "))
		}
		return was.Type != dsl.TypeString && now.Type != dsl.TypeString
	}
	return false
}

// taking are the listed values that the bounds of their schema take. Those of texts are compared apart.
func taking(s *dsl.Schema, values []*dsl.Value) []*dsl.Value {
	lo, hi, step := lowest(s), highest(s), stepOf(s)
	return slices.DeleteFunc(slices.Clone(values), func(v *dsl.Value) bool {
		n := rat(v.Text)
		return v.Kind == dsl.ValueNumber && n != nil &&
			(lo.refuses(n, -1) || hi.refuses(n, 1) || step != nil && !new(big.Rat).Quo(n, step).IsInt())
	})
}

func withoutValues(list, other []*dsl.Value) (texts []string) {
	for _, v := range list {
		if !inclusion.Holds(other, v) {
			texts = append(texts, v.JSON())
		}
	}
	return texts
}

func without(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(other, s) })
}

// A limit is the narrower of an inclusive and an exclusive bound of numbers.
type limit struct {
	key     string
	said    string   // as it is written
	value   *big.Rat // nil: none
	outside bool     // the value itself is refused
}

// refuses reports whether a number is beyond the limit in a direction.
func (l limit) refuses(n *big.Rat, side int) bool {
	return l.value != nil && (n.Cmp(l.value) == side || l.outside && n.Cmp(l.value) == 0)
}

func lowest(s *dsl.Schema) limit {
	return narrower(s, limit{key: "minimum", said: s.Minimum}, limit{key: "exclusiveMinimum", said: s.ExclusiveMinimum, outside: true}, 1)
}

func highest(s *dsl.Schema) limit {
	return narrower(s, limit{key: "maximum", said: s.Maximum}, limit{key: "exclusiveMaximum", said: s.ExclusiveMaximum, outside: true}, -1)
}

// narrower returns what two bounds leave: moved to the next number that the schema takes, if they have a step, and none
// where every 64-bit integer keeps them.
func narrower(s *dsl.Schema, reached, passed limit, side int) limit {
	reached.value, passed.value = rat(reached.said), rat(passed.said)
	l := reached
	if passed.value != nil && (l.value == nil || passed.value.Cmp(l.value)*side >= 0) {
		l = passed
	}
	step := stepOf(s)
	if l.value == nil || step == nil {
		return l
	}
	n := new(big.Rat).Quo(l.value, step)
	next := new(big.Int).Div(n.Num(), n.Denom()) // Euclidean: the next lower
	if !n.IsInt() && side > 0 {
		next.Add(next, big.NewInt(1))
	} else if n.IsInt() && l.outside {
		next.Add(next, big.NewInt(int64(side)))
	}
	l.value, l.outside = new(big.Rat).Mul(new(big.Rat).SetInt(next), step), false
	if end := int64(math.MinInt64); s.Type == dsl.TypeInteger && side > 0 && l.value.Cmp(new(big.Rat).SetInt64(end)) <= 0 {
		return limit{key: l.key}
	}
	if end := int64(math.MaxInt64); s.Type == dsl.TypeInteger && side < 0 && l.value.Cmp(new(big.Rat).SetInt64(end)) >= 0 {
		return limit{key: l.key}
	}
	return l
}

// stepOf is what all numbers of a schema are multiples of; nil for none.
func stepOf(s *dsl.Schema) *big.Rat {
	step := rat(s.MultipleOf)
	if step != nil && step.Sign() <= 0 {
		return nil
	}
	if s.Type == dsl.TypeInteger {
		if step == nil {
			return big.NewRat(1, 1)
		}
		return new(big.Rat).SetInt(step.Num()) // an integer is a multiple of p/q in lowest terms if it is one of p
	}
	return step
}

func (w *walk) bounds(was, now *dsl.Schema, at string) {
	w.limits(now, at, lowest(was), lowest(now), 1)
	w.limits(now, at, highest(was), highest(now), -1)
	w.steps(was, now, at)
	low := func(key string, a, b *int) { w.bound(now, key, at, least(a), least(b), 1) }
	high := func(key string, a, b *int) { w.bound(now, key, at, most(a), most(b), -1) }
	low("minLength", was.MinLength, now.MinLength)
	high("maxLength", was.MaxLength, now.MaxLength)
	if len(was.PrefixItems) == 0 || len(now.PrefixItems) == 0 { // a tuple has as many as it has
		low("minItems", was.MinItems, now.MinItems)
		high("maxItems", was.MaxItems, now.MaxItems)
	}
	low("minProperties", was.MinProperties, now.MinProperties)
	high("maxProperties", was.MaxProperties, now.MaxProperties)
	for _, k := range [][3]string{{"pattern", inclusion.Spelling(was.Pattern), inclusion.Spelling(now.Pattern)}, {"format", was.Format, now.Format}} {
		if k[1] != k[2] {
			w.add(now, k[0], at, k[2] != "", k[1] != "", "%s was %s and is %s", k[0], or(k[1]), or(k[2]))
		}
	}
	if was.UniqueItems != now.UniqueItems {
		w.add(now, "uniqueItems", at, now.UniqueItems, was.UniqueItems, "uniqueItems was %t and is %t", was.UniqueItems, now.UniqueItems)
	}
}

// limits compares the limits of numbers, of which a value in the direction of side is narrower. What two steps make of
// one bound is said of the steps.
func (w *walk) limits(now *dsl.Schema, at string, a, b limit, side int) {
	if a.key == b.key && a.said == b.said {
		return
	}
	order := 0 // of b to a: 1 is narrower
	switch {
	case a.value == nil && b.value == nil:
	case a.value == nil:
		order = 1
	case b.value == nil:
		order = -1
	default:
		if order = b.value.Cmp(a.value) * side; order == 0 && a.outside != b.outside {
			if order = 1; a.outside {
				order = -1
			}
		}
	}
	if order == 0 {
		return
	}
	key, text := b.key, fmt.Sprintf("%s was %s and is %s", b.key, or(a.said), or(b.said))
	switch {
	case b.said == "":
		key, text = a.key, fmt.Sprintf("%s was %s and is not said", a.key, a.said)
	case a.said != "" && a.key != b.key:
		text = fmt.Sprintf("%s was %s, and %s is %s", a.key, a.said, b.key, b.said)
	}
	w.add(now, key, at, order > 0, order < 0, "%s", text)
}

// steps compares what numbers have to be multiples of.
func (w *walk) steps(was, now *dsl.Schema, at string) {
	if was.MultipleOf == "" && now.MultipleOf == "" {
		return
	}
	a, b := stepOf(was), stepOf(now)
	multiple := func(of, step *big.Rat) bool { return step == nil || of != nil && new(big.Rat).Quo(of, step).IsInt() }
	narrows, widens := !multiple(a, b), was.MultipleOf != "" && !multiple(b, a)
	if narrows || widens {
		w.add(now, "multipleOf", at, narrows, widens, "multipleOf was %s and is %s", or(was.MultipleOf), or(now.MultipleOf))
	}
}

func or(text string) string {
	if text == "" {
		return "not said"
	}
	return text
}

// bound compares one bound of a count, of which a value in the direction of sign is narrower.
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

// least is a lower bound of a count; nil for one that every count keeps.
func least(n *int) *big.Rat {
	if n == nil || *n <= 0 {
		return nil
	}
	return big.NewRat(int64(*n), 1)
}

// most is an upper bound of a count; nil for one that says nothing (SEMANTICS 7.6).
func most(n *int) *big.Rat {
	if n == nil || *n >= math.MaxInt32 {
		return nil
	}
	return big.NewRat(int64(*n), 1)
}
