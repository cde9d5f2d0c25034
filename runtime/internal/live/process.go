package live

import (
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/internal/redact"
)

// keptChunk is how many bytes of what is kept are one piece.
const keptChunk = 8 << 10

// A Kept returns the head and the tail of what a process has written so far.
type Kept = func() (stdout, stderr process.Output)

// A written is what the process of an attempt writes.
type written struct {
	attempt int
	kept    Kept  // nil: the process has ended, or there is none
	most    int64 // bytes of each stream that are told
	streams [2]stream
}

// A stream is how much of a stream is told, in bytes that were written to it.
type stream struct {
	hide *redact.Stream // nil: it is withheld
	told int64          // up to where the text of pieces goes
	end  int64          // up to where it was taken
}

// Begin begins with the process of an attempt, of which at most so many bytes of each stream are told.
func (o *Output) Begin(attempt int, kept Kept, most int64) {
	o.process.abandon(&o.counts)
	o.process = written{attempt: attempt, kept: kept, most: most, streams: [2]stream{newStream(o.secrets), newStream(o.secrets)}}
}

func newStream(secrets *redact.Secrets) (s stream) {
	if secrets != nil {
		s.hide = secrets.Stream()
	}
	return s
}

// Write adds what the process writes, and returns it as a piece; ok is false when that would tell nothing. The
// process has been begun, and its runner has made chunks of what it writes (SEMANTICS 2.5.6).
func (o *Output) Write(now time.Time, c *process.Chunk) (p Piece, ok bool) {
	s := &o.process.streams[c.Stream]
	from, text, dropped := s.write(c.Offset, c.Data)
	o.counts.Dropped += dropped
	if text == "" && o.counts == o.told {
		return p, false
	}
	return o.part(now, c.Stream, from, text), true
}

// Close ends the process of an attempt, and returns what is left to tell. It was all that it wrote, and
// so no part of a sensitive value, unless more was written than is told.
func (o *Output) Close(now time.Time, stdout, stderr int64) (list []Piece) {
	for i, size := range []int64{stdout, stderr} {
		s := &o.process.streams[i]
		if s.hide == nil || size > s.end {
			continue
		}
		from, text := s.told, s.hide.Rest()
		if s.told = s.end; text != "" {
			list = append(list, o.part(now, process.Stream(i), from, text))
		}
	}
	for i, size := range []int64{stdout, stderr} {
		o.counts.Dropped += max(0, size-o.process.streams[i].end)
	}
	o.process.abandon(&o.counts)
	return list
}

// part makes a piece of a stream.
func (o *Output) part(now time.Time, of process.Stream, from int64, text string) Piece {
	o.attempt = o.process.attempt
	p := o.piece(now, text, o.due(now))
	p.Stream, p.Offset, p.End = of.String(), from, o.process.streams[of].told
	return p
}

// abandon counts what is held back as dropped: it may be half of a sensitive value.
func (w *written) abandon(counts *runtime.LiveCounts) {
	w.kept = nil
	for i := range w.streams {
		if s := &w.streams[i]; s.hide != nil {
			counts.Dropped += int64(s.hide.Gap())
		}
	}
}

// write adds bytes that begin at an offset of the stream. It returns from which one its text is, and
// how many bytes are told to nobody.
func (s *stream) write(at int64, b []byte) (from int64, text string, dropped int64) {
	if at > s.end {
		dropped = at - s.end
		if s.hide != nil {
			dropped += int64(s.hide.Gap())
		}
		s.told = at
	}
	s.end = at + int64(len(b))
	if from = s.told; s.hide == nil {
		s.told = s.end
		return from, "", dropped + int64(len(b))
	}
	s.hide.Write(string(b))
	text = s.hide.Take()
	s.told = s.end - int64(s.hide.Held())
	return from, text, dropped
}

// A Snapshot is what a process has written that runs.
type Snapshot struct {
	secrets *redact.Secrets
	counts  runtime.LiveCounts
	attempt int
	streams [2]process.Output
}

// Snapshot returns what is kept of the process that runs: as far as it was told, or all of it where no
// more is told. It is nil where no process runs, or where its texts are withheld.
func (o *Output) Snapshot() *Snapshot {
	w := &o.process
	if w.kept == nil || o.secrets == nil {
		return nil
	}
	s := &Snapshot{secrets: o.secrets, counts: o.counts, attempt: w.attempt}
	s.streams[process.Stdout], s.streams[process.Stderr] = w.kept()
	for i := range w.streams {
		if end := w.streams[i].end; end < w.most {
			until(&s.streams[i], end)
		}
	}
	return s
}

// until cuts what is kept of a stream off at an offset.
func until(o *process.Output, end int64) {
	tail := o.Size - int64(len(o.Tail))
	o.Head = o.Head[:min(int64(len(o.Head)), end)]
	o.Tail = o.Tail[:min(int64(len(o.Tail)), max(0, end-tail))]
}

// Pieces returns the pieces of what is kept. The next piece of the process begins where they end.
func (s *Snapshot) Pieces(now time.Time) (list []Piece) {
	for i := range s.streams {
		o, to := &s.streams[i], newStream(s.secrets)
		for _, part := range []struct {
			at   int64
			data []byte
		}{{0, o.Head}, {o.Size - int64(len(o.Tail)), o.Tail}} {
			for at, b := part.at, part.data; len(b) > 0; {
				n := min(keptChunk, len(b))
				from, text, _ := to.write(at, b[:n])
				if at, b = at+int64(n), b[n:]; text == "" {
					continue
				}
				list = append(list, Piece{
					At: now, Attempt: s.attempt, Counts: s.counts, Kept: len(list) + 1,
					Stream: process.Stream(i).String(), Offset: from, End: to.told, Text: text,
				})
			}
		}
	}
	return list
}
