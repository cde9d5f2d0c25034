package walk

import (
	"fmt"
	"slices"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// A Veil makes the JSON text of a value in which each sensitive value is replaced by
// a text.
type Veil struct {
	// Hide returns the text that replaces a sensitive value.
	Hide func(pointer string, value Tokens) (string, error)
	// Reveal names top-level members that are not hidden.
	Reveal []string
}

// Append appends the text to dst.
func (v *Veil) Append(dst []byte, value wire.Value) ([]byte, error) {
	m := veiled{veil: v, value: value}
	text, violations := wire.Append(dst, &m)
	switch {
	case m.err != nil:
		return nil, m.err
	case violations != nil:
		return nil, fmt.Errorf("the value cannot be written: %s", violations[0])
	}
	return text, nil
}

// veiled is a value behind a veil.
type veiled struct {
	veil  *Veil
	value wire.Value
	out   wire.Visitor
	track Track
	err   error

	shown  int    // depth inside of what is revealed
	hidden Tokens // a sensitive value that is not at its end
	depth  int    // inside of it
}

// Walk visits what is seen of the value.
func (m *veiled) Walk(w wire.Visitor) {
	m.out = w
	m.value.Walk(m)
}

// Visit passes t on, or keeps it back (SEMANTICS 5.9).
func (m *veiled) Visit(t wire.Token) {
	begins, deeper := Begins(t), Deeper(t)
	revealed := m.shown > 0 || begins && m.track.Depth() == 1 && slices.Contains(m.veil.Reveal, m.track.Key())
	switch {
	case m.depth > 0 || begins && t.Sensitive && !revealed:
		m.hidden = append(m.hidden, t)
		if m.depth += deeper; m.depth == 0 {
			m.hide()
		}
	default:
		if revealed {
			m.shown += deeper
		}
		m.out.Visit(t)
	}
	m.track.Step(t)
}

// hide passes a text on in place of what was kept back.
func (m *veiled) hide() {
	text, err := "", m.err
	if err == nil {
		text, err = m.veil.Hide(m.pointerOfHidden(), m.hidden)
	}
	m.err = err
	m.hidden = m.hidden[:0]
	m.out.Visit(wire.Token{Kind: wire.KindString, Str: text})
}

// pointerOfHidden returns the pointer of what is hidden, which ends with the
// token that is looked at: the track has not made that step.
func (m *veiled) pointerOfHidden() string {
	if len(m.hidden) == 1 {
		return m.track.Pointer()
	}
	inside := Track{levels: m.track.levels[:len(m.track.levels)-1]}
	return inside.Pointer()
}
