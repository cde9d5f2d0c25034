package ruleinput

import (
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// Window returns the longest time for which a call of a tool matters to later ones, and what needs it: a cooldown, a dedupe window,
// the window of an idempotency key or the time for an undo (SEMANTICS 6.14.2).
func Window(specs []*runtime.Spec) *journal.Window {
	var longest journal.Window
	for _, s := range specs {
		take := func(d time.Duration, of string) {
			if d > longest.Longest {
				longest = journal.Window{Longest: d, Of: fmt.Sprintf("%s of tool %q", of, s.Name)}
			}
		}
		take(s.Rules.Cooldown, "the cooldown")
		take(s.Dedupe.Window, "the dedupe window")
		if s.Set != nil {
			take(s.Set.Cooldown, "the cooldown of the tools")
		}
		if s.Idempotency != nil {
			take(s.Idempotency.Window, "the window of the idempotency key")
		}
		take(UndoTTL(s), "the time for an undo")
	}
	return &longest
}
