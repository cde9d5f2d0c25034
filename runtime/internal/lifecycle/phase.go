package lifecycle

import "strconv"

// A Phase is what a call is doing. It decides what happens when the time of the call is
// up, and which causes may end the call.
type Phase uint8

// The phases.
const (
	Idle       Phase = iota // no worker has the call: it was recovered and is not settled yet
	Preparing               // a worker has the call and has not asked the policy yet
	Deciding                // the policy is being evaluated
	Admitting               // waits to be admitted, or is admitted and about to wait or start
	Repeating               // waits until an equal call, which is admitted, runs or has ended
	Previewing              // the preview for approvers is being made
	Waiting                 // waits for consent
	Held                    // admitted; waits for the rest of its batch
	Queued                  // admitted; waits for a free slot of its tool
	Running                 // an attempt: the handler runs, or is about to
	Grace                   // the time of the attempt is up; a handler that returns soon is run again
	Backoff                 // waits between two attempts
	Finishing               // the handler has returned in time; its result is being checked
	Committing              // what the handler did is being committed
	Decided                 // the result is the outcome as soon as it is stored: no timer ends the call
	phases                  // how many there are
)

var phaseNames = [phases]string{
	"idle", "preparing", "deciding", "admitting", "repeating", "previewing", "waiting", "held", "queued", "running", "grace", "backoff",
	"finishing", "committing", "decided",
}

// String returns the name of p, such as running.
func (p Phase) String() string {
	if p < phases {
		return phaseNames[p]
	}
	return "phase " + strconv.Itoa(int(p))
}

// A phaseSet is a set of phases, one bit each.
type phaseSet uint32

// set returns the set of some phases.
func set(list ...Phase) (s phaseSet) {
	for _, p := range list {
		s |= 1 << p
	}
	return s
}

// has reports whether p is in s.
func (s phaseSet) has(p Phase) bool { return s&(1<<p) != 0 }

const all phaseSet = 1<<phases - 1

var (
	// unstarted are the phases in which no attempt is under way.
	unstarted = set(Idle, Preparing, Deciding, Admitting, Repeating, Previewing, Held, Queued)
	// timed are the phases that a timer ends, and the call with them.
	timed = set(Deciding, Admitting, Repeating, Previewing, Held, Queued, Running, Grace, Finishing, Committing)
)

// enterFrom holds the phases from which a worker takes a call on by Enter.
// The other phases have methods of their own.
var enterFrom = [phases]phaseSet{
	Admitting:  set(Preparing, Admitting, Repeating, Deciding, Previewing),
	Repeating:  set(Preparing, Admitting),
	Previewing: set(Admitting),
	Held:       set(Admitting),
	Queued:     set(Admitting, Held),
}

// A Moment is a phase of an attempt. A cause that has looked at a call names the moment
// that it saw. The zero Moment is any.
type Moment struct {
	phase   Phase
	attempt int
}

// Phase returns the phase of m.
func (m Moment) Phase() Phase { return m.phase }
