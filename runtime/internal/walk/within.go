package walk

import "github.com/ambit-tools/ambit/runtime/wire"

// MaxDepth is how deep an output may be nested: as deep as an input.
const MaxDepth = 128

// A sizer measures a value before it is walked, so that a value that is much too large, or contains
// itself, does not end the process. It counts the least that the encoding can have:
// commas, digits and escapes come on top.
type sizer struct {
	least, most int64
	depth       int
	deepest     int
	stopped     bool
}

// Visit adds up a token. It stops the walk by a panic with the sizer itself.
func (s *sizer) Visit(t wire.Token) {
	switch t.Kind {
	case wire.KindString:
		s.least += int64(len(t.Str)) + 2
	case wire.KindName:
		s.least += int64(len(t.Str)) + 3
	case wire.KindObject, wire.KindArray:
		s.least++
		s.depth++
	case wire.KindEnd:
		s.least++
		s.depth--
	default:
		s.least++
	}
	if s.least > s.most || s.depth > s.deepest {
		s.stopped = true
		panic(s)
	}
}

// Within walks v and reports whether it is nested at most depth deep and its encoding may have at
// most limit bytes. It stops where it is not.
func Within(v wire.Value, depth int, limit int64) (within bool) {
	s := &sizer{most: limit, deepest: depth}
	defer func() {
		if v := recover(); v != nil && v != any(s) {
			panic(v)
		}
		within = !s.stopped
	}()
	v.Walk(s)
	return true
}
