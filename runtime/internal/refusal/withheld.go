package refusal

import (
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// Withheld returns why no call of a tool would be admitted now, for any arguments, and whether that is so. finished says
// that the run is, barred is the reason of the rules (rules.State.Barred), and blocked says that the tool timed out.
func Withheld(finished bool, barred rules.Reason, blocked bool) (runtime.Denial, bool) {
	switch {
	case finished:
		return runtime.Denial{Code: runtime.ReasonRunFinished.String(), Message: "the run is finished"}, true
	case barred != 0:
		return runtime.Denial{Code: barred.String(), Message: "the run has ended, or its end does not need the tool"}, true
	case blocked:
		return runtime.Denial{Code: runtime.ReasonBlockedAfterTimeout.String(), Message: "the tool timed out in this turn"}, true
	}
	return runtime.Denial{}, false
}
