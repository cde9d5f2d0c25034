package wire

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// pointers returns the JSON Pointers of the values that begin at the offsets
// of bad, in one pass over the text. The text up to each offset is known to
// be well formed, except for the last, where reading stopped.
func pointers(b []byte, bad []problem) []string {
	order := make([]int, len(bad))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return bad[x].at - bad[y].at })
	out := make([]string, len(bad))
	t := tracker{b: b}
	for _, k := range order {
		t.to(bad[k].at)
		out[k] = t.String()
	}
	return out
}

// A tracker knows the way from the root of a text to an offset.
type tracker struct {
	b     []byte
	i     int
	steps []step
}

// A step is an object or array that is open at the offset.
type step struct {
	object bool
	named  bool // the object's current member has been named
	name   []byte
	index  int
}

// to moves forward until the offset is reached.
func (t *tracker) to(at int) {
	for t.i < at && t.i < len(t.b) {
		c := t.b[t.i]
		var top *step
		if len(t.steps) > 0 {
			top = &t.steps[len(t.steps)-1]
		}
		switch {
		case c == '"':
			end := stringEnd(t.b, t.i)
			if top != nil && top.object && !top.named {
				top.name = t.b[t.i:end]
			}
			t.i = end
			continue
		case c == '{' || c == '[':
			t.steps = append(t.steps, step{object: c == '{'})
		case top == nil:
		case c == '}' || c == ']':
			t.steps = t.steps[:len(t.steps)-1]
		case c == ':':
			top.named = true
		case c == ',':
			top.index++
			top.named = false
		}
		t.i++
	}
}

const (
	maxName    = 64  // characters of a name in a pointer
	maxPointer = 512 // bytes of a pointer
)

// String returns the pointer of the place. What the text makes long is cut, with
// an ellipsis: a pointer is for people and models, who have the text.
func (t *tracker) String() string {
	var s strings.Builder
	for _, p := range t.steps {
		switch {
		case s.Len() > maxPointer:
			return s.String() + "/…"
		case !p.object:
			s.WriteString("/" + strconv.Itoa(p.index))
		case p.named:
			s.WriteString("/" + EscapePointer(cut(unquote(p.name), maxName)))
		}
	}
	return s.String()
}

// stringEnd returns the offset behind the string that begins at i.
func stringEnd(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// unquote returns the text of a JSON string.
func unquote(q []byte) string {
	var r Reader
	r.Reset(q, Limits{Size: len(q) + 1})
	s, _ := r.str()
	return string(s)
}

// EscapePointer writes the name of a member as a part of a JSON Pointer.
func EscapePointer(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

// ParsePointer returns the parts of a JSON Pointer (RFC 6901), none for "".
func ParsePointer(text string) ([]string, error) {
	if text == "" {
		return []string{}, nil
	}
	if text[0] != '/' {
		return nil, fmt.Errorf("%q is no JSON Pointer: it does not start with a slash", text)
	}
	parts := strings.Split(text[1:], "/")
	for i, part := range parts {
		bare := strings.ReplaceAll(strings.ReplaceAll(part, "~0", ""), "~1", "")
		if strings.Contains(bare, "~") {
			return nil, fmt.Errorf("%q is no JSON Pointer: write ~0 for a tilde and ~1 for a slash", text)
		}
		parts[i] = strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
	}
	return parts, nil
}
