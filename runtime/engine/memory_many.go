package engine

import (
	"fmt"

	"github.com/ambit-tools/ambit/runtime/internal/wording"
)

// manyCalls is how many calls of a session an operator is warned of. What is held of a session grows with its calls, and they are
// read when it is loaded.
const manyCalls = 10_000

// TooMany returns a warning for the one call with which its session has more than manyCalls, nil for every other (SEMANTICS 6.14.5).
func (r *callRecord) TooMany(session string) error {
	if r.Number != manyCalls+1 {
		return nil
	}
	return fmt.Errorf("session %s has more than %d calls, of which each is remembered: begin new sessions, and end those that are over (Session.End)",
		wording.Quote(session), manyCalls)
}
