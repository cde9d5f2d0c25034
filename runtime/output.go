package runtime

import "github.com/ambit-tools/ambit/runtime/wire"

// A sizer measures a value before it is encoded, so that an output that is much
// too large is not encoded at all. It counts what the encoding has at least:
// commas, digits and escapes come on top.
type sizer struct{ least int64 }

// Visit adds up a token.
func (s *sizer) Visit(t wire.Token) {
	switch t.Kind {
	case wire.KindString:
		s.least += int64(len(t.Str)) + 2
	case wire.KindName:
		s.least += int64(len(t.Str)) + 3
	default:
		s.least++
	}
}

// encode checks the handler's output and encodes it. It reports false when it
// is larger than limit.
func (c *call) encode(limit int64) (out wire.Raw, violations []wire.Violation, ok bool) {
	c.sizer = sizer{}
	c.outputs.Walk(&c.sizer)
	if c.sizer.least > limit {
		return nil, nil, false
	}
	out, violations = wire.Append(nil, c.outputs)
	return out, violations, int64(len(out)) <= limit
}

// redact masks the members of the output that the policy wants masked.
func (c *call) redact(out wire.Raw) wire.Raw {
	for _, o := range c.obligations {
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
