package engine

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/jsonedit"
	"github.com/ambit-tools/ambit/runtime/internal/redact"
	"github.com/ambit-tools/ambit/runtime/internal/rewrites"
	"github.com/ambit-tools/ambit/runtime/internal/walk"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// obligationRedact is the obligation that the executor meets itself.
const obligationRedact = "redact_output"

// A redaction is the args of a redact_output obligation.
type redaction struct{ pointers []string }

// redactionRule returns the schema of these args.
func redactionRule() *wire.ObjectRule {
	return &wire.ObjectRule{Names: []string{"pointers"}, Required: 1}
}

// ReadMember reads the only member.
func (v *redaction) ReadMember(r *wire.Reader, _ string) {
	wire.ReadArray(r, &v.pointers, &wire.ArrayRule{Has: wire.Min, Min: 1}, wire.ReadString, &wire.StringRule{})
}

// redactions returns the places that a redact_output obligation masks.
func redactions(o runtime.Obligation) ([]jsonedit.Pointer, error) {
	args, violations := wire.Decode[redaction](o.Args, wire.Limits{}, redactionRule())
	if violations != nil {
		return nil, fmt.Errorf("its args are not {\"pointers\": [...]}: %s", wording.Violations(violations))
	}
	places := make([]jsonedit.Pointer, 0, len(args.pointers))
	for _, text := range args.pointers {
		p, err := jsonedit.Parse(text)
		if err != nil {
			return nil, err
		}
		places = append(places, p)
	}
	return places, nil
}

// checkRedaction says why the output of the call cannot be redacted as o wants it.
func (c *ident) checkRedaction(o runtime.Obligation) error {
	places, err := redactions(o)
	if err != nil {
		return err
	}
	for _, p := range places {
		if c.tool.place(p) == redact.PlaceNone {
			return fmt.Errorf("the output of %q has nothing at %q: use pointers that its schema declares", c.record.tool, p)
		}
	}
	return nil
}

// redact masks the members of the output that the policy wants masked. It withholds the whole
// output when one of them is absent and the schema does not say that it may be: the value may then
// be there under another name.
func (c *work) redact(out wire.Raw) (wire.Raw, error) {
	masked := out
	for _, o := range c.obligations {
		if o.Code != obligationRedact {
			continue
		}
		places, err := redactions(o)
		if err != nil { // checkObligations has refused the call for this
			return jsonedit.Pointer{}.Mask(out), err
		}
		for _, p := range places {
			if !p.Has(out) && c.tool.place(p) != redact.PlaceDeclared {
				return jsonedit.Pointer{}.Mask(out), fmt.Errorf(
					"obligation redact_output %s: there is nothing at %q in the output, which is withheld therefore", rewrites.At(o.At), p)
			}
			masked = p.Mask(masked)
		}
	}
	return masked, nil
}

// secrets collects what is sensitive in the call. The arguments are those that were
// given, not what the handler has made of its own.
func (c *call) secrets() *redact.Secrets {
	s := new(redact.Secrets)
	if c.tool != nil && c.args != nil {
		texts := [][]byte{c.record.input, c.text, c.finalText}
		for _, text := range slices.CompactFunc(texts, bytes.Equal) {
			s.Collect(func() wire.Value {
				v, _, _, violations := c.tool.read(text)
				if violations != nil {
					return nil
				}
				return v
			})
		}
	}
	c.mu.Lock()
	prepared := c.prepared
	c.mu.Unlock()
	if prepared != nil { // it was measured when it was prepared
		s.Collect(func() wire.Value { return prepared })
	}
	if c.outputs != nil {
		s.Collect(func() wire.Value {
			if !walk.Within(c.outputs, walk.MaxDepth, outputLimit(c.tool.spec)) {
				return nil
			}
			return c.outputs
		})
	}
	return s
}

// redactText removes the values of members marked x-sensitive from a text that a
// handler or a policy wrote.
func (c *call) redactText(text string) string {
	if text == "" {
		return ""
	}
	return c.secrets().Redact(text)
}
