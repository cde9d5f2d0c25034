package engine

import (
	"math"
	"slices"
	"strconv"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// encode checks the handler's output and encodes it. It reports false when it
// is larger than limit.
func (c *call) encode(limit int64) (out wire.Raw, violations []wire.Violation, ok bool) {
	out, violations, err := wire.AppendWithin(c.record.spare(), c.outputs, int(min(limit, math.MaxInt)), maxDepth)
	if err != nil {
		c.outputs = nil // nobody may walk it
	}
	if err == wire.ErrTooDeep {
		violations = []wire.Violation{{
			Keyword: "depth", Expected: "at most " + strconv.Itoa(maxDepth) + " nested objects and arrays", Actual: "more",
		}}
	}
	return slices.Clip(out), violations, err != wire.ErrTooLarge
}
