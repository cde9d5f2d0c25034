package wire

import (
	"math"
	"strconv"
	"sync"
	"unicode/utf8"
)

// An encoder is the Visitor that writes JSON and checks rules in one pass.
type encoder struct {
	notes
	buf   []byte
	stack []frame
	fresh bool // nothing has been written since the last '{', '[' or name
}

// A frame is an object or array that is being written.
type frame struct {
	object bool
	secret bool
	rule   Rule
	at     int // where it begins
	count  int
	seen   seenNames // declared names of an open object, where others may repeat them
}

var encoders = sync.Pool{New: func() any { return new(encoder) }}

// Append appends the compact JSON text of a value to dst: members in the order
// of the walk, floats as short as possible. With violations dst is returned as
// it was.
func Append(dst []byte, v Value) ([]byte, []Violation) {
	e := encoders.Get().(*encoder)
	e.buf, e.fresh = dst, true
	start := len(dst)
	v.Walk(e)
	out := e.buf
	var bad []Violation
	if len(e.bad) > 0 {
		for i := range e.bad {
			e.bad[i].at -= start
		}
		bad = e.violations(out[start:])
		out = out[:start]
	}
	e.reset()
	e.buf = nil
	clear(e.stack)
	e.stack = e.stack[:0]
	encoders.Put(e)
	return out, bad
}

// Visit writes a token and checks its rule.
func (e *encoder) Visit(t Token) {
	if t.Kind == KindEnd {
		e.end()
		return
	}
	if !e.fresh {
		e.buf = append(e.buf, ',')
	}
	e.fresh = false
	at := len(e.buf)
	if t.Kind == KindName {
		e.name(at, &t)
		return
	}
	if n := len(e.stack); n > 0 && !e.stack[n-1].object {
		e.stack[n-1].count++
	}
	if t.Rule != nil {
		t.Rule.check(&e.notes, at, &t)
	} else if t.Kind == KindFloat {
		(*NumberRule)(nil).check(&e.notes, at, &t)
	}
	e.value(at, &t)
}

// value writes a token that is, or begins, a value.
func (e *encoder) value(at int, t *Token) {
	switch t.Kind {
	case KindObject, KindArray:
		e.stack = append(e.stack, frame{object: t.Kind == KindObject, secret: t.Sensitive, rule: t.Rule, at: at})
		e.fresh = true
		if t.Sensitive {
			e.secret++
		}
		if t.Kind == KindObject {
			e.buf = append(e.buf, '{')
		} else {
			e.buf = append(e.buf, '[')
		}
	case KindString:
		e.text(at, t.Str, t.Sensitive)
	case KindInt:
		e.buf = strconv.AppendInt(e.buf, t.Int, 10)
	case KindFloat:
		e.buf = appendFloat(e.buf, t.Float)
	case KindBool:
		e.buf = strconv.AppendBool(e.buf, t.Bool)
	case KindNull:
		e.buf = append(e.buf, "null"...)
	default:
		e.note(at, t.Sensitive, "json", "one strict JSON value", t.Str)
		e.buf = append(e.buf, "null"...)
	}
}

// name writes the name of a member.
func (e *encoder) name(at int, t *Token) {
	f := &e.stack[len(e.stack)-1]
	f.count++
	e.text(at, t.Str, t.Sensitive)
	e.buf = append(e.buf, ':')
	e.fresh = true
	rule, ok := f.rule.(*ObjectRule)
	if !ok || !rule.Open {
		return
	}
	i := rule.index(t.Str, 0)
	switch {
	case i < 0:
	case f.seen.has(i):
		e.note(len(e.buf), t.Sensitive, "duplicate", "every member once", show(t.Str)+" again")
	default:
		f.seen.add(i)
	}
}

// end closes the innermost object or array and checks its counts.
func (e *encoder) end() {
	n := len(e.stack) - 1
	f := &e.stack[n]
	if f.object {
		e.buf = append(e.buf, '}')
		if rule, ok := f.rule.(*ObjectRule); ok {
			rule.checkCount(&e.notes, f.at, f.count)
		}
	} else {
		e.buf = append(e.buf, ']')
		if rule, ok := f.rule.(*ArrayRule); ok {
			rule.checkArray(&e.notes, f.at, f.count, e.buf[f.at:])
		}
	}
	if f.secret {
		e.secret--
	}
	e.fresh = false
	e.stack = e.stack[:n]
}

// text writes a string and notes what is not UTF-8.
func (e *encoder) text(at int, s string, secret bool) {
	if !utf8.ValidString(s) {
		e.note(at, secret, "utf8", "a string in UTF-8", show(s))
	}
	e.buf = appendString(e.buf, s)
}

// appendString appends s in quotes. Nothing but quotes, backslashes and
// control characters is escaped; bytes that are not UTF-8 become U+FFFD.
func appendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			u, n := utf8.DecodeRuneInString(s[i:])
			if u == utf8.RuneError && n == 1 {
				dst = append(dst, s[start:i]...)
				dst = append(dst, "\ufffd"...)
				start = i + 1
			}
			i += n
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// appendFloat appends the shortest literal that reads as f again; null when there is none.
func appendFloat(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return strconv.AppendFloat(dst, f, 'g', -1, 64)
	}
	format := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(dst, f, format, -1, 64)
}
