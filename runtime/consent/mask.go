package consent

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// Show returns arguments as an approver sees them: JSON in which each value that
// is marked sensitive is replaced by a text with its length and a digest, but
// for the top-level members that are revealed. The digest is made with the key,
// so that equal secrets look equal to whoever has seen both, and nobody without
// the key can try which secret it is.
//
// What is revealed must not be stored: a Request holds the arguments with
// nothing revealed, and the approver's view is made of the call.
func Show(key []byte, args wire.Value, reveal ...string) (json.RawMessage, error) {
	text, _, err := mask(key, args, reveal)
	return text, err
}

// mask is Show, and returns pointers to what is masked too.
func mask(key []byte, args wire.Value, reveal []string) (json.RawMessage, []string, error) {
	if args == nil {
		return nil, nil, fmt.Errorf("there are no arguments: an empty object is written as {}")
	}
	m := masked{args: args, masker: masker{key: key, reveal: reveal}}
	text, violations := wire.Append(nil, &m)
	switch {
	case m.err != nil:
		return nil, nil, m.err
	case violations != nil:
		return nil, nil, fmt.Errorf("the arguments cannot be shown: %s", violations[0])
	}
	return text, m.pointers, nil
}

// masked is a value without what is sensitive in it.
type masked struct {
	args wire.Value
	masker
}

// Walk visits the value.
func (m *masked) Walk(w wire.Visitor) {
	m.out = w
	m.args.Walk(&m.masker)
}

// A masker passes a walk on, with a text in place of each sensitive value.
type masker struct {
	track
	out      wire.Visitor
	key      []byte
	reveal   []string
	pointers []string
	err      error

	shown  int    // depth inside of what is revealed
	hidden tokens // a sensitive value that is not at its end
	depth  int    // inside of it
}

// Visit passes t on, or keeps it back.
func (m *masker) Visit(t wire.Token) {
	begins := t.Kind != wire.KindName && t.Kind != wire.KindEnd
	delta := 0
	switch t.Kind {
	case wire.KindObject, wire.KindArray:
		delta = 1
	case wire.KindEnd:
		delta = -1
	}
	revealed := m.shown > 0 || begins && len(m.track) == 1 && slices.Contains(m.reveal, m.track[0].key())
	switch {
	case m.depth > 0 || begins && t.Sensitive && !revealed:
		if len(m.hidden) == 0 {
			m.pointers = append(m.pointers, m.pointer())
		}
		m.hidden = append(m.hidden, t)
		if m.depth += delta; m.depth == 0 {
			m.hide()
		}
	default:
		if revealed {
			m.shown += delta
		}
		m.out.Visit(t)
	}
	m.step(t)
}

// hide passes a text on in place of what was kept back.
func (m *masker) hide() {
	digest, err := keyed(m.key, purposeMask, m.hidden)
	if err != nil && m.err == nil {
		m.err = err
	}
	text := fmt.Sprintf("(sensitive: %s, %s)", size(m.hidden), hex.EncodeToString(digest[:8]))
	m.hidden = m.hidden[:0]
	m.out.Visit(wire.Token{Kind: wire.KindString, Str: text})
}

// size says how long a value is.
func size(v tokens) string {
	switch v[0].Kind {
	case wire.KindString:
		return fmt.Sprintf("%d characters", utf8.RuneCountInString(v[0].Str))
	case wire.KindBool: // whose length would tell which
		return "a boolean"
	}
	bare := slices.Clone(v)
	for i := range bare {
		bare[i].Rule = nil
	}
	text, _ := wire.Append(nil, bare)
	return fmt.Sprintf("%d bytes of JSON", len(text))
}
