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
// In a union, the names, types and values of members say which branch a value is of. Of several branches
// Restore takes one of which it removes the fewest nulls, so that the value is of that branch without them;
// a note (Changed, at the member) says where that may happen. In a tuple, the position of an element says
// what its schema is.
func (s *Schema) Restore(input []byte) []byte {
	if s == nil || len(s.Nullable) == 0 || !bytes.Contains(input, []byte("null")) || !json.Valid(input) {
		return input
	}
	r := restorer{reader: s.reader, text: input}
	r.value(jsonscan.Space(input, 0), []*value{s.reader.root}, 0)
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
	reader
	text    []byte
	cuts    []span // in their order
	tooDeep bool
	fitter  *fitter // made for the first value that may be of several schemas
}

type span struct{ from, to int }

// An entry is a member of an object of the text.
type entry struct {
	name            string
	at, value, next int  // where the name and the value begin, and where the value ends
	twice           bool // the object has another member of that name
}

// value reads the value at i, which is of one of schemas, and returns where it ends.
func (r *restorer) value(i int, schemas []*value, depth int) int {
	if depth > maxInputDepth {
		r.tooDeep = true
		return len(r.text)
	}
	switch r.text[i] {
	case '{':
		entries, end := entriesOf(r.text, i)
		if schemas = r.pick(i, entries, schemas); len(schemas) > 0 {
			r.members(entries, schemas, depth)
		}
		return end
	case '[':
		schemas = r.pick(i, nil, schemas)
		n := 0
		for i = jsonscan.Space(r.text, i+1); r.text[i] != ']'; i = jsonscan.Space(r.text, i) {
			if r.text[i] == ',' {
				i = jsonscan.Space(r.text, i+1)
			}
			var below []*value
			for _, s := range schemas {
				if o := r.element(s, n); o != nil {
					below = append(below, o)
				}
			}
			n++
			if len(below) == 0 {
				i = jsonscan.Value(r.text, i)
			} else if i = r.value(i, below, depth+1); r.tooDeep {
				return i
			}
		}
		return i + 1
	}
	return jsonscan.Value(r.text, i)
}

// pick returns which of schemas the object, of entries, or the array at i is of: one, or those that nothing in it
// contradicts where it is of none, as when a provider does not hold the model to the schema.
func (r *restorer) pick(i int, entries []entry, schemas []*value) []*value {
	keyword := "properties"
	if r.text[i] == '[' {
		keyword = "items"
	}
	of := slices.DeleteFunc(r.expand(schemas), func(s *value) bool { return s.ObjectOf(keyword) == nil })
	if len(of) < 2 {
		return of
	}
	if r.fitter == nil {
		r.fitter = newFitter(r.reader, r.text)
	}
	for _, loose := range []bool{false, true} {
		best, found := answer{}, -1
		for n, s := range of {
			if a := r.fitter.fits(question{i, s, loose}, 0); a.ok && (found < 0 || a.cuts < best.cuts) {
				best, found = a, n
			}
		}
		if found >= 0 {
			return of[found : found+1]
		}
	}
	return slices.DeleteFunc(of, func(s *value) bool {
		return slices.ContainsFunc(entries, func(e entry) bool { return r.contradicts(e, s.ObjectOf("properties")) })
	})
}

// entriesOf returns the members of the object at i of a valid text, and where it ends.
func entriesOf(text []byte, i int) (entries []entry, end int) {
	first := map[string]int{}
	for i = jsonscan.Space(text, i+1); text[i] != '}'; i = jsonscan.Space(text, i) {
		if text[i] == ',' {
			i = jsonscan.Space(text, i+1)
		}
		e := entry{at: i}
		i = jsonscan.Value(text, i)
		if json.Unmarshal(text[e.at:i], &e.name) != nil {
			return nil, len(text)
		}
		e.value = jsonscan.Space(text, jsonscan.Space(text, i)+1) // over the colon
		i = jsonscan.Value(text, e.value)
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
func (r *restorer) members(entries []entry, schemas []*value, depth int) {
	kept := false // a member before this one stays
	for n, e := range entries {
		var below []*value
		left, allowed := false, false // out by the model; by the schema itself
		for _, s := range schemas {
			if node := s.ObjectOf("properties").ObjectOf(e.name); node != nil {
				below = append(below, node)
				if r.made[s][e.name] != "" {
					left = true
				} else {
					allowed = allowed || r.admitsNull(node)
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

// contradicts reports whether a member has a value that properties do not list.
func (r *restorer) contradicts(e entry, props *value) bool {
	node := props.ObjectOf(e.name)
	if node == nil {
		return false
	}
	values, ok := listed(node)
	if !ok {
		return false
	}
	v, ok := scalar(r.text[e.value:e.next])
	return ok && !slices.ContainsFunc(values, func(l *value) bool { return sameScalar(l, v) })
}
