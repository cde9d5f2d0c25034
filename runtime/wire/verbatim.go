package wire

// ReadVerbatim keeps the text of the value at the cursor without reading it: all
// up to the comma or the bracket that ends it, whether that is JSON or not. It is
// for the envelope of a text that another decoder checks, such as the input of a
// call: a mistake in that text does not make the envelope unreadable. The text is a
// slice of the reader's input, not a copy.
func ReadVerbatim(r *Reader, p *[]byte) {
	r.ws()
	if r.dead {
		return
	}
	at, end := r.i, r.i
	depth := 0
	for r.i < len(r.b) {
		c := r.b[r.i]
		if depth == 0 && (c == ',' || c == '}' || c == ']') {
			break
		}
		switch c {
		case '"':
			r.i = stringEnd(r.b, r.i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		r.i++
		if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			end = r.i
		}
	}
	switch {
	case depth > 0:
		r.i = at
		r.broken("a value that ends", "one that does not")
	case end == at:
		r.syntax("a value")
	default:
		*p = r.b[at:end:end]
	}
}
