package wire

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Rule is what a schema says of one value: *StringRule, *IntRule and so on.
type Rule interface {
	// check notes what is wrong with a token that begins at an offset.
	check(n *notes, at int, t Token)
}

// plural returns a count with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// noteNull records null where the schema wants something else.
func noteNull(n *notes, at int, t Token, want string) bool {
	if t.Kind == KindNull {
		n.note(at, t.Sensitive, "type", want, "null")
	}
	return t.Kind == KindNull
}

func (s *StringRule) check(n *notes, at int, t Token) {
	if !noteNull(n, at, t, "string") && s != nil {
		s.checkText(n, at, t.Str, t.Sensitive)
	}
}

// checkText notes what is wrong with a string. When the value is one of an
// enum it returns that, which spares a copy.
func (s *StringRule) checkText(n *notes, at int, v string, secret bool) (string, bool) {
	if s.Has != 0 && !s.surelyFits(len(v)) {
		s.checkLength(n, at, v, secret)
	}
	if s.Pattern != nil && !s.Pattern.match(v) {
		n.note(at, secret, "pattern", "a match of "+s.Pattern.Source, show(v))
	}
	if s.Format != FormatNone && !s.Format.match(v) {
		n.note(at, secret, "format", s.Format.String(), show(v))
	}
	if s.Enum == nil {
		return "", false
	}
	for _, e := range s.Enum {
		if e == v {
			return e, true
		}
	}
	if s.Const && len(s.Enum) == 1 {
		n.note(at, secret, "const", strconv.Quote(s.Enum[0]), show(v))
	} else {
		n.note(at, secret, "enum", "one of "+list(s.Enum), show(v))
	}
	return "", false
}

// surelyFits reports whether a number of bytes is right, however many code points
// they are.
func (s *StringRule) surelyFits(size int) bool {
	const most = utf8.UTFMax
	return (s.Has&Min == 0 || (size+most-1)/most >= s.Min) && (s.Has&Max == 0 || size <= s.Max)
}

// checkLength notes a wrong number of code points.
func (s *StringRule) checkLength(n *notes, at int, v string, secret bool) {
	switch c := utf8.RuneCountInString(v); {
	case s.Has&Min != 0 && c < s.Min:
		n.note(at, secret, "minLength", "at least "+plural(s.Min, "character"), strconv.Itoa(c))
	case s.Has&Max != 0 && c > s.Max:
		n.note(at, secret, "maxLength", "at most "+plural(s.Max, "character"), strconv.Itoa(c))
	}
}

func (i *IntRule) check(n *notes, at int, t Token) {
	if !noteNull(n, at, t, "integer") && i != nil {
		i.checkInt(n, at, t.Int, t.Sensitive)
	}
}

func (i *IntRule) checkInt(n *notes, at int, v int64, secret bool) {
	if i.Has != 0 {
		low := v < i.Min || v == i.Min && i.Has&ExclusiveMin != 0
		high := v > i.Max || v == i.Max && i.Has&ExclusiveMax != 0
		if low || high {
			checkRange(n, at, i.Has, low, high, i.Min, i.Max, v, secret, formatInt)
		}
	}
	if i.MultipleOf != 0 && v%i.MultipleOf != 0 {
		n.note(at, secret, "multipleOf", "a multiple of "+formatInt(i.MultipleOf), formatInt(v))
	}
	if i.Enum != nil && !slices.Contains(i.Enum, v) {
		noteEnum(n, at, i.Enum, i.Const, v, secret, formatInt)
	}
}

func (f *NumberRule) check(n *notes, at int, t Token) {
	if noteNull(n, at, t, "number") {
		return
	}
	v := t.Float
	if math.IsNaN(v) || math.IsInf(v, 0) {
		n.note(at, t.Sensitive, "type", "a finite number", FormatFloat(v))
		return
	}
	if f != nil {
		f.checkFloat(n, at, v, nil, t.Sensitive)
	}
}

// checkFloat notes what is wrong with a number; lit is how it was written, nil for v's shortest form.
func (f *NumberRule) checkFloat(n *notes, at int, v float64, lit []byte, secret bool) {
	if f.Has != 0 {
		toMin, toMax := compare(v, lit, f.Min), compare(v, lit, f.Max)
		low := toMin < 0 || toMin == 0 && f.Has&ExclusiveMin != 0
		high := toMax > 0 || toMax == 0 && f.Has&ExclusiveMax != 0
		if low || high {
			checkRange(n, at, f.Has, low, high, f.Min, f.Max, v, secret, FormatFloat)
		}
	}
	if f.MultipleOf != "" {
		if lit == nil {
			lit = appendFloat(nil, v)
		}
		if !parseDecimal(lit).multipleOf(parseDecimal([]byte(f.MultipleOf))) {
			n.note(at, secret, "multipleOf", "a multiple of "+f.MultipleOf, clip(string(lit)))
		}
	}
	if f.Enum != nil && !slices.ContainsFunc(f.Enum, func(e float64) bool { return compare(v, lit, e) == 0 }) {
		noteEnum(n, at, f.Enum, f.Const, v, secret, FormatFloat)
	}
}

// compare compares a number, written as lit, with one of the schema. Two that
// are the same float64 may still differ in what a float64 does not hold.
func compare(v float64, lit []byte, bound float64) int {
	const exact = 15 // decimal digits that every float64 holds
	if v != bound || len(lit) <= exact {
		return cmp.Compare(v, bound)
	}
	return parseDecimal(lit).cmp(parseDecimal(appendFloat(nil, bound)))
}

func (b *BoolRule) check(n *notes, at int, t Token) {
	if !noteNull(n, at, t, "boolean") && b != nil {
		b.checkBool(n, at, t.Bool, t.Sensitive)
	}
}

func (b *BoolRule) checkBool(n *notes, at int, v, secret bool) {
	if b.Enum != nil && !slices.Contains(b.Enum, v) {
		noteEnum(n, at, b.Enum, b.Const, v, secret, strconv.FormatBool)
	}
}

// check has nothing to say: any value is allowed.
func (w *RawRule) check(*notes, int, Token) {}

func (a *ArrayRule) check(n *notes, at int, t Token) { noteNull(n, at, t, "array") }

// checkArray notes what is wrong with an array of count elements that was written as text.
func (a *ArrayRule) checkArray(n *notes, at, count int, text []byte) {
	checkCount(n, at, a.Has, a.Min, a.Max, count, "Items", "item")
	if !a.Unique || count < 2 {
		return
	}
	if i, j, dup := equalItems(text); dup {
		n.note(at, a.Sensitive, "uniqueItems", "no two equal items",
			"equal items "+strconv.Itoa(i)+" and "+strconv.Itoa(j))
	}
}

func (o *ObjectRule) check(n *notes, at int, t Token) { noteNull(n, at, t, "object") }

func (o *ObjectRule) checkCount(n *notes, at, count int) {
	if o.Has != 0 {
		checkCount(n, at, o.Has, o.Min, o.Max, count, "Properties", "member")
	}
}

// check is asked when no variant was chosen.
func (u *UnionRule) check(n *notes, at int, t Token) {
	want := "object"
	if u != nil && u.Types != 0 {
		want = u.Types.String()
	}
	noteNull(n, at, t, want)
}

// checkCount notes a wrong number of elements or members.
func checkCount(n *notes, at int, has Bounds, atLeast, atMost, count int, keyword, noun string) {
	if has&Min != 0 && count < atLeast {
		n.note(at, false, "min"+keyword, "at least "+plural(atLeast, noun), strconv.Itoa(count))
	}
	if has&Max != 0 && count > atMost {
		n.note(at, false, "max"+keyword, "at most "+plural(atMost, noun), strconv.Itoa(count))
	}
}

// checkRange notes a number outside of its bounds.
func checkRange[T any](n *notes, at int, has Bounds, low, high bool, atLeast, atMost, v T, secret bool, format func(T) string) {
	if low && has&(Min|ExclusiveMin) != 0 {
		if has&ExclusiveMin != 0 {
			n.note(at, secret, "exclusiveMinimum", "more than "+format(atLeast), format(v))
		} else {
			n.note(at, secret, "minimum", "at least "+format(atLeast), format(v))
		}
	}
	if high && has&(Max|ExclusiveMax) != 0 {
		if has&ExclusiveMax != 0 {
			n.note(at, secret, "exclusiveMaximum", "less than "+format(atMost), format(v))
		} else {
			n.note(at, secret, "maximum", "at most "+format(atMost), format(v))
		}
	}
}

// noteEnum notes a value that is not one of those allowed.
func noteEnum[T any](n *notes, at int, enum []T, isConst bool, v T, secret bool, format func(T) string) {
	if isConst && len(enum) == 1 {
		n.note(at, secret, "const", format(enum[0]), format(v))
		return
	}
	all := make([]string, len(enum))
	for i, e := range enum {
		all[i] = format(e)
	}
	n.note(at, secret, "enum", "one of "+strings.Join(all, ", "), format(v))
}

func formatInt(v int64) string { return strconv.FormatInt(v, 10) }

// FormatFloat returns the shortest JSON literal that reads as v again.
func FormatFloat(v float64) string { return string(appendFloat(nil, v)) }
