package walk

import (
	"fmt"
	"slices"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// A Mask makes the JSON text of a value in which each sensitive value is replaced by
// a text.
type Mask struct {
	// Hide returns the text that replaces a sensitive value.
	Hide func(pointer string, value Tokens) (string, error)
	// Reveal names top-level members that are not hidden.
	Reveal []string
}

// Append appends the text to dst.
func (m *Mask) Append(dst []byte, value wire.Value) ([]byte, error) {
	seen := masked{mask: m, value: value}
	text, violations := wire.Append(dst, &seen)
	switch {
	case seen.err != nil:
		return nil, seen.err
	case violations != nil:
		return nil, fmt.Errorf("the value cannot be written: %s", violations[0])
	}
	return text, nil
}

// masked is a value behind a mask.
type masked struct {
	mask  *Mask
	value wire.Value
	out   wire.Visitor
	track Track
	err   error

	shown  int    // depth inside of what is revealed
	hidden Tokens // a sensitive value that is not at its end
	depth  int    // inside of it
}

// Walk visits what is seen of the value.
func (m *masked) Walk(w wire.Visitor) {
	m.out = w
	m.value.Walk(m)
}

// Visit passes t on, or keeps it back (SEMANTICS 5.9).
func (m *masked) Visit(t wire.Token) {
	begins, deeper := Begins(t), Deeper(t)
	revealed := m.shown > 0 || begins && m.track.Depth() == 1 && slices.Contains(m.mask.Reveal, m.track.Key())
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
func (m *masked) hide() {
	text, err := "", m.err
	if err == nil {
		text, err = m.mask.Hide(m.pointerOfHidden(), m.hidden)
	}
	m.err = err
	m.hidden = m.hidden[:0]
	m.out.Visit(wire.Token{Kind: wire.KindString, Str: text})
}

// pointerOfHidden returns the pointer of what is hidden, which ends with the
// token that is looked at: the track has not made that step.
func (m *masked) pointerOfHidden() string {
	if len(m.hidden) == 1 {
		return m.track.Pointer()
	}
	inside := Track{levels: m.track.levels[:len(m.track.levels)-1]}
	return inside.Pointer()
}
