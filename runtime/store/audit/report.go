package audit

import (
	"fmt"
	"slices"
)

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
	ClassUnsigned   Class = "unsigned"   // there are entries, or anchored notes, and no stored checkpoint
	ClassSession    Class = "session"    // what the store says of the ends of its sessions was not written by an owner, as its keys say
	ClassForged     Class = "forged"     // an entry was not written by an owner of the journal, as its keys say
	ClassArchive    Class = "archive"    // a segment does not prove the entries that it has
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

// The verdicts of a Report, the gravest last.
const (
	VerdictOK          = "ok"
	VerdictKeyed       = "authentic"    // the keys of the store prove it; checkpoints were not looked at
	VerdictUnproved    = "unproved"     // no process owns the journal, and no checkpoint, note or key proves its last entries
	VerdictNotAnchored = "not anchored" // a process that can write the journal could have cut it off or begun it anew
	VerdictRestored    = "restored"     // it was restored from a copy, and entries were given up
	VerdictBad         = "bad"
)

// A Report says what Verify found. Everything after a fault is unknown.
type Report struct {
	Origin      string   `json:"origin"`
	Verdict     string   `json:"verdict"`             // one of the six
	OK          bool     `json:"ok"`                  // nothing wrong was found; true also of what is not anchored
	Entries     uint64   `json:"entries"`             // position of the last entry
	Bytes       uint64   `json:"bytes"`               // of the leaves that were hashed
	Checkpoints int      `json:"checkpoints"`         // stored ones that hold
	Signed      uint64   `json:"signed"`              // entries that a stored checkpoint proves
	Anchors     int      `json:"anchors"`             // anchored notes that hold
	Anchored    uint64   `json:"anchored"`            // entries that an anchored note proves; 0: not anchored
	Authentic   uint64   `json:"authentic,omitempty"` // entries that the keys of the store prove; 0: they were not given
	Restored    []uint64 `json:"restored,omitempty"`  // down to which sizes the journal was restored, in that order
	Archived    []Span   `json:"archived,omitempty"`  // entries that segments prove, or that are in no store any more and a checkpoint proves
	Deleted     []Span   `json:"deleted,omitempty"`   // of those that are archived: a proved entry says that their segments were deleted
	Resumed     uint64   `json:"resumed,omitempty"`   // entries that an earlier verification has read, and this one has not
	Bad         *Fault   `json:"bad,omitempty"`

	Resume *Resume `json:"-"` // where VerifyFrom can go on; nil: nowhere

	accepted, closed, keyed bool
}

// Unproved returns how many entries at the end no checkpoint, no anchored note and no
// key of the store proves. It is normal for those of the last second.
func (r *Report) Unproved() uint64 {
	return r.Entries - min(r.Entries, max(r.Signed, r.Anchored, r.Authentic))
}

// Accept says that the reader of the report expects these restores. With any other
// list the verdict stays.
func (r *Report) Accept(restored ...uint64) {
	r.accepted = slices.Equal(restored, r.Restored)
	r.close(r.Bad)
}

// Closed says that no process owns the journal, so that what is not proved is not
// about to be signed.
func (r *Report) Closed() {
	r.closed = true
	r.close(r.Bad)
}

// Authenticated says that the keys of the store prove so many entries, or that
// something is wrong with the next one.
func (r *Report) Authenticated(entries uint64, bad *Fault) {
	r.Authentic = entries
	if r.Bad != nil {
		bad = r.Bad
	}
	r.close(bad)
}

// A Span is entries that follow each other.
type Span struct {
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
}

// Segment says that a segment proves the entries that it has, or what is wrong with it. Segments come in
// the order of their entries.
func (r *Report) Segment(s Span, bad *Fault) {
	if r.Bad == nil && bad != nil {
		r.close(bad)
	}
	if r.Bad != nil {
		return
	}
	if n := len(r.Archived); n > 0 && s.First <= r.Archived[n-1].Last+1 {
		r.Archived[n-1].Last = max(r.Archived[n-1].Last, s.Last)
		return
	}
	r.Archived = append(r.Archived, s)
}

// Keyed says that no checkpoint was looked at, so that the keys of the store are all
// that proves it.
func (r *Report) Keyed() {
	r.keyed = true
	r.close(r.Bad)
}

// unsigned is the fault of a journal whose checkpoints were removed, stored being
// how many there are.
func (r *Report) unsigned(stored int) *Fault {
	if stored > 0 || r.Anchored == 0 {
		return nil
	}
	return &Fault{ClassUnsigned, 1, r.Entries, fmt.Sprintf("the journal has no checkpoint, though one of %d entries was anchored", r.Anchored)}
}

// close sets the verdict.
func (r *Report) close(bad *Fault) {
	r.Bad, r.OK = bad, bad == nil
	switch {
	case bad != nil:
		r.Verdict = VerdictBad
	case r.keyed:
		r.Verdict = VerdictKeyed
	case len(r.Restored) > 0 && !r.accepted:
		r.Verdict = VerdictRestored
	case r.Anchored == 0:
		r.Verdict = VerdictNotAnchored
	case r.closed && r.Unproved() > 0:
		r.Verdict = VerdictUnproved
	default:
		r.Verdict = VerdictOK
	}
}
