package capacity

import (
	"fmt"
	"time"
)

// Limits are the limits of an executor, as its options set them.
type Limits struct {
	Budget   time.Duration // that a turn must have left for a call to be considered
	Policy   time.Duration // that an evaluation of the policy may take
	InFlight int           // calls that the executor works on at once
	Requests int           // open requests of a session
}

// Check returns an error that says which limit would let no call run.
func (l Limits) Check() error {
	if l.Budget < 0 || l.Policy <= 0 {
		return fmt.Errorf("the minimum budget %v is negative or the policy timeout %v is not positive", l.Budget, l.Policy)
	}
	if l.InFlight < 1 {
		return fmt.Errorf("at most %d calls in flight: an executor works on one at least", l.InFlight)
	}
	if l.Requests < 1 {
		return fmt.Errorf("at most %d open requests of a session: nobody could ever be asked", l.Requests)
	}
	return nil
}
