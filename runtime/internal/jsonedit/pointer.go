// Package jsonedit edits JSON texts by pointers (RFC 6901). What an edit does not
// concern keeps its text: numbers to the last digit, white space, the order of members.
package jsonedit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ambit-tools/ambit/runtime/internal/jsonscan"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A Pointer is a parsed JSON Pointer (RFC 6901). The empty one leads to the whole text.
type Pointer []string

// Parse parses the text of a pointer.
func Parse(text string) (Pointer, error) { return wire.ParsePointer(text) }

// String returns p as it is written.
func (p Pointer) String() string {
	var b strings.Builder
	for _, token := range p {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(token))
	}
	return b.String()
}

// Overlaps reports whether one of p and q leads to or into the other.
func (p Pointer) Overlaps(q Pointer) bool {
	n := min(len(p), len(q))
	return slices.Equal(p[:n], q[:n])
}

// A span is where a pointer leads in a JSON text.
type span struct {
	start, end int    // of the value
	member     string // when there is none: the member to add at start
	first      bool   // and whether it is the only one
}

// Has reports whether text, which is valid JSON, has a value at p.
func (p Pointer) Has(text []byte) bool {
	s, err := p.find(text)
	return err == nil && s.start < s.end
}

// Get returns the value at p of text, which is valid JSON; false when there is none.
func (p Pointer) Get(text []byte) ([]byte, bool) {
	s, err := p.find(text)
	return text[s.start:s.end], err == nil && s.start < s.end
}

// Put returns text with the value at p replaced, both of them valid JSON. A member
// that an object lacks is added; an array is not made longer, which is an error as a
// pointer through a value that is neither is. An object on the way that text lacks is
// added first if defaults, the same value with its defaults written out, has one
// there; defaults may be nil.
func (p Pointer) Put(text, value, defaults []byte) ([]byte, error) {
	for n := 1; n < len(p) && defaults != nil; n++ {
		above := p[:n]
		if s, err := above.find(text); err != nil || s.start < s.end {
			continue // set says what is wrong
		}
		s, err := above.find(defaults)
		if err != nil || s.start == s.end {
			break
		}
		if text, err = above.set(text, defaults[s.start:s.end]); err != nil {
			return nil, err
		}
	}
	return p.set(text, value)
}

// set is Put without defaults.
func (p Pointer) set(text, value []byte) ([]byte, error) {
	s, err := p.find(text)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(text[:s.start])
	if s.start == s.end {
		if !s.first {
			out = append(out, ',')
		}
		name, err := json.Marshal(s.member)
		if err != nil {
			return nil, err
		}
		out = append(append(out, name...), ':')
	}
	return append(append(out, value...), text[s.end:]...), nil
}

// Mask returns text, which is valid JSON, with the value at p, if there is one,
// replaced by the string "(redacted)".
func (p Pointer) Mask(text []byte) []byte {
	s, err := p.find(text)
	if err != nil || s.start == s.end {
		return text
	}
	return slices.Concat(text[:s.start], []byte(`"(redacted)"`), text[s.end:])
}

// find looks up p in text, which is valid JSON.
func (p Pointer) find(text []byte) (span, error) {
	i := jsonscan.Space(text, 0)
	for depth, token := range p {
		var s span
		var ok bool
		switch text[i] {
		case '{':
			s, ok = member(text, i, token)
			if !ok && depth == len(p)-1 {
				return s, nil
			}
		case '[':
			s, ok = element(text, i, token)
		}
		if !ok {
			return span{}, fmt.Errorf("there is nothing at %q", "/"+strings.Join(p[:depth+1], "/"))
		}
		i = s.start
	}
	return span{start: i, end: jsonscan.Value(text, i)}, nil
}

// member finds the member called name of the object at i. When there is none
// the span is where it can be added.
func member(text []byte, i int, name string) (span, bool) {
	first := true
	for i = jsonscan.Space(text, i+1); text[i] != '}'; i = jsonscan.Space(text, i) {
		if text[i] == ',' {
			i = jsonscan.Space(text, i+1)
		}
		first = false
		end := jsonscan.Value(text, i)
		var have string
		if err := json.Unmarshal(text[i:end], &have); err != nil {
			return span{}, false
		}
		i = jsonscan.Space(text, jsonscan.Space(text, end)+1) // over the colon
		if have == name {
			return span{start: i}, true
		}
		i = jsonscan.Value(text, i)
	}
	return span{start: i, end: i, member: name, first: first}, false
}

// element finds the element that token counts of the array at i.
func element(text []byte, i int, token string) (span, bool) {
	n, err := strconv.Atoi(token)
	if err != nil || n < 0 || strconv.Itoa(n) != token {
		return span{}, false
	}
	for i = jsonscan.Space(text, i+1); text[i] != ']'; i = jsonscan.Space(text, i) {
		if text[i] == ',' {
			i = jsonscan.Space(text, i+1)
		}
		if n == 0 {
			return span{start: i}, true
		}
		n--
		i = jsonscan.Value(text, i)
	}
	return span{}, false
}
