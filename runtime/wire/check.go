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

// exactDigits are the decimal digits that every float64 holds.
const exactDigits = 15

// checkFloat notes what is wrong with a number; lit is how it was written, nil for v's shortest form. A number that is right
// as it is written, and wrong as the float64 that the handler would have, is wrong (SEMANTICS 7.1.5).
func (f *NumberRule) checkFloat(n *notes, at int, v float64, lit []byte, secret bool) {
	have, also := "", ""
	wrong := f.refuses(v, lit)
	if wrong == nil && len(lit) > exactDigits {
		if wrong = f.refuses(v, nil); wrong != nil {
			also, have = ", also as a 64-bit number", ", which is "+FormatFloat(v)+" as a 64-bit number"
		}
	}
	if wrong == nil {
		return
	}
	if lit == nil {
		have = FormatFloat(v)
	} else {
		have = clip(string(lit)) + have
	}
	for _, w := range wrong {
		n.note(at, secret, w.keyword, w.text+also, have)
	}
}

// A want is a keyword that refuses a value, and what it wants instead.
type want struct{ keyword, text string }

// refuses returns the keywords that refuse a number.
func (f *NumberRule) refuses(v float64, lit []byte) (wrong []want) {
	if f.Has&(Min|ExclusiveMin) != 0 {
		switch c := compare(v, lit, f.Min, f.MinText); {
		case f.Has&ExclusiveMin != 0 && c <= 0:
			wrong = append(wrong, want{"exclusiveMinimum", "more than " + cmp.Or(f.MinText, FormatFloat(f.Min))})
		case c < 0:
			wrong = append(wrong, want{"minimum", "at least " + cmp.Or(f.MinText, FormatFloat(f.Min))})
		}
	}
	if f.Has&(Max|ExclusiveMax) != 0 {
		switch c := compare(v, lit, f.Max, f.MaxText); {
		case f.Has&ExclusiveMax != 0 && c >= 0:
			wrong = append(wrong, want{"exclusiveMaximum", "less than " + cmp.Or(f.MaxText, FormatFloat(f.Max))})
		case c > 0:
			wrong = append(wrong, want{"maximum", "at most " + cmp.Or(f.MaxText, FormatFloat(f.Max))})
		}
	}
	if f.MultipleOf != "" && !isMultiple(v, lit, f.MultipleOf) {
		wrong = append(wrong, want{"multipleOf", "a multiple of " + f.MultipleOf})
	}
	if f.Enum != nil && !slices.ContainsFunc(f.Enum, func(e float64) bool { return compare(v, lit, e, "") == 0 }) {
		keyword, text := enumWanted(f.Enum, f.Const, FormatFloat)
		wrong = append(wrong, want{keyword, text})
	}
	return wrong
}

// isMultiple reports whether a number, written as lit, is a multiple of a step.
func isMultiple(v float64, lit []byte, step string) bool {
	if lit == nil {
		lit = appendFloat(nil, v)
	}
	return parseDecimal(lit).multipleOf(parseDecimal([]byte(step)))
}

// compare compares a number, written as lit, with one of the schema, written as text. Two that
// are the same float64 may still differ in what a float64 does not hold.
func compare(v float64, lit []byte, bound float64, text string) int {
	if v != bound || text == "" && len(lit) <= exactDigits {
		return cmp.Compare(v, bound)
	}
	if lit == nil {
		lit = appendFloat(nil, v)
	}
	exact := []byte(text)
	if text == "" {
		exact = appendFloat(nil, bound)
	}
	return parseDecimal(lit).cmp(parseDecimal(exact))
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
	keyword, want := enumWanted(enum, isConst, format)
	n.note(at, secret, keyword, want, format(v))
}

// enumWanted returns const or enum, and the values that it allows.
func enumWanted[T any](enum []T, isConst bool, format func(T) string) (keyword, want string) {
	if isConst && len(enum) == 1 {
		return "const", format(enum[0])
	}
	all := make([]string, len(enum))
	for i, e := range enum {
		all[i] = format(e)
	}
	return "enum", "one of " + strings.Join(all, ", ")
}

func formatInt(v int64) string { return strconv.FormatInt(v, 10) }

// FormatFloat returns the shortest JSON literal that reads as v again.
func FormatFloat(v float64) string { return string(appendFloat(nil, v)) }
