package audit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// resumeWord is the first line of the note of a resume point, so that it is no note of a log.
const resumeWord = "ambit verified v1"

// A Resume is a point up to which a journal was verified. [VerifyFrom] goes on there, and does not
// read the entries before it.
//
// Nothing in the store can say that: a process that can write the store could change an entry
// and move the point behind it, and checkpoints are signed by the application, which never verifies. So
// a Resume is signed ([SignResume]) with a key of the auditor, which no process that can write the store can
// read. The place of the signed text does not matter: one that was changed or made by another key is refused, and an older
// one only makes the next verification read more.
//
// An entry that is changed after it was verified, and not read again, goes unnoticed until all of the
// journal is verified. A Resume says that the entries were right, and when.
type Resume struct {
	Origin   string      `json:"origin"`   // of the log
	Key      uint32      `json:"key"`      // the hash of its verifier
	Size     uint64      `json:"size"`     // entries that were verified, and proved by a checkpoint
	Peaks    []tlog.Hash `json:"peaks"`    // the tree of these
	Restored []uint64    `json:"restored"` // as in a Report
	Notes    tlog.Hash   `json:"notes"`    // of all notes of at most Size entries that were compared
	Keyed    bool        `json:"keyed"`    // the entries were verified by the keys of the store too
	At       time.Time   `json:"at"`       // when all of them had been read
}

// ErrResume says that a resume point is not signed by the key, or says nothing.
var ErrResume = errors.New("it is not a point up to which this auditor has verified a journal")

// SignResume returns the signed text of a resume point. The signer is the auditor's; that of the log
// is refused, since the application that writes the store has it.
func SignResume(r *Resume, signer note.Signer) ([]byte, error) {
	if signer.KeyHash() == r.Key && signer.Name() == r.Origin {
		return nil, fmt.Errorf("the key of %q signs the log itself, so it cannot say who has verified it: make another one for the auditor", r.Origin)
	}
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	return note.Sign(&note.Note{Text: resumeWord + "\n" + string(text) + "\n"}, signer)
}

// OpenResume returns the resume point of a signed text. The signer must sign equal texts equally, as
// Ed25519 does. The error is [ErrResume] when another key has signed it.
func OpenResume(signed []byte, signer note.Signer) (*Resume, error) {
	text, _, _ := bytes.Cut(signed, []byte("\n\n"))
	again, err := note.Sign(&note.Note{Text: string(text) + "\n"}, signer)
	if err != nil || !bytes.Equal(again, signed) {
		return nil, fmt.Errorf("%w: it is not signed by the key of %q", ErrResume, signer.Name())
	}
	word, body, _ := bytes.Cut(text, []byte("\n"))
	var r Resume
	if err := json.Unmarshal(body, &r); string(word) != resumeWord || err != nil {
		return nil, fmt.Errorf("%w: it is another note", ErrResume)
	}
	if signer.KeyHash() == r.Key && signer.Name() == r.Origin {
		return nil, fmt.Errorf("%w: the key of the log has signed it", ErrResume)
	}
	return &r, nil
}

// VerifyFrom is Verify for a journal that was verified up to a point. It reads the entries after it, and
// all of the journal when from is nil, or is about another log, or the notes about the entries before it are not the
// ones that were compared then: a checkpoint was removed, or an anchor given that was not. Keyed says that
// src verifies entries by the keys of the store. Report.Resumed says from where it has read, and
// Report.Resume is where the next verification can go on.
func VerifyFrom(ctx context.Context, src Source, v note.Verifier, anchored [][]byte, from *Resume, keyed bool) (Report, error) {
	return verify(ctx, src, v, anchored, &resumption{from: from, keyed: keyed})
}

// A resumption is where a verification begins.
type resumption struct {
	from  *Resume
	keyed bool
}

// begin sets a walk to where the resume point is, if that is about this log and these notes.
func (r *resumption) begin(w *walk, v note.Verifier) {
	p := r.from
	if p == nil || p.Origin != v.Name() || p.Key != v.KeyHash() || p.Size == 0 || p.Size > w.report.Entries ||
		len(p.Peaks) != peaksOf(p.Size) || !slices.Equal(p.Restored, w.report.Restored) ||
		r.keyed && !p.Keyed || p.Notes != digest(w.targets, p.Size) {
		return
	}
	w.tree = tree{p.Size, slices.Clone(p.Peaks)}
	w.good = w.tree.clone()
	w.report.Resumed = p.Size
	for ; w.next < len(w.targets) && w.targets[w.next].size <= p.Size; w.next++ {
		w.held(&w.targets[w.next])
	}
}

// end returns the point up to which a journal was verified in which nothing was wrong; nil when no checkpoint proves an entry.
func (r *resumption) end(w *walk, v note.Verifier, now time.Time) *Resume {
	if w.good.size == 0 {
		return nil
	}
	return &Resume{
		Origin: v.Name(), Key: v.KeyHash(), Size: w.good.size, Peaks: w.good.peaks, Restored: w.report.Restored,
		Notes: digest(w.targets, w.good.size), Keyed: r.keyed, At: now.UTC().Round(0),
	}
}

// digest names the notes of at most size entries, of which targets has all.
func digest(list []target, size uint64) tlog.Hash {
	var sums [][]byte
	for i := range list {
		if t := &list[i]; t.size <= size {
			sum := sha256.Sum256(fmt.Appendf(nil, "%v %d %d %v %v %v", t.anchored, t.size, t.said, t.root, t.restored, t.bad))
			sums = append(sums, sum[:])
		}
	}
	slices.SortFunc(sums, bytes.Compare)
	return sha256.Sum256(bytes.Join(sums, nil))
}
