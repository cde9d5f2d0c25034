package audit

import (
	"log/slog"
	"time"

	"golang.org/x/mod/sumdb/note"
)

// The bounds of what is not signed yet.
const (
	// Interval is after how many entries there is a checkpoint.
	Interval = 256
	// Delay is after how long there is one when there are fewer.
	Delay = time.Second
)

// patience bounds how long it may take to store and anchor a checkpoint. There is
// no other one meanwhile.
const patience = 30 * time.Second

// maxPending is how many leaf hashes wait for a checkpoint to be stored with.
// When more do, because checkpoints cannot be stored, they are dropped: what is
// proved stays the same, but an edit among them is located less exactly.
const maxPending = 1 << 16

// An Option changes how a Log works.
type Option func(*Log)

// WithAnchor takes every checkpoint to an anchor too. It may be given more than
// once. Without an anchor a Log does not notice that it was cut or rewritten
// together with its checkpoints.
func WithAnchor(a Anchor) Option {
	return func(l *Log) { l.anchors = append(l.anchors, anchor{to: a}) }
}

// WithReport sets the function that receives the errors of checkpoints, and what New
// finds that an operator should look at. One goroutine at a time calls it. It must not
// call the Log. The default is slog.Error.
func WithReport(f func(error)) Option { return func(l *Log) { l.report = f } }

// WithVerifier sets what checks the signature of the last checkpoint at the
// start. It is needed only with a signer that does not sign equal texts equally;
// Ed25519, of which GenerateKey makes keys, does.
func WithVerifier(v note.Verifier) Option { return func(l *Log) { l.verifier = v } }

// WithAfterFunc sets the clock: f calls g when d has passed, unless stop is
// called before, which says whether it came in time. The default is time.AfterFunc.
func WithAfterFunc(f func(d time.Duration, g func()) (stop func() bool)) Option {
	return func(l *Log) { l.after = f }
}

func afterFunc(d time.Duration, g func()) func() bool { return time.AfterFunc(d, g).Stop }

func reportError(err error) { slog.Error("audit", "error", err) }
