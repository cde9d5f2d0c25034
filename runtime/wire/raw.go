package wire

import (
	"bytes"
	"strconv"
)

// A Raw is the text of one JSON value that has no schema. Read from a text it
// is strict: no duplicate member, nothing but UTF-8, no number that a float64
// cannot hold. ReadRaw, unlike ParseRaw, bounds its numbers (Limits.AnyNumber).
type Raw []byte

// ParseRaw checks a JSON text strictly and returns a copy of it.
func ParseRaw(b []byte, l Limits) (Raw, []Violation) {
	r := readers.Get().(*Reader)
	l.AnyNumber = true // nothing says which of the members are declared
	r.Reset(b, l)
	var v Raw
	ReadRaw(r, &v, nil)
	bad := r.Finish()
	r.release()
	if bad != nil {
		return nil, bad
	}
	return v, nil
}

// ReadRaw reads any value and keeps its text.
func ReadRaw(r *Reader, p *Raw, rule *RawRule) {
	secret := rule != nil && rule.Sensitive
	r.ws()
	at := r.i
	if secret {
		r.mask(at)
	}
	r.raw = !r.lim.AnyNumber
	bad := r.count()
	r.skip()
	if r.raw = false; !r.dead {
		*p = append(Raw(nil), r.b[at:r.i]...)
		if rule != nil && rule.Schema != nil && r.count() == bad {
			rule.Schema.check(&r.notes, at, *p)
		}
	}
	if secret {
		r.unmask()
	}
}

// rawLimits hold for a Raw that is walked: it has been inside the limits of
// the text that it comes from, or was made by the program itself.
func rawLimits(n int) Limits { return Limits{Size: n + 1, Depth: 10_000, Number: n + 1} }

// Walk visits the value. Integral numbers in the range of int64 are KindInt, all
// other numbers KindFloat, with the exact number in Str where a float64 is only near.
// A text that is not strict JSON is one KindInvalid token.
func (v Raw) Walk(w Visitor) {
	r := readers.Get().(*Reader)
	defer r.release()
	r.Reset(v, rawLimits(len(v)))
	r.skip()
	if bad := r.Finish(); bad != nil {
		w.Visit(Token{Kind: KindInvalid, Str: bad[0].String()})
		return
	}
	r.Reset(v, rawLimits(len(v)))
	r.visit(w)
}

// WalkRaw visits any value (SEMANTICS 7.6).
func WalkRaw(w Visitor, p *Raw, rule *RawRule) {
	w = visitorFor(w, rule != nil && rule.Sensitive)
	e := encoderOf(w)
	if e == nil || rule == nil || rule.Schema == nil {
		p.Walk(w)
		return
	}
	bad, at := e.count(), len(e.buf)
	if !e.fresh {
		at++ // behind a comma
	}
	p.Walk(w)
	if e.count() != bad {
		return
	}
	if rule.Sensitive {
		e.mask(at)
		defer e.unmask()
	}
	rule.Schema.check(&e.notes, at, e.buf[at:])
}

// encoderOf returns the encoder that a Visitor is, or nil.
func encoderOf(w Visitor) *encoder {
	if s, ok := w.(secretly); ok {
		w = s.Visitor
	}
	e, _ := w.(*encoder)
	return e
}

// visit gives the value at the cursor, which is known to be valid, to w.
func (r *Reader) visit(w Visitor) {
	switch typeOf(r.ws()) {
	case "string":
		s, _ := r.str()
		w.Visit(Token{Kind: KindString, Str: string(s)})
	case "object":
		r.visitObject(w)
	case "array":
		w.Visit(Token{Kind: KindArray, Int: -1})
		r.open()
		for n := 0; r.element(n); n++ {
			r.visit(w)
		}
		w.Visit(Token{Kind: KindEnd})
	case "boolean":
		v, _ := r.boolean()
		w.Visit(Token{Kind: KindBool, Bool: v})
	case "null":
		r.literal("null")
		w.Visit(Token{Kind: KindNull})
	default:
		r.visitNumber(w)
	}
}

func (r *Reader) visitObject(w Visitor) {
	w.Visit(Token{Kind: KindObject, Int: -1})
	r.open()
	for n := 0; ; n++ {
		name, ok := r.member(n)
		if !ok {
			break
		}
		w.Visit(Token{Kind: KindName, Str: string(name)})
		r.visit(w)
	}
	w.Visit(Token{Kind: KindEnd})
}

func (r *Reader) visitNumber(w Visitor) {
	lit, _, _ := r.number()
	d := parseDecimal(lit)
	if d.integral() {
		if v, ok := d.int64(); ok {
			w.Visit(Token{Kind: KindInt, Int: v})
			return
		}
	}
	f, _ := strconv.ParseFloat(alias(lit), 64) // cannot fail: skip has read it
	t := Token{Kind: KindFloat, Float: f}
	if near := parseDecimal(appendFloat(nil, f)); near.exp != d.exp || !bytes.Equal(near.digits, d.digits) {
		t.Str = string(d.appendTo(nil))
	}
	w.Visit(t)
}
