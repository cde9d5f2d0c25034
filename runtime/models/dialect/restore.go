package dialect

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/ambit-tools/ambit/runtime/internal/jsonscan"
)

// maxInputDepth bounds the nesting of an input that Restore reads. Decoders refuse a deeper one.
const maxInputDepth = 256

// Restore returns input, the arguments of a call as the model wrote them, without the members that
// are null because a strict schema does not let the model leave them out. It removes null only
// where the rewriting made the member nullable: null stays where the schema itself allows it, and
// at a name that an object has twice. Every other byte stays, white space, order and digits. An
// input that is not valid JSON is returned as it is, for the decoder to refuse.
//
// In a union, the members that tell its branches apart say which branch an object is of.
func (s *Schema) Restore(input []byte) []byte {
	if s == nil || len(s.Nullable) == 0 || !bytes.Contains(input, []byte("null")) || !json.Valid(input) {
		return input
	}
	r := restorer{schema: s, text: input}
	r.value(jsonscan.Space(input, 0), []*object{s.root}, 0)
	if len(r.cuts) == 0 || r.tooDeep {
		return input
	}
	out := make([]byte, 0, len(input))
	from := 0
	for _, c := range r.cuts {
		out = append(out, input[from:c.from]...)
		from = c.to
	}
	return append(out, input[from:]...)
}

// A restorer finds what has to be cut out of a valid text.
type restorer struct {
	schema  *Schema
	text    []byte
	cuts    []span // in their order
	tooDeep bool
}

type span struct{ from, to int }

// An entry is a member of an object of the text.
type entry struct {
	name            string
	at, value, next int  // where the name and the value begin, and where the value ends
	twice           bool // the object has another member of that name
}

// value reads the value at i, which is of one of schemas, and returns where it ends.
func (r *restorer) value(i int, schemas []*object, depth int) int {
	if depth > maxInputDepth {
		r.tooDeep = true
		return len(r.text)
	}
	switch r.text[i] {
	case '{':
		entries, end := r.entries(i)
		if len(schemas) > 0 {
			r.members(entries, r.fitting(entries, schemas), depth)
		}
		return end
	case '[':
		var items []*object
		for _, s := range r.expand(schemas) {
			if o := s.object("items"); o != nil {
				items = append(items, o)
			}
		}
		for i = jsonscan.Space(r.text, i+1); r.text[i] != ']'; i = jsonscan.Space(r.text, i) {
			if r.text[i] == ',' {
				i = jsonscan.Space(r.text, i+1)
			}
			if len(items) == 0 {
				i = jsonscan.Value(r.text, i)
			} else if i = r.value(i, items, depth+1); r.tooDeep {
				return i
			}
		}
		return i + 1
	}
	return jsonscan.Value(r.text, i)
}

// entries returns the members of the object at i, and where it ends.
func (r *restorer) entries(i int) (entries []entry, end int) {
	first := map[string]int{}
	for i = jsonscan.Space(r.text, i+1); r.text[i] != '}'; i = jsonscan.Space(r.text, i) {
		if r.text[i] == ',' {
			i = jsonscan.Space(r.text, i+1)
		}
		e := entry{at: i}
		i = jsonscan.Value(r.text, i)
		if json.Unmarshal(r.text[e.at:i], &e.name) != nil {
			return nil, len(r.text)
		}
		e.value = jsonscan.Space(r.text, jsonscan.Space(r.text, i)+1) // over the colon
		i = jsonscan.Value(r.text, e.value)
		e.next = i
		if n, ok := first[e.name]; ok {
			e.twice, entries[n].twice = true, true
		} else {
			first[e.name] = len(entries)
		}
		entries = append(entries, e)
	}
	return entries, i + 1
}

// members reads the members of an object that is of one of schemas.
func (r *restorer) members(entries []entry, schemas []*object, depth int) {
	kept := false // a member before this one stays
	for n, e := range entries {
		var below []*object
		left, allowed := false, false // out by the model; by the schema itself
		for _, s := range schemas {
			if node := s.object("properties").object(e.name); node != nil {
				below = append(below, node)
				if r.schema.made[s][e.name] {
					left = true
				} else {
					allowed = allowed || r.admitsNull([]*object{node})
				}
			}
		}
		switch {
		case left && !allowed && !e.twice && string(r.text[e.value:e.next]) == "null":
			cut := span{e.at, e.next}
			if kept { // with the comma before it
				cut.from = entries[n-1].next
			} else if n+1 < len(entries) { // with the comma after it
				cut.to = entries[n+1].at
			}
			r.cuts = append(r.cuts, cut)
			continue
		case len(below) > 0:
			if r.value(e.value, below, depth+1); r.tooDeep {
				return
			}
		}
		kept = true
	}
}

// expand replaces references and unions by what they stand for.
func (r *restorer) expand(schemas []*object) (out []*object) {
	seen := map[*object]bool{}
	var add func(s *object)
	add = func(s *object) {
		if s == nil || seen[s] {
			return
		}
		seen[s] = true
		if ref := s.text("$ref"); ref != "" {
			add(r.schema.root.resolve(ref))
			return
		}
		branches := s.list("anyOf")
		for _, b := range branches {
			add(b.(*object))
		}
		if branches == nil {
			out = append(out, s)
		}
	}
	for _, s := range schemas {
		add(s)
	}
	return out
}

// fitting returns the schemas of objects that an object may be of: those whose listed values are not
// contradicted by its members.
func (r *restorer) fitting(entries []entry, schemas []*object) (out []*object) {
	for _, s := range r.expand(schemas) {
		props := s.object("properties")
		if props != nil && !slices.ContainsFunc(entries, func(e entry) bool { return r.contradicts(e, props) }) {
			out = append(out, s)
		}
	}
	return out
}

// contradicts reports whether a member has a value that properties do not list.
func (r *restorer) contradicts(e entry, props *object) bool {
	node := props.object(e.name)
	if node == nil {
		return false
	}
	values, ok := node.literals()
	if !ok && node.text("type") == "null" { // as the rewriting writes the constant null
		values, ok = []any{nil}, true
	}
	if !ok {
		return false
	}
	value, ok := scalar(r.text[e.value:e.next])
	return ok && !slices.ContainsFunc(values, func(v any) bool { return sameScalar(v, value) })
}

// scalar returns the value of a text that is neither an object nor an array, a number with its digits.
func scalar(text []byte) (value any, ok bool) {
	if text[0] == '{' || text[0] == '[' {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return value, d.Decode(&value) == nil
}

// sameScalar reports whether a listed value and that of a member may be the same. Numbers are the same
// by value, 1.0 and 1 too; what no float64 tells apart may be the same.
func sameScalar(listed, value any) bool {
	a, isNumber := listed.(json.Number)
	b, both := value.(json.Number)
	if !isNumber || !both {
		switch listed.(type) {
		case nil, bool, string:
			return listed == value
		}
		return false
	}
	x, errX := a.Float64()
	y, errY := b.Float64()
	return errX != nil || errY != nil || x == y
}

// admitsNull reports whether one of schemas allows null.
func (r *restorer) admitsNull(schemas []*object) bool {
	return slices.ContainsFunc(r.expand(schemas), func(s *object) bool {
		return s.text("type") == "null" || slices.Contains(s.strings("type"), "null")
	})
}
