package tools

import (
	"bytes"
	"slices"

	"github.com/ambit-tools/ambit/runtime/internal/entry"
	"github.com/ambit-tools/ambit/runtime/internal/redact"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// Values are what a call works with. They belong to the goroutine that executes the call.
type Values struct {
	Args      wire.Value // as decoded
	Final     wire.Value // after rewrites
	Outputs   wire.Value // what the handler returned
	Text      []byte     // of Args; never changed
	FinalText []byte     // of Final
}

// Secrets collects what is sensitive in the values of a call of t, which may be nil. input is
// what the call was given, prepared what its undo needs. The arguments are read from their texts,
// because a handler may have changed its own.
func (v *Values) Secrets(t *Tool, input []byte, prepared wire.Value) *redact.Secrets {
	s := new(redact.Secrets)
	if t != nil && v.Args != nil {
		texts := [][]byte{input, v.Text, v.FinalText}
		for _, text := range slices.CompactFunc(texts, bytes.Equal) {
			s.Collect(func() wire.Value {
				in, violations := t.read(text) // Collect recovers
				if violations != nil {
					return nil
				}
				return in.Args
			})
		}
	}
	if prepared != nil { // it was measured when it was prepared
		s.Collect(func() wire.Value { return prepared })
	}
	if v.Outputs != nil {
		s.Collect(func() wire.Value {
			if redact.Measure(v.Outputs, t.OutputLimit(), entry.MaxDepth) != nil {
				return nil
			}
			return v.Outputs
		})
	}
	return s
}
