package refusal

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// TestReasonsOfTheRules: every reason of the rules is a reason of an outcome, of the same name.
func TestReasonsOfTheRules(t *testing.T) {
	last := rules.Reason(0)
	for r := rules.ReasonUnknownTool; r.String() != rules.Reason(255).String() && int(r) < len(reasonOf); r++ {
		assert.Equal(t, r.String(), reasonOf[r].String())
		assert.NotEqual(t, runtime.ReasonNone, reasonOf[r])
		last = r
	}
	assert.Equal(t, len(reasonOf)-1, int(last))
	assert.Contains(t, (last + 1).String(), "(", "the rules have a reason that reasonOf has not: %v", last+1)
}
