package wire

import (
	"strconv"
	"sync"
)

// Limits caps what a text may cost before its schema is even looked at. Zero
// fields take the value of DefaultLimits.
type Limits struct {
	Size   int // bytes
	Depth  int // nested objects and arrays
	Number int // characters of a number literal
	// AnyNumber lets a number of a value without a schema have any digits and any
	// exponent that a float64 can hold: for a text that the program itself wrote.
	// Without it such a number has at most 19 significant digits and a decimal
	// exponent within ±308 (SEMANTICS section 7.2).
	AnyNumber bool
}

const (
	defaultSize   = 64 << 10
	defaultDepth  = 128
	defaultNumber = 32
)

// DefaultLimits returns the limits that zero fields of Limits stand for.
func DefaultLimits() Limits {
	return Limits{Size: defaultSize, Depth: defaultDepth, Number: defaultNumber}
}

// A Reader reads one JSON text strictly and in one pass. The Read functions
// return nothing: what is wrong is collected, and Finish returns it. After a
// syntax error every read does nothing.
//
// A Reader may be used again after Reset. It must not be used by two
// goroutines at once.
type Reader struct {
	b     []byte
	i     int
	depth int
	lim   Limits
	dead  bool // a syntax error was met; i is at the end of b
	notes

	raw      bool     // inside a value without a schema whose numbers are bounded
	hideNext bool     // the next object is sensitive: its union says so
	nullAt   int      // the value that begins here may be null
	scratch  []byte   // the last string, when it had escapes
	names    []string // member names of the unknown objects around the cursor
}

// Reset makes r read b, which must not change until Finish.
func (r *Reader) Reset(b []byte, l Limits) {
	r.forget()
	r.begin(b, l)
}

// forget makes r as it was before it read anything, but for the memory that it holds.
func (r *Reader) forget() {
	r.b, r.i, r.depth, r.dead, r.raw, r.hideNext = nil, 0, 0, false, false, false
	r.notes.reset()
	clear(r.names)
	r.names = r.names[:0]
}

// begin is Reset for a Reader that has read nothing, or has forgotten it.
func (r *Reader) begin(b []byte, l Limits) {
	if l.Size == 0 {
		l.Size = defaultSize
	}
	if l.Depth == 0 {
		l.Depth = defaultDepth
	}
	if l.Number == 0 {
		l.Number = defaultNumber
	}
	r.b, r.lim, r.nullAt = b, l, -1
	if len(b) > l.Size {
		r.note(0, false, "size", "at most "+strconv.Itoa(l.Size)+" bytes", strconv.Itoa(len(b))+" bytes")
		r.stop()
	}
}

// Finish checks that nothing follows the value that was read and returns all
// violations; nil means that the text is valid (SEMANTICS 7.1).
func (r *Reader) Finish() []Violation {
	if r.ws(); r.i != len(r.b) {
		r.syntax("the end of the text")
	}
	return r.violations(r.b)
}

// readers keeps Readers for Decode and ParseRaw.
var readers = sync.Pool{New: func() any { return new(Reader) }}

// release resets r and returns it to its pool.
func (r *Reader) release() {
	r.forget()
	if cap(r.scratch) > defaultSize {
		r.scratch = nil
	}
	readers.Put(r)
}

// Decode reads a whole text that holds one object. The result is nil when
// there are violations.
func Decode[T any, P interface {
	*T
	Members
}](b []byte, l Limits, rule *ObjectRule) (*T, []Violation) {
	v := new(T)
	if bad := DecodeInto(P(v), b, l, rule); bad != nil {
		return nil, bad
	}
	return v, nil
}

// DecodeInto is Decode into a value that the caller made.
func DecodeInto(v Members, b []byte, l Limits, rule *ObjectRule) []Violation {
	r := readers.Get().(*Reader)
	r.begin(b, l)
	r.object(v, rule)
	bad := r.Finish()
	r.release()
	return bad
}

// stop makes every later read do nothing.
func (r *Reader) stop() {
	r.dead = true
	r.i = len(r.b)
}

// syntax records that the text at the cursor is not what JSON allows there.
func (r *Reader) syntax(expected string) {
	if r.dead {
		return
	}
	actual := "the end of the text"
	if r.i < len(r.b) {
		actual = "character " + strconv.QuoteRune(rune(r.b[r.i]))
		if r.b[r.i] >= 0x80 {
			actual = "a character outside ASCII"
		}
	}
	r.broken(expected, actual)
}

// broken records a syntax error at the cursor, after which reading is impossible.
func (r *Reader) broken(expected, actual string) {
	if r.dead {
		return
	}
	r.note(r.i, false, "json", expected, actual)
	r.stop()
}

// ws moves to the next token and returns its first byte; 0 when there is none.
func (r *Reader) ws() byte {
	for r.i < len(r.b) {
		c := r.b[r.i]
		if c > ' ' {
			return c
		}
		if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return 0
		}
		r.i++
	}
	return 0
}

// open enters the object or array at the cursor, whose first byte is known.
func (r *Reader) open() bool {
	if r.depth == r.lim.Depth {
		r.note(r.i, false, "depth", "at most "+strconv.Itoa(r.lim.Depth)+" nested objects and arrays", "more")
		r.stop()
		return false
	}
	r.depth++
	r.i++
	return true
}

// member moves to the value of the next member of an object, n members having
// been read. The name is valid until the next string is read. ok is false
// behind the last member.
func (r *Reader) member(n int) (name []byte, ok bool) {
	c := r.ws()
	if c == '}' {
		r.i++
		r.depth--
		return nil, false
	}
	if n > 0 {
		if c != ',' {
			r.syntax(`"," or "}"`)
			return nil, false
		}
		r.i++
		c = r.ws()
	}
	if c != '"' {
		r.syntax("a member name in quotes")
		return nil, false
	}
	if name, ok = r.str(); !ok {
		return nil, false
	}
	if r.ws() != ':' {
		r.syntax(`":"`)
		return nil, false
	}
	r.i++
	r.ws()
	return name, true
}

// element moves to the next element of an array, n elements having been read.
func (r *Reader) element(n int) bool {
	c := r.ws()
	if c == ']' {
		r.i++
		r.depth--
		return false
	}
	if n > 0 {
		if c != ',' {
			r.syntax(`"," or "]"`)
			return false
		}
		r.i++
		r.ws()
	}
	return !r.dead
}

// mismatch records that the value at the cursor has another type and skips it.
func (r *Reader) mismatch(want string, secret bool) {
	kind := typeOf(r.ws())
	if kind == "" {
		r.notValue(secret)
		return
	}
	if r.i == r.nullAt {
		want += " or null"
	}
	r.note(r.i, secret, "type", want, kind)
	if secret {
		r.mask(r.i)
		defer r.unmask()
	}
	r.skip()
}

// notValue records that there is no value at the cursor.
func (r *Reader) notValue(secret bool) {
	if secret {
		r.secret++
		defer func() { r.secret-- }()
	}
	r.syntax("a value")
}

// typeOf returns the JSON type of the value that begins with a byte, empty when none does.
func typeOf(c byte) string {
	switch {
	case c == '"':
		return "string"
	case c == '{':
		return "object"
	case c == '[':
		return "array"
	case c == 't' || c == 'f':
		return "boolean"
	case c == 'n':
		return "null"
	case c == '-' || c-'0' <= 9:
		return "number"
	}
	return ""
}
