package normalize

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/ambit-tools/ambit/internal/importer/jsontree"
)

// values puts type, enum and const of one schema right.
func (w *work) values(s *jsontree.Value) {
	if t := s.Get("type"); t.Is(jsontree.Array) && len(t.Items) == 1 {
		s.Set("type", t.Items[0])
		w.note(Unwrapped, t, "list of one type unwrapped")
	}
	w.distinct(s)
	w.addType(s)
	if e := s.Get("enum"); e.Is(jsontree.Array) && s.Get("type") != nil {
		fitting := slices.DeleteFunc(slices.Clone(e.Items), func(v *jsontree.Value) bool { return !takes(s, v) })
		if len(fitting) > 0 && len(fitting) < len(e.Items) {
			s.Set("enum", jsontree.NewArray(e, fitting...))
			w.note(ValuesDropped, e, "values removed from enum that the type excludes")
		}
	}
	t := s.Get("type")
	if !t.Is(jsontree.Array) || len(t.Items) != 2 || !slices.ContainsFunc(t.Items, func(v *jsontree.Value) bool { return v.IsText("null") }) {
		return
	}
	var listed []*jsontree.Value
	if e := s.Get("enum"); e.Is(jsontree.Array) {
		listed = e.Items
	} else if c := s.Get("const"); c != nil {
		listed = []*jsontree.Value{c}
	}
	if len(listed) > 0 && !slices.ContainsFunc(listed, func(v *jsontree.Value) bool { return v.Is(jsontree.Null) }) {
		s.Set("type", slices.DeleteFunc(slices.Clone(t.Items), func(v *jsontree.Value) bool { return v.IsText("null") })[0])
		w.note(Nullable, t, "\"null\" removed from the type: the listed values exclude it")
	}
}

// distinct removes repeated values of an enum.
func (w *work) distinct(s *jsontree.Value) {
	e := s.Get("enum")
	if !e.Is(jsontree.Array) || !repeats(e.Items) {
		return
	}
	seen := map[string]bool{}
	s.Set("enum", jsontree.NewArray(e, slices.DeleteFunc(slices.Clone(e.Items), func(v *jsontree.Value) bool {
		c := jsontree.Canonical(v)
		twice := seen[c]
		seen[c] = true
		return twice
	})...))
	w.note(ValuesDropped, e, "repeated values removed from enum")
}

// addType writes the type that listed values imply.
func (w *work) addType(s *jsontree.Value) {
	if slices.ContainsFunc([]string{"type", "$ref", "anyOf", "oneOf", "allOf", "not"}, s.Has) {
		return
	}
	var values []*jsontree.Value
	if e := s.Get("enum"); e.Is(jsontree.Array) {
		values = e.Items
	} else if c := s.Get("const"); c != nil {
		values = []*jsontree.Value{c}
	}
	t := typeOf(values)
	if t == "" {
		return
	}
	typ := jsontree.NewString(t, s)
	if slices.ContainsFunc(values, func(v *jsontree.Value) bool { return v.Is(jsontree.Null) }) {
		typ = jsontree.NewArray(s, typ, jsontree.NewString("null", s))
	}
	s.Members = slices.Insert(s.Members, 0, &jsontree.Member{Name: "type", Pos: s.Pos, Value: typ})
	w.note(TypeAdded, s, "type %s added: the listed values have it", t)
}

// arrays closes tuples whose length their bounds fix, and writes minItems: 0 for a closed tuple
// without it, since a declaration would want all of its items.
func (w *work) arrays(s *jsontree.Value) {
	tuple := s.Get("prefixItems")
	if !tuple.Is(jsontree.Array) {
		return
	}
	n := strconv.Itoa(len(tuple.Items))
	low, high := s.Get("minItems"), s.Get("maxItems")
	closed := s.Get("items").Is(jsontree.Bool) && !s.Get("items").Bool
	if low.Is(jsontree.Number) && low.Text == n && (closed || high.Is(jsontree.Number) && high.Text == n) {
		s.Set("items", jsontree.NewBool(false, tuple))
		s.Delete("minItems")
		s.Delete("maxItems")
		w.note(Tuple, tuple, "tuple of fixed length written with items: false")
	} else if closed && low == nil {
		s.Set("minItems", jsontree.NewNumber("0", tuple))
		w.note(Tuple, tuple, "minItems: 0 added: the list may be shorter")
	}
}

// bounds removes bounds that others imply.
func (w *work) bounds(s *jsontree.Value) {
	for _, b := range []struct {
		plain, strict string
		narrower      int
	}{{"minimum", "exclusiveMinimum", 1}, {"maximum", "exclusiveMaximum", -1}} {
		x, y := rat(s.Get(b.plain)), rat(s.Get(b.strict))
		if x == nil || y == nil {
			continue
		}
		drop := b.plain
		if x.Cmp(y) == b.narrower {
			drop = b.strict
		}
		w.note(Bound, s.Get(drop), "%s removed: the other bound is narrower", drop)
		s.Delete(drop)
	}
	if !onlyInteger(s) {
		return
	}
	for _, name := range []string{"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"} {
		at := s.Get(name)
		r := rat(at)
		if r == nil || strings.HasSuffix(strings.ToLower(name), "minimum") != (r.Sign() < 0) {
			continue
		}
		if !r.IsInt() || r.Num().IsInt64() {
			continue
		}
		s.Delete(name)
		w.note(Bound, at, "%s %s removed: integers have 64 bits", name, at.Text)
	}
}

func rat(v *jsontree.Value) *big.Rat {
	if !v.Is(jsontree.Number) {
		return nil
	}
	return jsontree.Rat(v.Text)
}
