// Package live is what a handler reports, or a process writes, while it runs: how much of it is told, how
// often, and what is counted.
package live

import (
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/redact"
)

const (
	// Interval is the least time between two pieces of a call.
	Interval = 100 * time.Millisecond
	// RecordInterval is the least time between two entries about them.
	RecordInterval = time.Second
	// MaxText is how many bytes a handler may report in a call. The rest is dropped.
	MaxText = 64 << 10
)

// A Piece is what is told at once.
type Piece struct {
	At      time.Time
	Attempt int
	Stream  string // of a process that Text is of; empty: a handler reported it
	Offset  int64  // of Text: in all texts of the handler, or in what was written to Stream
	End     int64  // of what Text stands for, in what was written to Stream
	Text    string
	Kept    int                // place among what is kept, from 1; 0: it was not told before
	Counts  runtime.LiveCounts // after it
	Silent  bool               // it says nothing that was not told before
	Record  bool               // the counts are to be recorded
	Bytes   int64              // when they are: those of texts since Counts were recorded before
	Dropped int64              // likewise
}

// An Output is what one call tells, or one undo: reports of its handler, or what its process writes. It is not
// safe for concurrent use.
type Output struct {
	secrets *redact.Secrets // nil: texts are withheld
	hide    *redact.Stream  // of reports; nil: texts are withheld, or there is none yet
	counts  runtime.LiveCounts
	taken   int // bytes of texts of reports
	process written

	attempt    int                // of what waits
	waits      bool               // a report since the latest piece
	told       runtime.LiveCounts // with the latest piece
	takenAt    time.Time          // the latest Take
	recorded   runtime.LiveCounts // in the latest entry
	recordedAt time.Time
}

// New returns the output of a call. Texts are told without secrets; nil withholds them.
func New(secrets *redact.Secrets) *Output { return &Output{secrets: secrets} }

// Add adds a report of an attempt. done and total replace those of the report before, unless both are 0.
func (o *Output) Add(attempt int, done, total int64, text string) {
	o.waits, o.attempt = true, attempt
	if done != 0 || total != 0 {
		o.counts.Done, o.counts.Total = done, total
	}
	if o.hide == nil && o.secrets != nil {
		o.hide = o.secrets.Stream()
	}
	room := 0
	if o.hide != nil {
		room = max(MaxText-o.taken, 0)
	}
	if len(text) > room {
		o.counts.Dropped += int64(len(text) - room)
		text = text[:room]
	}
	if o.taken += len(text); text != "" {
		o.hide.Write(text)
	}
}

// Wait returns how long what was added has to wait at now, 0 when it is told at once.
func (o *Output) Wait(now time.Time) time.Duration {
	if o.takenAt.IsZero() {
		return 0
	}
	return max(Interval-now.Sub(o.takenAt), 0)
}

// Take returns what waits, as one piece; ok is false when it would tell nothing new. The end of the text may be
// held back, as part of a sensitive value.
func (o *Output) Take(now time.Time) (p Piece, ok bool) {
	if !o.waits {
		return p, false
	}
	o.waits, o.takenAt = false, now
	text := ""
	if o.hide != nil {
		text = o.hide.Take()
	}
	if text == "" && o.counts == o.told {
		return p, false
	}
	return o.piece(now, text, o.due(now)), true
}

// due reports whether the counts are to be recorded.
func (o *Output) due(now time.Time) bool {
	return o.recordedAt.IsZero() || now.Sub(o.recordedAt) >= RecordInterval
}

// End returns what is left at the end of an attempt; ok is false when everything was told and
// recorded. After a text that was cut the end is dropped, because it may be half of a sensitive
// value (SEMANTICS 2.5).
func (o *Output) End(now time.Time) (p Piece, ok bool) {
	o.process.abandon(&o.counts)
	text := ""
	switch {
	case o.hide == nil:
	case o.counts.Dropped > 0:
		text = o.hide.Take()
		o.counts.Dropped += int64(o.hide.Discard())
	default:
		text = o.hide.Rest()
	}
	o.waits = false
	if text == "" && o.counts == o.recorded {
		return p, false
	}
	return o.piece(now, text, true), true
}

// piece makes a piece.
func (o *Output) piece(now time.Time, text string, record bool) Piece {
	p := Piece{At: now, Attempt: o.attempt, Offset: o.counts.Bytes, Text: text, Silent: text == "" && o.counts == o.told, Record: record}
	if !p.Silent {
		o.counts.Bytes += int64(len(text))
		o.counts.Pieces++
		o.told = o.counts
	}
	p.Counts = o.counts
	if record {
		p.Bytes, p.Dropped = o.counts.Bytes-o.recorded.Bytes, o.counts.Dropped-o.recorded.Dropped
		o.recorded, o.recordedAt = o.counts, now
	}
	return p
}
