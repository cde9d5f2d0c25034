package opa

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/runtime"
)

// TestGatesAgreeWithTheLibrary: what Gates denies without arguments, the library denies with any, for
// that reason, and what the library denies for one of these reasons Gates denies.
func TestGatesAgreeWithTheLibrary(t *testing.T) {
	p, reg := load(t)
	gates := []string{"behavior_not_allowed", "capability_missing", "mode_off"}
	denied := map[string]int{}
	for _, tool := range reg.All() {
		for _, behavior := range []string{"", "research", "doc_edit", "other"} {
			for _, capabilities := range [][]string{nil, {"web"}, {"filesystem.write"}, {"filesystem.write", "web"}} {
				for _, modes := range []map[string]string{nil, {"web_mode": "live"}, {"web_mode": "off"}, {"web_mode": ""}} {
					in := call(t, reg, tool.Name(), `{}`)
					in.Behavior, in.Capabilities, in.Modes = behavior, capabilities, modes
					d, gated := p.Gates(t.Context(), in)
					var codes []string
					for _, denial := range decide(t, p, in).Denials {
						if slices.Contains(gates, denial.Code) {
							codes = append(codes, denial.Code)
						}
					}
					assert.Equal(t, len(codes) > 0, gated, "%s %q %v %v: %v", tool.Name(), behavior, capabilities, modes, codes)
					if gated {
						assert.Contains(t, codes, d.Code)
						denied[d.Code]++
					}
				}
			}
		}
	}
	for _, code := range gates {
		assert.Positive(t, denied[code], code)
	}
	var _ runtime.Offers = p
}
