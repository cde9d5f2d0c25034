package audit

import "fmt"

// A Class says what is wrong with a log.
type Class string

// The classes of faults.
const (
	ClassEdited     Class = "edited"     // the leaf of an entry is another one
	ClassMoved      Class = "moved"      // an entry is at another position
	ClassDeleted    Class = "deleted"    // an entry is missing
	ClassUnreadable Class = "unreadable" // an entry cannot be read, or is missing
	ClassInserted   Class = "inserted"   // there is an entry too many
	ClassCut        Class = "cut"        // the end of the journal is missing
	ClassRewritten  Class = "rewritten"  // the log is not the one that was signed or anchored, and nothing says where
	ClassIndex      Class = "index"      // a field of the index of an entry is not what its leaf says
	ClassPrivate    Class = "private"    // the private values of an entry do not fit its commitments
	ClassCheckpoint Class = "checkpoint" // a stored checkpoint is not signed by the key, or says nothing
	ClassAnchor     Class = "anchor"     // an anchored note is not signed by the key, or says nothing
	ClassUnsigned   Class = "unsigned"   // there is no checkpoint at all
)

// A Fault is the first thing that is wrong with a log.
//
// First and Last are positions of entries. They are the same when the entry is
// known; otherwise the first bad entry is one of them or between. Of a checkpoint
// that is bad while the entries are good they are its size. Where something is
// missing, What says which entries before it nothing proves.
type Fault struct {
	Class Class  `json:"class"`
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
	What  string `json:"what"`
}

// Exact says that the first bad position is known.
func (f *Fault) Exact() bool { return f.First == f.Last }

// Error says what is wrong.
func (f *Fault) Error() string {
	if f.Exact() {
		return fmt.Sprintf("%s at %d: %s", f.Class, f.First, f.What)
	}
	return fmt.Sprintf("%s within %d to %d: %s", f.Class, f.First, f.Last, f.What)
}

// The verdicts of a Report.
const (
	VerdictOK          = "ok"
	VerdictNotAnchored = "not anchored"
	VerdictBad         = "bad"
)

// A Report says what Verify found. Everything after a fault is unknown.
type Report struct {
	Origin      string `json:"origin"`
	Verdict     string `json:"verdict"`     // one of the three
	OK          bool   `json:"ok"`          // nothing wrong was found; true also of what is not anchored
	Entries     uint64 `json:"entries"`     // position of the last entry
	Bytes       uint64 `json:"bytes"`       // of the leaves that were hashed
	Checkpoints int    `json:"checkpoints"` // stored ones that hold
	Signed      uint64 `json:"signed"`      // entries that a stored checkpoint proves
	Anchors     int    `json:"anchors"`     // anchored notes that hold
	Anchored    uint64 `json:"anchored"`    // entries that an anchored note proves; 0: not anchored
	Bad         *Fault `json:"bad,omitempty"`
}

// Unproved returns how many entries at the end no checkpoint and no anchored note
// proves. It is normal for those of the last second.
func (r *Report) Unproved() uint64 { return r.Entries - min(r.Entries, max(r.Signed, r.Anchored)) }

// close sets the verdict.
func (r *Report) close(bad *Fault) {
	r.Bad, r.OK = bad, bad == nil
	switch {
	case bad != nil:
		r.Verdict = VerdictBad
	case r.Anchored == 0:
		r.Verdict = VerdictNotAnchored
	default:
		r.Verdict = VerdictOK
	}
}
