package wire

import "strconv"

// ReadTag looks for the member that tells which variant of a union the object
// at the cursor is and returns its value; the cursor stays before the object.
// Without a known value it records why, skips the object and returns "".
func ReadTag(r *Reader, rule *UnionRule) string {
	if r.ws() != '{' {
		r.mismatch("object", rule.Sensitive)
		return ""
	}
	at := r.i
	t := r.findTag(rule)
	switch {
	case t.value != "":
		r.hideNext = rule.Sensitive
		return t.value
	case t.broken: // skipping it again says why
	case !t.found:
		r.noteMember(at, rule.Tag, "required", "a member "+strconv.Quote(rule.Tag)+", one of "+list(rule.Values), "nothing")
	case t.kind != "string":
		r.note(t.at, rule.Sensitive, "type", "string", t.kind)
	default:
		r.note(t.at, rule.Sensitive, "enum", "one of "+list(rule.Values), t.text)
	}
	r.skip()
	return ""
}

// ReadType returns the type in the rule that the value at the cursor has. When it has
// none of them ReadType records that, skips the value and returns 0.
func ReadType(r *Reader, rule *UnionRule) Types {
	kind := TypeNull
	switch c := r.ws(); {
	case c == '"':
		kind = TypeString
	case c == '{':
		kind = TypeObject
	case c == '[':
		kind = TypeArray
	case c == 't' || c == 'f':
		kind = TypeBoolean
	case c == '-' || c-'0' <= 9:
		if kind = TypeNumber; rule.Types&TypeInteger != 0 {
			kind = TypeInteger
		}
	case c != 'n':
		kind = 0
	}
	if rule.Sensitive {
		r.conceal()
	}
	if kind&rule.Types == 0 {
		r.mismatch(rule.Types.String(), rule.Sensitive)
		return 0
	}
	return kind
}

// conceal makes what is wrong inside the value at the cursor be said of the whole value,
// which is not shown.
func (r *Reader) conceal() {
	if r.dflt != nil || r.i < r.to {
		return // its surroundings are concealed
	}
	i, depth, quiet := r.i, r.depth, r.quiet
	r.quiet = true
	r.skip()
	r.from, r.to = i, r.i
	r.i, r.depth, r.quiet, r.dead = i, depth, quiet, false
}

// A tag is what findTag finds.
type tag struct {
	value  string // from the rule
	found  bool
	broken bool // a syntax error comes first
	at     int
	kind   string
	text   string // as Actual
}

// findTag looks ahead in the object at the cursor.
func (r *Reader) findTag(rule *UnionRule) (t tag) {
	i, depth, quiet := r.i, r.depth, r.quiet
	r.quiet = true
	if r.open() {
		for n := 0; ; n++ {
			name, ok := r.member(n)
			if !ok {
				break
			}
			if string(name) == rule.Tag {
				t.found, t.at = true, r.i
				t.read(r, rule)
				break
			}
			r.skip()
		}
	}
	t.broken = r.dead
	r.i, r.depth, r.quiet, r.dead = i, depth, quiet, false
	return t
}

// read reads the value of the tag at the cursor.
func (t *tag) read(r *Reader, rule *UnionRule) {
	if t.kind = typeOf(r.ws()); t.kind != "string" {
		r.skip()
		return
	}
	b, ok := r.str()
	if !ok {
		return
	}
	for _, s := range rule.Values {
		if s == alias(b) {
			t.value = s
			return
		}
	}
	t.text = show(string(b))
}
