package consent

import (
	"encoding/json"
	"time"
)

// A Prospect says what would become of an answer, and of its call, if the answer was given now.
type Prospect struct {
	Rejection Rejection // why the answer would be rejected; NotRejected: it would be taken
	Missing   int       // approvals that would still be wanted
	Granted   *Grant    // what the answer would leave behind; nil: nothing

	// Changed is what is not as it was asked: the call would not be the approved one (binding_mismatch).
	Changed []Change
	Denials []Reason // with which the policy refuses the call; empty: it does not
	Unknown string   // what could not be found out about the call; empty: nothing

	Invalid string // what is wrong with the terms of a grant, or with edited arguments; empty: nothing

	// Of an answer that edits the arguments:
	Terms *Terms          // that approvers would be asked about; nil: those that they are asked about now
	Shown json.RawMessage // the arguments as an approver sees them
	Argv  []string        // of a command, the arguments of its program; nil: the tool has a handler

	Rewritten bool // the policy changes what the approver wrote: the answer would approve nothing
}

// Differs returns how a call that would run now differs from what a request asks. It returns what Use
// would find when the request was approved.
func (b *Book) Differs(at time.Time, id string, q *Question, unasked bool) []Change {
	r := b.requests[id]
	if r == nil {
		return []Change{ChangedRequest}
	}
	args, _ := keyed(b.key, purposeArgs, q.Call.Args) // zero, which none have, when they are no value
	return r.changes(at, q, args, unasked)
}
