package engine

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/ambit-tools/ambit/runtime/internal/entry"
	"github.com/ambit-tools/ambit/runtime/internal/redact"
	"github.com/ambit-tools/ambit/runtime/internal/rewrites"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// redact masks the members of the output that the policy wants masked. It withholds the whole
// output when it cannot.
func (c *work) redact(out wire.Raw) (wire.Raw, error) {
	masked := out
	for _, o := range c.obligations {
		if o.Code != redact.Obligation {
			continue
		}
		var err error
		if masked, err = redact.Mask(out, masked, o.Args, c.tool.place); err != nil {
			return masked, fmt.Errorf("obligation redact_output %s: %w", rewrites.At(o.At), err)
		}
	}
	return masked, nil
}

// secrets collects what is sensitive in the call.
func (c *call) secrets() *redact.Secrets {
	s := knownSecrets(c)
	if c.outputs != nil {
		s.Collect(func() wire.Value {
			if redact.Measure(c.outputs, outputLimit(c.tool.spec), entry.MaxDepth) != nil {
				return nil
			}
			return c.outputs
		})
	}
	return s
}

// knownSecrets collects what is sensitive in a call before it has an output. The arguments are those that were
// given, not what the handler has made of its own. The handler may be running.
func knownSecrets(c *call) *redact.Secrets {
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
