package wire

// A tape is a JSON text cut into its values, in their order. A value is known by
// its place on the tape.
type tape struct {
	b     []byte
	cells []cell
}

// A cell is one value.
type cell struct {
	kind    Types  // one type; integer for a number without a fraction
	name    string // of a member
	at, end int    // offsets in the text
	next    int    // the place behind the value and all that it holds
	size    int    // elements or members
}

// read appends the value at the cursor of r, whose text is valid.
func (t *tape) read(r *Reader, name string) {
	c := r.ws()
	i := len(t.cells)
	t.cells = append(t.cells, cell{name: name, at: r.i})
	kind, size := TypeNull, 0
	switch c {
	case '"':
		kind = TypeString
		r.str()
	case '{':
		kind = TypeObject
		r.open()
		for ; ; size++ {
			name, ok := r.member(size)
			if !ok {
				break
			}
			t.read(r, r.keep(name))
		}
	case '[':
		kind = TypeArray
		r.open()
		for ; r.element(size); size++ {
			t.read(r, "")
		}
	case 't', 'f':
		kind = TypeBoolean
		r.boolean()
	case 'n':
		r.literal("null")
	default:
		kind = TypeNumber
		if lit, plain, _ := r.number(); plain || parseDecimal(lit).integral() {
			kind = TypeInteger
		}
	}
	own := &t.cells[i]
	own.kind, own.size, own.end, own.next = kind, size, r.i, len(t.cells)
}

// text returns the JSON text of a value.
func (t *tape) text(v int) []byte { return t.b[t.cells[v].at:t.cells[v].end] }

// str returns a string value.
func (t *tape) str(v int) string {
	r := Reader{b: t.text(v)}
	s, _ := r.str()
	return alias(s)
}

// canonicalText returns the form of a valid JSON text that equal values share.
func canonicalText(text []byte) []byte {
	n := len(text)
	c := canonical{Reader: Reader{lim: Limits{Size: n, Depth: n, Number: n}, b: text}}
	c.value()
	return c.out
}
