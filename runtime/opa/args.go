package opa

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// A termBuilder is the Visitor that turns a decoded value into a term.
type termBuilder struct {
	names *names
	stack []*ast.Term    // finished values, and the names of members before theirs
	open  []container    // objects and arrays that have not ended
	pairs [][2]*ast.Term // for building an object
	err   error
}

// A container is an object or an array that is being built.
type container struct {
	kind wire.Kind
	from int // its first entry on the stack
}

// builders keeps the stacks of builders between calls.
type builders struct{ pool sync.Pool }

// args returns the term of a value.
func (b *builders) args(n *names, v wire.Value) (*ast.Term, error) {
	if v == nil {
		return nil, errors.New("the call has no decoded arguments")
	}
	t, _ := b.pool.Get().(*termBuilder)
	if t == nil {
		t = &termBuilder{}
	}
	t.names = n
	v.Walk(t)
	term, err := t.result()
	clear(t.stack[:cap(t.stack)])
	clear(t.pairs[:cap(t.pairs)])
	*t = termBuilder{stack: t.stack[:0], open: t.open[:0], pairs: t.pairs[:0]}
	b.pool.Put(t)
	return term, err
}

// result returns the finished term.
func (t *termBuilder) result() (*ast.Term, error) {
	switch {
	case t.err != nil:
		return nil, t.err
	case len(t.stack) != 1 || len(t.open) != 0:
		return nil, errors.New("the walk of the arguments is not one value")
	}
	return t.stack[0], nil
}

// Visit takes one token of the value.
func (t *termBuilder) Visit(tok wire.Token) {
	if t.err != nil {
		return
	}
	switch tok.Kind {
	case wire.KindObject, wire.KindArray:
		t.open = append(t.open, container{tok.Kind, len(t.stack)})
	case wire.KindEnd:
		t.end()
	case wire.KindName:
		t.push(t.names.member(tok.Str))
	case wire.KindString:
		t.push(stringTerm(tok.Str))
	case wire.KindInt:
		t.push(ast.NewTerm(intValue(tok.Int)))
	case wire.KindFloat:
		t.float(tok)
	case wire.KindBool:
		t.push(ast.InternedTerm(tok.Bool))
	case wire.KindNull:
		t.push(ast.InternedNullTerm)
	default:
		t.err = fmt.Errorf("the arguments hold no JSON value: %s", tok.Str)
	}
}

func (t *termBuilder) push(term *ast.Term) { t.stack = append(t.stack, term) }

// float pushes a number as it was written, which a float64 may be only near to (SEMANTICS 7.2).
func (t *termBuilder) float(tok wire.Token) {
	f := tok.Float
	if tok.Str != "" {
		t.push(ast.NewTerm(ast.Number(tok.Str)))
		return
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		t.err = fmt.Errorf("the arguments hold the number %v", f)
		return
	}
	t.push(ast.NewTerm(ast.Number(wire.FormatFloat(f))))
}

// end closes the innermost object or array.
func (t *termBuilder) end() {
	if len(t.open) == 0 {
		t.err = errors.New("the walk of the arguments ends what it did not begin")
		return
	}
	c := t.open[len(t.open)-1]
	t.open = t.open[:len(t.open)-1]
	entries := t.stack[c.from:]
	var term *ast.Term
	if c.kind == wire.KindArray {
		term = ast.ArrayTerm(append(make([]*ast.Term, 0, len(entries)), entries...)...)
	} else {
		if len(entries)%2 != 0 {
			t.err = errors.New("the walk of the arguments has a member without a value")
			return
		}
		t.pairs = t.pairs[:0]
		for i := 0; i < len(entries); i += 2 {
			t.pairs = append(t.pairs, ast.Item(entries[i], entries[i+1]))
		}
		term = ast.ObjectTerm(t.pairs...)
	}
	t.stack = append(t.stack[:c.from], term)
}
