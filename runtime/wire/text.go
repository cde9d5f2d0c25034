package wire

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// alias returns bytes as a string without a copy. The bytes must not change while it is used.
func alias(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// bytesOf returns the bytes of s without a copy. They must not be changed.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// marks returns w with the high bit of every byte set that is a quote, a
// backslash, a control or not ASCII, up to the first of them. Bits above that
// mean nothing.
func marks(w uint64) uint64 {
	quote := w ^ (ones * '"')
	slash := w ^ (ones * '\\')
	return (w | (w - ones*0x20) | (quote - ones) | (slash - ones)) & highs
}

// special returns the offset of the first byte at or after i that is a quote,
// a backslash, a control or not ASCII; len(b) when there is none.
func special(b []byte, i int) int {
	start := i
	for ; i+8 <= len(b); i += 8 {
		if m := marks(binary.LittleEndian.Uint64(b[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	switch n := len(b); { // what is left is looked at once more with bytes before it
	case n-start >= 8:
		if marks(binary.LittleEndian.Uint64(b[n-8:])) == 0 {
			return n
		}
	case n-start >= 4:
		first, last := binary.LittleEndian.Uint32(b[start:]), binary.LittleEndian.Uint32(b[n-4:])
		if marks(uint64(first)|uint64(last)<<32) == 0 {
			return n
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c == '"' || c == '\\' || c < 0x20 || c >= 0x80 {
			return i
		}
	}
	return i
}

// str reads the string at the cursor, whose quote is known to stand there. The
// result aliases the text or the Reader's scratch space.
func (r *Reader) str() ([]byte, bool) {
	start := r.i + 1
	i := special(r.b, start)
	if i < len(r.b) && r.b[i] == '"' {
		r.i = i + 1
		return r.b[start:i], true
	}
	return r.strSlow(start, i)
}

// strSlow continues str at the first byte that is not plain.
func (r *Reader) strSlow(start, i int) ([]byte, bool) {
	b := r.b
	escaped := false
	for ; ; i = special(b, i) {
		if i >= len(b) {
			r.i = len(b)
			return nil, r.badString("the end of the text")
		}
		switch c := b[i]; {
		case c == '"':
			r.i = i + 1
			if !escaped {
				return b[start:i], true
			}
			r.scratch = append(r.scratch, b[start:i]...)
			return r.scratch, true
		case c == '\\':
			if !escaped {
				r.scratch = r.scratch[:0]
				escaped = true
			}
			r.scratch = append(r.scratch, b[start:i]...)
			r.i = i
			n, ok := r.escape()
			if !ok {
				return nil, false
			}
			i += n
			start = i
		case c < 0x20:
			r.i = i
			return nil, r.badString("a control character that is not escaped")
		default:
			_, n := utf8.DecodeRune(b[i:])
			if n == 1 {
				r.i = i
				return nil, r.badString("bytes that are not UTF-8")
			}
			i += n
		}
	}
}

// badString records a syntax error inside a string. What stands there is not
// shown: it may be sensitive.
func (r *Reader) badString(actual string) bool {
	r.broken("a string in UTF-8 that ends with a quote", actual)
	return false
}

// escape appends what the escape sequence at the cursor stands for and returns its length.
func (r *Reader) escape() (int, bool) {
	b := r.b[r.i:]
	if len(b) < 2 {
		return 0, r.badString("the end of the text")
	}
	switch c := b[1]; c {
	case '"', '\\', '/':
		r.scratch = append(r.scratch, c)
	case 'b':
		r.scratch = append(r.scratch, '\b')
	case 'f':
		r.scratch = append(r.scratch, '\f')
	case 'n':
		r.scratch = append(r.scratch, '\n')
	case 'r':
		r.scratch = append(r.scratch, '\r')
	case 't':
		r.scratch = append(r.scratch, '\t')
	case 'u':
		return r.unicode(b)
	default:
		return 0, r.badString("an unknown escape sequence")
	}
	return 2, true
}

// unicode is escape for \uXXXX, with a second one when the first is half of a pair.
func (r *Reader) unicode(b []byte) (int, bool) {
	u, ok := hex4(b)
	if !ok {
		return 0, r.badString("an incomplete \\u escape")
	}
	if !utf16.IsSurrogate(u) {
		r.scratch = utf8.AppendRune(r.scratch, u)
		return 6, true
	}
	low, ok := hex4(b[6:])
	if u = utf16.DecodeRune(u, low); !ok || u == utf8.RuneError {
		return 0, r.badString("half of a surrogate pair")
	}
	r.scratch = utf8.AppendRune(r.scratch, u)
	return 12, true
}

// hex4 returns the code unit of the \uXXXX that b begins with.
func hex4(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	var u rune
	for _, c := range b[2:6] {
		switch {
		case c-'0' <= 9:
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		u = u<<4 | rune(c)
	}
	return u, true
}

// literal reads true, false or null, the first byte being known.
func (r *Reader) literal(word string) bool {
	if len(r.b)-r.i >= len(word) && string(r.b[r.i:r.i+len(word)]) == word {
		r.i += len(word)
		return true
	}
	r.broken(word, "a misspelt word")
	return false
}
