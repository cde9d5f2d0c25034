package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// A branch is a part of the tree that JSON Pointers span: all of them are found
// in one walk through a text, however many there are.
type branch struct {
	below  map[string]*branch
	secret int // its number plus one; 0: no pointer ends here
}

// grow adds a pointer, that of secret i, to the tree.
func (b *branch) grow(pointer string, i int) error {
	tokens := strings.Split(pointer, "/")
	if tokens[0] != "" {
		return fmt.Errorf("%q is no JSON Pointer: it does not begin with a slash: %w", pointer, ErrCommitment)
	}
	for _, token := range tokens[1:] {
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		next := b.below[token]
		if next == nil {
			if b.below == nil {
				b.below = map[string]*branch{}
			}
			next = new(branch)
			b.below[token] = next
		}
		b = next
	}
	if b.secret != 0 {
		return fmt.Errorf("two secrets have the pointer %q: %w", pointer, ErrCommitment)
	}
	b.secret = i + 1
	return nil
}

// A seeker walks through a text that is known to be JSON, to the fields of a
// tree of pointers. It is as deep in calls as the longest pointer.
type seeker struct {
	text  []byte
	at    int
	found []field
	twice bool // a field was found twice
}

// value reads the value at the position, which is that of b; b may be nil.
func (s *seeker) value(b *branch) {
	s.space()
	from := s.at
	switch {
	case b == nil || len(b.below) == 0:
		s.skip()
	case s.text[s.at] == '{':
		s.object(b)
	case s.text[s.at] == '[':
		s.array(b)
	default:
		s.skip()
	}
	if b != nil && b.secret != 0 {
		p := &s.found[b.secret-1]
		s.twice = s.twice || p.to != 0
		*p = field{from: from, to: s.at}
	}
}

func (s *seeker) object(b *branch) {
	for s.open('}') {
		from := s.at
		s.skip()
		name := s.name(s.text[from:s.at])
		s.space()
		s.at++ // the colon
		s.value(b.below[name])
	}
}

func (s *seeker) array(b *branch) {
	for i := 0; s.open(']'); i++ {
		s.value(b.below[strconv.Itoa(i)])
	}
}

// open steps over what precedes a member or element, and says whether there is one.
func (s *seeker) open(end byte) bool {
	s.space()
	if s.text[s.at] != end {
		s.at++ // the brace, the bracket or the comma
		s.space()
	}
	if s.text[s.at] != end {
		return true
	}
	s.at++
	return false
}

// name returns what a string literal says.
func (s *seeker) name(literal []byte) string {
	if bytes.IndexByte(literal, '\\') < 0 {
		return string(literal[1 : len(literal)-1])
	}
	var name string
	_ = json.Unmarshal(literal, &name) // it is one
	return name
}

func (s *seeker) space() {
	for s.at < len(s.text) && (s.text[s.at] == ' ' || s.text[s.at] == '\t' || s.text[s.at] == '\n' || s.text[s.at] == '\r') {
		s.at++
	}
}

// skip steps over one value, without recursion.
func (s *seeker) skip() {
	for depth := 0; s.at < len(s.text); {
		switch c := s.text[s.at]; c {
		case '"':
			s.literal()
		case '{', '[':
			depth++
			s.at++
		case '}', ']':
			depth--
			s.at++
		case ' ', '\t', '\n', '\r', ',', ':':
			s.at++
			continue // only inside of a value
		default:
			for s.at < len(s.text) && strings.IndexByte(" \t\n\r,:]}", s.text[s.at]) < 0 {
				s.at++
			}
		}
		if depth == 0 {
			return
		}
	}
}

// literal steps over a string.
func (s *seeker) literal() {
	for s.at++; s.text[s.at] != '"'; s.at++ {
		if s.text[s.at] == '\\' {
			s.at++
		}
	}
	s.at++
}
