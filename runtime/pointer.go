package runtime

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A pointer is a parsed JSON Pointer (RFC 6901).
type pointer []string

// parsePointer parses a JSON Pointer.
func parsePointer(text string) (pointer, error) {
	if text == "" {
		return pointer{}, nil
	}
	if text[0] != '/' {
		return nil, fmt.Errorf("%q is no JSON Pointer: it does not start with a slash", text)
	}
	p := pointer(strings.Split(text[1:], "/"))
	for i, token := range p {
		bare := strings.NewReplacer("~0", "", "~1", "").Replace(token)
		if strings.Contains(bare, "~") {
			return nil, fmt.Errorf("%q is no JSON Pointer: write ~0 for a tilde and ~1 for a slash", text)
		}
		p[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
	}
	return p, nil
}

// String returns p as it is written.
func (p pointer) String() string {
	var b strings.Builder
	for _, token := range p {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(token))
	}
	return b.String()
}

// overlaps reports whether one of p and q leads to or into the other.
func (p pointer) overlaps(q pointer) bool {
	n := min(len(p), len(q))
	return slices.Equal(p[:n], q[:n])
}

// A spot is where a pointer leads in a JSON text.
type spot struct {
	start, end int    // of the value
	member     string // when there is none: the member to add at start
	first      bool   // and whether it is the only one
}

// set returns text with the value at p replaced. A member that an object lacks
// is added; an array is not made longer.
func (p pointer) set(text, value []byte) ([]byte, error) {
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

// mask returns text with the value at p, if there is one, replaced by a string
// that says so.
func (p pointer) mask(text []byte) []byte {
	s, err := p.find(text)
	if err != nil || s.start == s.end {
		return text
	}
	return slices.Concat(text[:s.start], []byte(`"(redacted)"`), text[s.end:])
}

// find looks up p in text, which is valid JSON.
func (p pointer) find(text []byte) (spot, error) {
	i := space(text, 0)
	for depth, token := range p {
		var s spot
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
			return spot{}, fmt.Errorf("there is nothing at %q", "/"+strings.Join(p[:depth+1], "/"))
		}
		i = s.start
	}
	return spot{start: i, end: skip(text, i)}, nil
}

// member finds the member called name of the object at i. When there is none
// the spot is where it can be added.
func member(text []byte, i int, name string) (spot, bool) {
	first := true
	for i = space(text, i+1); text[i] != '}'; i = space(text, i) {
		if text[i] == ',' {
			i = space(text, i+1)
		}
		first = false
		end := skip(text, i)
		var have string
		if err := json.Unmarshal(text[i:end], &have); err != nil {
			return spot{}, false
		}
		i = space(text, space(text, end)+1) // over the colon
		if have == name {
			return spot{start: i}, true
		}
		i = skip(text, i)
	}
	return spot{start: i, end: i, member: name, first: first}, false
}

// element finds the element that token counts of the array at i.
func element(text []byte, i int, token string) (spot, bool) {
	n, err := strconv.Atoi(token)
	if err != nil || n < 0 || strconv.Itoa(n) != token {
		return spot{}, false
	}
	for i = space(text, i+1); text[i] != ']'; i = space(text, i) {
		if text[i] == ',' {
			i = space(text, i+1)
		}
		if n == 0 {
			return spot{start: i}, true
		}
		n--
		i = skip(text, i)
	}
	return spot{}, false
}

// space returns the index of the first byte from i on that is no white space.
func space(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r') {
		i++
	}
	return i
}

// skip returns the index after the value at i.
func skip(text []byte, i int) int {
	depth := 0
	for ; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		case '"':
			for i++; text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case ',', ':', ' ', '\t', '\n', '\r':
			continue
		default:
			for i+1 < len(text) && !strings.ContainsRune(",:]} \t\n\r", rune(text[i+1])) {
				i++
			}
		}
		if depth == 0 {
			return i + 1
		}
	}
	return i
}
