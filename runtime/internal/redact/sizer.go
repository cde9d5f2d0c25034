package redact

import (
	"errors"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// The reasons for which a sizer stops a walk.
var (
	errTooDeep  = errors.New("nested too deeply")
	errTooLarge = errors.New("too large")
)

// A sizer measures a value before it is walked, so that a value that is much too large, or
// contains itself, does not end the process. It counts the least that the encoding can have:
// commas, digits and escapes come on top.
type sizer struct {
	least, most int64
	depth, deep int
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
		if s.depth++; s.depth > s.deep {
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

// Measure walks v. It returns why it stopped the walk, nil when it did not: v is larger than limit bytes of
// JSON, or nested deeper than depth.
func Measure(v wire.Value, limit int64, depth int) (err error) {
	s := &sizer{most: limit, deep: depth}
	defer func() {
		if v := recover(); v != nil && v != any(s) {
			panic(v)
		}
		err = s.err
	}()
	v.Walk(s)
	return nil
}
