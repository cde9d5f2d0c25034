package engine

// An endedReader reads the calls that a session holds by reference: for a goroutine that awaits one, for a call that repeats
// one, for an undo, and for the overlap of two calls.
//
// Its methods take the lock of the session, never while they read the journal. A call that cannot be read is refused with an
// outcome that says so, and the error handler gets the reason: no method takes a call for one that was never made.

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"math"
	"sync"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/outcomes"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// An endedReader is the calls of a session that have ended. Its methods are safe for concurrent use, without the lock of the
// session.
type endedReader struct {
	Session string
	Lock    sync.Locker // of the session
	Memory  *memory     // of the session
	Journal journal.Journal
	Sched   *sched.Scheduler
	Quiet   func(*call) bool // reports whether no code of a call runs any more
	Report  func(*action.CallError)
	Pin     func() func() // loads the session, and keeps it in memory until the result is called

	Segments journal.Segments // with outcomes of calls that the journal has not; nil: there are none
}

// Find returns the record of a call, or the reference to it. Both are nil where there is none, and for the nil pointer.
func (p *endedReader) Find(id string) (*callRecord, *endedCall) {
	if p == nil {
		return nil, nil
	}
	defer p.Pin()()
	p.Lock.Lock()
	defer p.Lock.Unlock()
	id = wording.ValidUTF8(id)
	return p.Memory.Find(id), p.Memory.Reference(id)
}

// Describe adds to a request to act on a call what is known of the call. of describes one that can still change.
func (p *endedReader) Describe(r *runtime.ActRequest, of func(*call) (run, principal string)) {
	c, was := p.Find(r.Call)
	switch {
	case was != nil:
		r.Tool, r.Run = was.Tool, was.Run
		if read, err := p.Read(was); err == nil {
			r.Principal = read.Principal
		}
	case c != nil:
		r.Tool = c.Tool
		p.Lock.Lock()
		defer p.Lock.Unlock()
		if any(c.Live) != any(*new(*call)) { // not nil
			r.Run, r.Principal = of(c.Live)
		}
	}
}

// Running returns a call that has no outcome, or why there is none of that id.
func (p *endedReader) Running(id string) (of *call, why action.Code) {
	r, was := p.Find(id)
	switch {
	case was != nil:
		return of, action.CodeAlreadyEnded
	case r == nil:
		return of, action.CodeUnknownCall
	}
	p.Lock.Lock()
	defer p.Lock.Unlock()
	if r.Ended() || any(r.Live) == any(of) {
		return of, action.CodeAlreadyEnded
	}
	return r.Live, ""
}

// Rest says that the outcome of a call is durable and that nothing is being done with the call.
func (p *endedReader) Rest(r *callRecord) {
	p.Lock.Lock()
	defer p.Lock.Unlock()
	p.Memory.Rest(r, p.Quiet)
}

// Read reads a call. The error was reported, but for a [*journal.ArchivedError]: that its entries are archived is no fault.
func (p *endedReader) Read(was *endedCall) (*history.Call, error) {
	of, err := p.read(was)
	if err != nil {
		p.report(was, err)
	}
	return of, err
}

func (p *endedReader) read(was *endedCall) (*history.Call, error) {
	return readEnded(context.Background(), p.Journal, p.Session, was) // an outcome is had whether or not a caller still waits
}

// report reports why a call cannot be read, but for a [*journal.ArchivedError].
func (p *endedReader) report(was *endedCall, err error) {
	if errors.As(err, new(*journal.ArchivedError)) {
		return
	}
	p.Report(&action.CallError{Tool: was.Tool, CallID: was.ID, SessionID: p.Session, RunID: was.Run, Reason: runtime.ReasonJournalUnavailable, Err: err})
}

// Record returns the record of a call for the caller alone, to read, or that of the call that has its id meanwhile.
// refused says why it cannot be had (SEMANTICS 1.4).
func (p *endedReader) Record(was *endedCall) (r *callRecord, refused *runtime.Outcome) {
	of, err := p.read(was)
	if err != nil {
		switch live, now := p.Find(was.ID); {
		case live != nil:
			return live, nil
		case now != nil && now.Opened != was.Opened:
			return p.Record(now)
		}
	}
	out, archived := outcomes.Unreadable(was.ID), new(journal.ArchivedError)
	if errors.As(err, &archived) {
		out = outcomes.Archived(was.ID, was.Outcome)
		of, err = p.readArchived(was, archived)
	}
	if err != nil {
		p.report(was, err)
		return nil, &out
	}
	p.repeat(of.Outcome, was.Outcome)
	return endedRecord(p.Sched, was, of), nil
}

// readArchived reads a call from the segments. The error is archived where there are none, or the file is not there any more.
func (p *endedReader) readArchived(was *endedCall, archived *journal.ArchivedError) (*history.Call, error) {
	if p.Segments == nil {
		return nil, archived
	}
	of, err := readArchived(context.Background(), p.Journal, p.Segments, p.Session, was, archived.Last)
	if errors.Is(err, fs.ErrNotExist) {
		err = archived
	}
	return of, err
}

// Earlier returns the record of a call that another one has the id of, and what becomes of the other one if that is not the
// same call. is reports whether a tool, by its name, is that of the other call.
func (p *endedReader) Earlier(r *callRecord, was *endedCall, id string, is func(tool string) bool) (*callRecord, *runtime.Outcome) {
	if was != nil && is(was.Tool) {
		var refused *runtime.Outcome
		if r, refused = p.Record(was); refused != nil {
			return nil, refused
		}
	}
	reused := outcomes.IDReused(id)
	return r, &reused
}

// Repeat completes the outcome of a call, in its record too, if the call repeats one that is held by reference, or whose outcome was recorded
// before its own and not told yet (SEMANTICS 4.8 and 4.9).
func (p *endedReader) Repeat(out *runtime.Outcome, of *callRecord) {
	if !bare(out) {
		return
	}
	p.Lock.Lock()
	at := cmp.Or(of.Concluded(), math.MaxUint64)
	p.Lock.Unlock()
	if p.repeat(out, at) {
		p.Lock.Lock()
		defer p.Lock.Unlock()
		of.Store(out)
	}
}

// bare reports whether an outcome is that of a call that repeats another one, without the output of that.
func bare(out *runtime.Outcome) bool {
	return out.Kind == runtime.Duplicate && out.Output == nil && out.Artifact == nil
}

// repeat completes the outcome of a call that repeats one that had ended before a position. It reports whether out is one.
func (p *endedReader) repeat(out *runtime.Outcome, before uint64) bool {
	if !bare(out) {
		return false
	}
	live, was := p.Find(out.Of)
	switch {
	case live != nil: // a start would find its outcome before this one
		p.Lock.Lock()
		defer p.Lock.Unlock()
		if at := live.Concluded(); at == 0 || at > before {
			return false
		}
		earlier := live.Outcome()
		out.Output, out.Artifact = earlier.Output, earlier.Artifact
		return true
	case was == nil || was.Outcome > before:
		return false
	}
	if r, refused := p.Record(was); refused != nil {
		out.Message += "; " + refused.Message
	} else {
		earlier := r.Outcome()
		out.Output, out.Artifact = earlier.Output, earlier.Artifact
	}
	return true
}

// Artifact returns the artifact with a hash of a call whose outcome is told to a caller.
func (p *endedReader) Artifact(sha256 string, to *callOrigin) (runtime.ArtifactRef, bool) {
	p.Lock.Lock()
	ref, others := p.Memory.WithArtifact(sha256, to)
	p.Lock.Unlock()
	for i := 0; ref == nil && i < len(others); i++ {
		if r, refused := p.Record(&others[i]); refused == nil && r.By.Answers(to) {
			ref = others[i].Artifact
		}
	}
	if ref == nil {
		return runtime.ArtifactRef{}, false
	}
	return *ref, true
}

// Hold returns the record of a call, which stays in memory until LetGo. A call whose entries are archived is refused although its
// record is in memory: a recovery could not go on with its undo. revive makes of the record of a call that was
// read what an undo or a resolution needs.
func (p *endedReader) Hold(id string, revive func(*history.Call, *callRecord)) (*callRecord, *action.Error) {
	for {
		r, was, needs := p.keep(wording.ValidUTF8(id))
		switch {
		case r != nil:
			if needs == 0 {
				return r, nil
			}
			if _, err := p.Journal.Entries(context.Background(), needs); errors.As(err, new(*journal.ArchivedError)) {
				p.LetGo(r)
				return nil, &action.Error{Code: action.CodeNotUndoable, Detail: err.Error()}
			}
			return r, nil // where the journal cannot be read, the undo cannot be recorded either
		case was == nil:
			return nil, &action.Error{Code: action.CodeUnknownCall}
		}
		of, err := p.Read(was)
		if archived := new(journal.ArchivedError); errors.As(err, &archived) {
			if was.Undone {
				return nil, &action.Error{Code: action.CodeAlreadyUndone}
			}
			return nil, &action.Error{Code: action.CodeNotUndoable, Detail: archived.Error()}
		} else if err != nil {
			return nil, &action.Error{Code: action.CodeJournalUnavailable, Err: err}
		}
		r = endedRecord(p.Sched, was, of)
		revive(of, r)
		p.Lock.Lock()
		r = p.Memory.Hold(r, was)
		p.Lock.Unlock()
		if r != nil {
			return r, nil
		}
	}
}

// keep is Hold for a call in memory, and needs the entry that it must still have. It returns the reference to another call.
func (p *endedReader) keep(id string) (r *callRecord, was *endedCall, needs uint64) {
	p.Lock.Lock()
	defer p.Lock.Unlock()
	if r = p.Memory.Find(id); r == nil {
		return nil, p.Memory.Reference(id), 0
	}
	p.Memory.Keep(r)
	return r, nil, r.Needs()
}

// LetGo ends the Hold of records.
func (p *endedReader) LetGo(list ...*callRecord) {
	p.Lock.Lock()
	defer p.Lock.Unlock()
	for _, r := range list {
		p.Memory.LetGo(r, p.Quiet)
	}
}

// AddLater is Memory.AddLater for calls whose records are held.
func (p *endedReader) AddLater(calls []action.UndoneCall, o overlapRules) {
	p.Lock.Lock()
	unread := p.Memory.Unread(calls, o)
	p.Lock.Unlock()
	var read []laterCall
	for i := range unread {
		of, err := p.Read(&unread[i])
		if err != nil {
			read = append(read, laterUnread(&unread[i]))
			continue
		}
		r := endedRecord(p.Sched, &unread[i], of)
		if of.Rewritten {
			r.Input = of.Final
		}
		read = append(read, laterCall{callRecord: r})
	}
	p.Lock.Lock()
	defer p.Lock.Unlock()
	p.Memory.AddLater(calls, o, read)
}

// Recall returns the record of a call, to read. refused says why there is none.
func (p *endedReader) Recall(id string) (r *callRecord, refused *runtime.Outcome) {
	r, was := p.Find(id)
	switch {
	case was != nil:
		return p.Record(was)
	case r == nil:
		out := outcomes.NoCall(id, p != nil && p.Memory.IsShut())
		return nil, &out
	}
	return r, nil
}
