package runtime

import "github.com/ambit-tools/ambit/runtime/wire"

// A sizer measures a value before it is encoded, so that an output that is too
// large is not encoded and any other gets a buffer that fits.
type sizer struct {
	least int64 // bytes that its encoding has at least
	room  int64 // bytes that it needs mostly
}

// Visit adds up a token.
func (s *sizer) Visit(t wire.Token) {
	switch t.Kind {
	case wire.KindString, wire.KindName:
		s.least += int64(len(t.Str)) + 3
	case wire.KindInt, wire.KindFloat:
		s.least++
		s.room += 20
	default:
		s.least++
		s.room += 5
	}
}

// encode checks the handler's output and encodes it. It reports false when it
// is larger than limit.
func (c *call) encode(limit int64) (out wire.Raw, violations []wire.Violation, ok bool) {
	c.sizer = sizer{}
	c.outputs.Walk(&c.sizer)
	// Every string and every token may count one comma or colon too many: the
	// last one of an object has none.
	if c.sizer.least-c.sizer.least/3 > limit {
		return nil, nil, false
	}
	b, violations := wire.Append(make([]byte, 0, c.sizer.least+c.sizer.room), c.outputs)
	return b, violations, int64(len(b)) <= limit
}

// redact masks the members of the output that the policy wants masked.
func (c *call) redact(out wire.Raw) wire.Raw {
	for _, o := range c.decision.Obligations {
		if o.Code != "redact_output" {
			continue
		}
		places, err := redactions(o)
		if err != nil { // bound has refused the call for this
			return nil
		}
		for _, p := range places {
			out = p.mask(out)
		}
	}
	return out
}
