package engine

import (
	"errors"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// maxDepth is how deep an output may be nested: as deep as an input.
const maxDepth = 128

// The reasons for which a sizer stops a walk.
var (
	errTooDeep  = errors.New("nested too deeply")
	errTooLarge = errors.New("too large")
)

// A sizer measures a value before the engine walks it, so that a value that is much too large, or
// contains itself, does not end the process. It counts the least that the encoding can have:
// commas, digits and escapes come on top.
type sizer struct {
	least, most int64
	depth       int
	err         error // why the walk was stopped
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
		if s.depth++; s.depth > maxDepth {
			s.err = errTooDeep
		}
	case wire.KindEnd:
		s.least++
		s.depth--
	default:
		s.least++
	}
	if s.least > s.most && s.err == nil {
		s.err = errTooLarge
	}
	if s.err != nil {
		panic(s)
	}
}

// measure walks v. It returns why it stopped the walk, nil when it did not.
func (s *sizer) measure(v wire.Value, limit int64) (err error) {
	*s = sizer{most: limit}
	defer func() {
		if v := recover(); v != nil && v != any(s) {
			panic(v)
		}
		err = s.err
	}()
	v.Walk(s)
	return nil
}
