package wire

import (
	"errors"
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

	most, deep int   // bytes, and nested objects and arrays
	stopped    error // why the walk went no further
}

// A frame is an object or array that is being written.
type frame struct {
	object  bool
	secret  bool
	members *ObjectRule // of an object; may be nil
	items   *ArrayRule  // of an array; may be nil
	at      int         // where it begins
	count   int
	seen    seenNames // declared names of an open object, whose undeclared members may repeat them
}

// masked reports whether f is a secret whose members have names of their own.
func (f *frame) masked() bool {
	return f.secret && f.object && (f.members == nil || f.members.Open)
}

var encoders = sync.Pool{New: func() any { return new(encoder) }}

// What AppendWithin does not write.
var (
	ErrTooLarge = errors.New("the JSON text is too large")
	ErrTooDeep  = errors.New("the value is nested too deeply")
)

// Append appends the compact JSON text of a value to dst: members in the order
// of the walk, floats as short as possible. With violations dst is returned as
// it was.
func Append(dst []byte, v Value) ([]byte, []Violation) {
	e := encoders.Get().(*encoder)
	e.fresh, e.most, e.deep = true, math.MaxInt, math.MaxInt
	return e.append(dst, v)
}

// append is Append with the limits of e.
func (e *encoder) append(dst []byte, v Value) ([]byte, []Violation) {
	v.Walk(e)
	if e.room(0); e.stopped != nil { // the walk went on all the same
		panic(e)
	}
	bad := e.violations(e.buf)
	if bad == nil {
		dst = append(dst, e.buf...)
	}
	e.release()
	return dst, bad
}

// AppendWithin is Append for a value whose text may have at most size bytes and
// depth nested objects and arrays. Beyond them the walk is stopped, by a panic
// that ends here, and the error is ErrTooLarge or ErrTooDeep: a value that is much
// too large is not written at all, and one that contains itself does no harm.
func AppendWithin(dst []byte, v Value, size, depth int) (out []byte, bad []Violation, err error) {
	e := encoders.Get().(*encoder)
	e.fresh, e.most, e.deep = true, size, depth
	defer func() {
		if e.stopped == nil {
			return
		}
		if v := recover(); v != nil && v != any(e) {
			panic(v)
		}
		out, bad, err = dst, nil, e.stopped
	}()
	out, bad = e.append(dst, v)
	return out, bad, nil
}

// room stops the walk unless n more bytes may be written.
func (e *encoder) room(n int) {
	if n > e.most-len(e.buf) {
		e.stop(ErrTooLarge)
	}
}

// stop ends the walk.
func (e *encoder) stop(err error) {
	if e.stopped == nil {
		e.stopped = err
	}
	panic(e)
}

// release resets e and returns it to its pool.
func (e *encoder) release() {
	e.reset()
	if e.buf = e.buf[:0]; cap(e.buf) > defaultSize {
		e.buf = nil
	}
	clear(e.stack)
	e.stack = e.stack[:0]
	encoders.Put(e)
}

// Visit writes a token and checks its rule.
func (e *encoder) Visit(t Token) {
	switch t.Kind {
	case KindEnd:
		e.end()
		return
	case KindName:
		e.name(t.Str, t.Sensitive)
		return
	}
	at := e.next()
	e.room(len(t.Str))
	switch {
	case t.Rule != nil:
		t.Rule.check(&e.notes, at, t)
	case t.Kind == KindFloat: // NaN has no JSON form, with a rule or without
		(*NumberRule)(nil).check(&e.notes, at, t)
	}
	switch t.Kind {
	case KindObject:
		rule, _ := t.Rule.(*ObjectRule)
		e.begin(frame{object: true, secret: t.Sensitive, members: rule, at: at})
	case KindArray:
		rule, _ := t.Rule.(*ArrayRule)
		e.begin(frame{secret: t.Sensitive, items: rule, at: at})
	case KindString:
		e.text(at, t.Str, t.Sensitive)
	case KindInt:
		e.buf = strconv.AppendInt(e.buf, t.Int, 10)
	case KindFloat:
		if t.Str != "" {
			e.buf = append(e.buf, t.Str...)
		} else {
			e.buf = appendFloat(e.buf, t.Float)
		}
	case KindBool:
		e.buf = strconv.AppendBool(e.buf, t.Bool)
	case KindNull:
		e.buf = append(e.buf, "null"...)
	default:
		e.note(at, t.Sensitive, "json", "one strict JSON value", t.Str)
		e.buf = append(e.buf, "null"...)
	}
}

// next writes the comma before a value of an array, if any, and returns where
// the value begins.
func (e *encoder) next() int {
	if !e.fresh {
		e.buf = append(e.buf, ',')
	}
	e.fresh = false
	if n := len(e.stack); n > 0 && !e.stack[n-1].object {
		e.stack[n-1].count++
	}
	return len(e.buf)
}

// begin opens an object or array.
func (e *encoder) begin(f frame) {
	if len(e.stack) >= e.deep {
		e.stop(ErrTooDeep)
	}
	e.stack = append(e.stack, f)
	e.fresh = true
	switch {
	case f.masked():
		e.mask(f.at)
	case f.secret:
		e.secret++
	}
	if f.object {
		e.buf = append(e.buf, '{')
	} else {
		e.buf = append(e.buf, '[')
	}
}

// name writes the name of a member.
func (e *encoder) name(name string, secret bool) {
	if !e.fresh {
		e.buf = append(e.buf, ',')
	}
	f := &e.stack[len(e.stack)-1]
	f.count++
	e.room(len(name))
	e.text(len(e.buf), name, secret)
	e.buf = append(e.buf, ':')
	e.fresh = true
	if f.members == nil || !f.members.Open {
		return
	}
	i := f.members.index(name, 0)
	switch {
	case i < 0:
	case f.seen.has(i):
		e.note(len(e.buf), secret, "duplicate", "every member once", show(name)+" again")
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
		if f.members != nil {
			f.members.checkCount(&e.notes, f.at, f.count)
			if f.members.Schema != nil && e.count() == 0 {
				f.members.Schema.check(&e.notes, f.at, e.buf[f.at:])
			}
		}
	} else {
		e.buf = append(e.buf, ']')
		if f.items != nil {
			f.items.checkArray(&e.notes, f.at, f.count, e.buf[f.at:])
		}
	}
	switch {
	case f.masked():
		e.unmask()
	case f.secret:
		e.secret--
	}
	e.fresh = false
	e.stack = e.stack[:n]
}

// string writes a string and checks its rule.
func (e *encoder) string(s string, rule *StringRule) {
	at := e.next()
	e.room(len(s))
	if rule != nil {
		rule.checkText(&e.notes, at, s, rule.Sensitive)
	}
	e.text(at, s, rule != nil && rule.Sensitive)
}

// int writes an integer and checks its rule.
func (e *encoder) int(v int64, rule *IntRule) {
	at := e.next()
	e.room(1)
	if rule != nil {
		rule.checkInt(&e.notes, at, v, rule.Sensitive)
	}
	e.buf = strconv.AppendInt(e.buf, v, 10)
}

// text writes a string and notes what is not UTF-8.
func (e *encoder) text(at int, s string, secret bool) {
	var ok bool
	e.buf = append(e.buf, '"')
	i := special(bytesOf(s), 0)
	if i == len(s) { // as most are
		e.buf = append(append(e.buf, s...), '"')
		return
	}
	if e.buf, ok = appendEscaped(e.buf, s, i); !ok {
		e.note(at, secret, "utf8", "a string in UTF-8", show(s))
	}
	e.buf = append(e.buf, '"')
}

// appendString appends s in quotes.
func appendString(dst []byte, s string) []byte {
	dst, _ = appendEscaped(append(dst, '"'), s, 0)
	return append(dst, '"')
}

// appendEscaped appends the inside of a string and reports whether it is
// UTF-8. Nothing but quotes, backslashes and control characters is escaped, and
// nothing before plain, which is known.
func appendEscaped(dst []byte, s string, plain int) ([]byte, bool) {
	b := bytesOf(s)
	start, ok := 0, true
	for i := special(b, plain); i < len(b); i = special(b, i) {
		c := b[i]
		if c >= utf8.RuneSelf {
			u, n := utf8.DecodeRune(b[i:])
			ok = ok && (u != utf8.RuneError || n > 1)
			i += n
			continue
		}
		dst = appendEscape(append(dst, b[start:i]...), c)
		i++
		start = i
	}
	return append(dst, b[start:]...), ok
}

// appendEscape appends the escape sequence of a quote, a backslash or a control character.
func appendEscape(dst []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
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
	dst = strconv.AppendFloat(dst, f, format, -1, 64)
	if n := len(dst); format == 'e' && dst[n-4] == 'e' && dst[n-3] == '-' && dst[n-2] == '0' {
		dst[n-2] = dst[n-1] // 1e-07 to 1e-7
		dst = dst[:n-1]
	}
	return dst
}
