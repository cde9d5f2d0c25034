package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ambit-tools/ambit/runtime/wire"
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
	if string(word) != resumeWord || wire.Unmarshal(body, wire.Limits{Size: len(body) + 1}, &r) != nil {
		return nil, fmt.Errorf("%w: it is another note", ErrResume)
	}
	if signer.KeyHash() == r.Key && signer.Name() == r.Origin {
		return nil, fmt.Errorf("%w: the key of the log has signed it", ErrResume)
	}
	return &r, nil
}
