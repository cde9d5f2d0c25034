package normalize

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/ambit-tools/ambit/internal/jsonschema"
)

// values puts type, enum and const of one schema right.
func (w *work) values(s *jsonschema.Value) {
	if t := s.Get("type"); t.Is(jsonschema.Array) && len(t.Items) == 1 {
		s.Set("type", t.Items[0])
		w.note(Unwrapped, t, "list of one type unwrapped")
	}
	w.distinct(s)
	w.addType(s)
	if e := s.Get("enum"); e.Is(jsonschema.Array) && s.Get("type") != nil {
		fitting := slices.DeleteFunc(slices.Clone(e.Items), func(v *jsonschema.Value) bool { return !takes(s, v) })
		if len(fitting) > 0 && len(fitting) < len(e.Items) {
			s.Set("enum", jsonschema.NewArray(e, fitting...))
			w.note(ValuesDropped, e, "values removed from enum that the type excludes")
		}
	}
	t := s.Get("type")
	if !t.Is(jsonschema.Array) || len(t.Items) != 2 || !slices.ContainsFunc(t.Items, func(v *jsonschema.Value) bool { return v.IsText("null") }) {
		return
	}
	var listed []*jsonschema.Value
	if e := s.Get("enum"); e.Is(jsonschema.Array) {
		listed = e.Items
	} else if c := s.Get("const"); c != nil {
		listed = []*jsonschema.Value{c}
	}
	if len(listed) > 0 && !slices.ContainsFunc(listed, func(v *jsonschema.Value) bool { return v.Is(jsonschema.Null) }) {
		s.Set("type", slices.DeleteFunc(slices.Clone(t.Items), func(v *jsonschema.Value) bool { return v.IsText("null") })[0])
		w.note(Nullable, t, "\"null\" removed from the type: the listed values exclude it")
	}
}

// distinct removes repeated values of an enum.
func (w *work) distinct(s *jsonschema.Value) {
	e := s.Get("enum")
	if !e.Is(jsonschema.Array) || !repeats(e.Items) {
		return
	}
	seen := map[string]bool{}
	s.Set("enum", jsonschema.NewArray(e, slices.DeleteFunc(slices.Clone(e.Items), func(v *jsonschema.Value) bool {
		c := jsonschema.Canonical(v)
		twice := seen[c]
		seen[c] = true
		return twice
	})...))
	w.note(ValuesDropped, e, "repeated values removed from enum")
}

// addType writes the type that listed values imply.
func (w *work) addType(s *jsonschema.Value) {
	if slices.ContainsFunc([]string{"type", "$ref", "anyOf", "oneOf", "allOf", "not"}, s.Has) {
		return
	}
	var values []*jsonschema.Value
	if e := s.Get("enum"); e.Is(jsonschema.Array) {
		values = e.Items
	} else if c := s.Get("const"); c != nil {
		values = []*jsonschema.Value{c}
	}
	t := typeOf(values)
	if t == "" {
		return
	}
	typ := jsonschema.NewString(t, s)
	if slices.ContainsFunc(values, func(v *jsonschema.Value) bool { return v.Is(jsonschema.Null) }) {
		typ = jsonschema.NewArray(s, typ, jsonschema.NewString("null", s))
	}
	s.Members = slices.Insert(s.Members, 0, &jsonschema.Member{Name: "type", Pos: s.Pos, Value: typ})
	w.note(TypeAdded, s, "type %s added: the listed values have it", t)
}

// arrays closes tuples whose length their bounds fix, and writes minItems: 0 for a closed tuple
// without it, since a declaration would want all of its items.
func (w *work) arrays(s *jsonschema.Value) {
	tuple := s.Get("prefixItems")
	if !tuple.Is(jsonschema.Array) {
		return
	}
	n := strconv.Itoa(len(tuple.Items))
	low, high := s.Get("minItems"), s.Get("maxItems")
	closed := s.Get("items").Is(jsonschema.Bool) && !s.Get("items").Bool
	if low.Is(jsonschema.Number) && low.Text == n && (closed || high.Is(jsonschema.Number) && high.Text == n) {
		s.Set("items", jsonschema.NewBool(false, tuple))
		s.Delete("minItems")
		s.Delete("maxItems")
		w.note(Tuple, tuple, "tuple of fixed length written with items: false")
	} else if closed && low == nil {
		s.Set("minItems", jsonschema.NewNumber("0", tuple))
		w.note(Tuple, tuple, "minItems: 0 added: the list may be shorter")
	}
}

// bounds removes bounds that others imply.
func (w *work) bounds(s *jsonschema.Value) {
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

func rat(v *jsonschema.Value) *big.Rat {
	if !v.Is(jsonschema.Number) {
		return nil
	}
	return jsonschema.Rat(v.Text)
}
