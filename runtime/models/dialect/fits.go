package dialect

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/ambit-tools/ambit/internal/jsonschema"
	"github.com/ambit-tools/ambit/runtime/internal/jsonscan"
)

// A fitter finds out of which schemas the values of a valid text are.
type fitter struct {
	reader
	text  []byte
	known map[question]answer
	left  int // how many more answers it finds: after that no value fits
}

// A question is whether the value at a position fits a schema. Loose says that members may be left out.
type question struct {
	at     int
	schema *value
	loose  bool
}

// An answer says that a value fits, and how many members Restore cuts out of it then.
type answer struct {
	ok   bool
	cuts int
}

func newFitter(r reader, text []byte) *fitter {
	return &fitter{reader: r, text: text, known: map[question]answer{}, left: 4*len(text) + 4096}
}

// fits answers a question about a value in depth others.
func (f *fitter) fits(q question, depth int) answer {
	if a, ok := f.known[q]; ok {
		return a
	}
	if f.left--; f.left < 0 || depth > maxInputDepth || q.schema == nil {
		return answer{}
	}
	f.known[q] = answer{} // a schema that is only itself has no values
	a := f.find(q, depth)
	f.known[q] = a
	return a
}

func (f *fitter) find(q question, depth int) answer {
	if ref := q.schema.TextOf("$ref"); ref != "" {
		return f.fits(question{q.at, f.definition(ref), q.loose}, depth)
	}
	if branches := q.schema.ListOf("anyOf"); branches != nil {
		best := answer{}
		for _, b := range branches {
			if a := f.fits(question{q.at, b, q.loose}, depth); a.ok && (!best.ok || a.cuts < best.cuts) {
				best = a
			}
		}
		return best
	}
	switch f.text[q.at] {
	case '{':
		return f.object(q, depth)
	case '[':
		return f.array(q, depth)
	}
	return answer{ok: fitsScalar(f.text[q.at:jsonscan.Value(f.text, q.at)], q.schema)}
}

// object wants the declared members, each once and fit.
func (f *fitter) object(q question, depth int) answer {
	props := q.schema.ObjectOf("properties")
	entries, _ := entriesOf(f.text, q.at)
	if props == nil || !q.loose && len(entries) != len(props.Members) {
		return answer{}
	}
	out := answer{ok: true}
	for _, e := range entries {
		if e.twice {
			return answer{}
		}
		if f.made[q.schema][e.name] != "" && string(f.text[e.value:e.next]) == "null" {
			out.cuts++
			continue
		}
		a := f.fits(question{e.value, props.ObjectOf(e.name), q.loose}, depth+1)
		if !a.ok {
			return answer{}
		}
		out.cuts += a.cuts
	}
	return out
}

// array wants fit elements, and not fewer or more than the schema says.
func (f *fitter) array(q question, depth int) answer {
	if !slices.Contains(typesOf(q.schema), "array") {
		return answer{}
	}
	out, n := answer{ok: true}, 0
	for i := jsonscan.Space(f.text, q.at+1); f.text[i] != ']'; i = jsonscan.Space(f.text, i) {
		if f.text[i] == ',' {
			i = jsonscan.Space(f.text, i+1)
		}
		a := f.fits(question{i, f.element(q.schema, n), q.loose}, depth+1)
		if !a.ok {
			return answer{}
		}
		out.cuts += a.cuts
		n++
		i = jsonscan.Value(f.text, i)
	}
	out.ok = within(q.schema, "minItems", "maxItems", float64(n))
	return out
}

// fitsScalar reports whether a value is of the type, the values and the bounds that a schema names. It takes a
// value for fit that it cannot judge, such as one with a format.
func fitsScalar(text []byte, s *value) bool {
	v, ok := scalar(text)
	if !ok || !slices.ContainsFunc(typesOf(s), func(t string) bool { return isOf(v, t) }) {
		return false
	}
	if values, ok := literals(s); ok && !slices.ContainsFunc(values, func(l *value) bool { return sameScalar(l, v) }) {
		return false
	}
	switch v.Kind {
	case jsonschema.String:
		if !within(s, "minLength", "maxLength", float64(utf8.RuneCountInString(v.Text))) {
			return false
		}
		pattern, err := regexp.Compile(s.TextOf("pattern"))
		return err != nil || pattern.MatchString(v.Text)
	case jsonschema.Number:
		n, err := strconv.ParseFloat(v.Text, 64)
		if err != nil || math.Abs(n) >= 1<<53 { // near a bound its digits count
			return true
		}
		return within(s, "minimum", "maximum", n) && within(s, "exclusiveMinimum", "exclusiveMaximum", n)
	}
	return true
}

// within reports whether n is not beyond the bounds that a schema has as two keywords.
func within(s *value, least, most string, n float64) bool {
	for _, keyword := range []string{least, most} {
		limit := s.Get(keyword)
		if !limit.Is(jsonschema.Number) {
			continue
		}
		bound, err := strconv.ParseFloat(limit.Text, 64)
		switch {
		case err != nil:
		case n == bound && (keyword == "exclusiveMinimum" || keyword == "exclusiveMaximum"),
			keyword == least && n < bound, keyword == most && n > bound:
			return false
		}
	}
	return true
}
