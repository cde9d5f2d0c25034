package rules

// A Progress says how far a call has come.
type Progress uint8

const (
	asked    Progress = iota // waits for consent
	reserved                 // admitted to start
	started
	unknown // interrupted
	done    // ended, and can be undone
)

// call is one call that can still change.
type call struct {
	id        string
	tool      *tool
	run       *run    // nil once the run was closed
	facts     *facts  // of run
	counts    *counts // of run
	owner     *owner
	args, key Digest
	order     uint64 // among all calls, by admission
	held      uint64 // among all calls, by when it was held against equal ones: order, until its arguments change
	progress  Progress
	succeeded bool
	exited    bool    // with a success that counts as an exit of its run
	expired   bool    // it can no longer be undone, and its run is open
	end       Instant // when it ended

	next, prev *call // in the list kept of run
}

var progressNames = [...]string{"asked", "reserved", "started", "unknown"}

// String returns asked, reserved, started or unknown.
func (p Progress) String() string { return nameOf("progress", progressNames[:], p) }

// MarshalText returns the name of p.
func (p Progress) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText sets p to the progress that text names.
func (p *Progress) UnmarshalText(text []byte) error {
	return parseName("progress", progressNames[:], text, p)
}
