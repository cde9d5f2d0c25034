package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strings"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// script is what the agent does when it is not told otherwise.
//
//go:embed calls.jsonl
var script []byte

// errInterrupted ends the calls when a signal asks for it.
var errInterrupted = errors.New("interrupted: no further call was made")

// call is one line of a calls file. The input stays as the bytes that were
// written: only the runtime reads it.
type call struct {
	Do    verb
	ID    string
	Tool  string
	Input []byte
}

// A verb is what a line asks for: a new call of the agent, or what its operator does
// with an earlier one.
type verb string

const (
	doCall    verb = ""
	doUndo    verb = "undo"
	doApprove verb = "approve"
	doDeny    verb = "deny"
)

// callSeq yields calls until no more can be read. A line that is no call is an
// error of its own, a badLine, after which calls go on.
type callSeq = iter.Seq2[call, error]

// A badLine is why a line is no call.
type badLine struct{ at, message string }

// Error implements error.
func (b *badLine) Error() string { return b.at + ": " + b.message + "\nhint: " + wanted }

// automatic begins the ids of calls that were written without one.
const automatic = "#"

// byteOrderMark is what some editors put before a text.
var byteOrderMark = []byte("\uFEFF")

// line is one line of input, or why there is none.
type line struct {
	text []byte
	err  error
}

// calls reads JSON lines from r, named name in errors, until ctx ends. Blank
// lines are skipped. A call without an id gets "#" and the number of its line; in
// a later start on a journal that of the start before it, since ids stand for the
// same call as long as the journal lasts.
func calls(ctx context.Context, name string, start uint64, r io.Reader) callSeq {
	prefix := automatic
	if start > 1 {
		prefix = fmt.Sprintf("%s%d.", automatic, start)
	}
	return func(yield func(call, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		lines := make(chan line)
		go readLines(ctx, r, lines)
		for n := 1; ; n++ {
			var l line
			more := false
			select {
			case <-ctx.Done():
			case l, more = <-lines:
			}
			if ctx.Err() != nil { // which may have ended the lines
				yield(call{}, errInterrupted)
				return
			}
			if !more || !hand(l, fmt.Sprintf("%s:%d", name, n), fmt.Sprintf("%s%d", prefix, n), yield) {
				return
			}
		}
	}
}

// hand yields the call of a line, which is at a place and has an id unless it
// says another one. It reports whether to go on.
func hand(l line, at, id string, yield func(call, error) bool) bool {
	if l.err != nil {
		yield(call{}, fmt.Errorf("%s: %w", at, l.err))
		return false
	}
	if len(l.text) == 0 {
		return true
	}
	c, err := parseCall(l.text)
	if err != nil {
		return yield(call{}, &badLine{at, err.Error()})
	}
	if c.ID == "" {
		c.ID = id
	}
	return yield(c, nil)
}

// readLines sends the lines of r. It runs in a goroutine of its own because a read
// cannot be interrupted: when ctx ends first, the goroutine stays in its read.
func readLines(ctx context.Context, r io.Reader, to chan<- line) {
	defer close(to)
	in := bufio.NewReader(r)
	for first := true; ; first = false {
		text, err := in.ReadBytes('\n')
		if first {
			text = bytes.TrimPrefix(text, byteOrderMark)
		}
		l := line{text: bytes.TrimSpace(text)}
		if err != nil && !errors.Is(err, io.EOF) {
			l.err = err
		}
		select {
		case to <- l:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// wanted is what a line has to look like.
const wanted = `a line is one call: {"tool": NAME, "input": {...}}, with an "id" if you like; or {"undo": ID}, {"approve": ID}, {"deny": ID}`

// An envelope is a line as it is read: strictly, but for the input.
type envelope struct {
	call
	members int
}

var (
	envelopeRule = wire.ObjectRule{Names: []string{"id", "tool", "input", string(doUndo), string(doApprove), string(doDeny)}}
	filled       = wire.StringRule{Has: wire.Min, Min: 1}
)

// ReadMember implements wire.Members.
func (e *envelope) ReadMember(r *wire.Reader, name string) {
	e.members++
	switch name {
	case "tool":
		wire.ReadString(r, &e.Tool, &filled)
	case "input":
		wire.ReadVerbatim(r, &e.Input)
	case "id":
		wire.ReadString(r, &e.ID, &filled)
	default:
		e.Do = verb(name)
		wire.ReadString(r, &e.ID, &filled)
	}
}

// parseCall reads one line. It looks no further than the members of the call:
// what is wrong with the input is for the runtime to say.
func parseCall(text []byte) (call, error) {
	e, wrong := wire.Decode[envelope](text, wire.Limits{Size: math.MaxInt}, &envelopeRule)
	switch {
	case wrong != nil:
		return call{}, errors.New(oneLine(wrong[0].String()))
	case e.Do != doCall && e.members > 1:
		return call{}, fmt.Errorf("%q stands alone in its line", string(e.Do))
	case e.Do == doCall && e.Tool == "":
		return call{}, errors.New(`the call names no "tool"`)
	case e.Do == doCall && strings.HasPrefix(e.ID, automatic):
		return call{}, fmt.Errorf("the id %q begins with %q, as those do that calls without one get", e.ID, automatic)
	}
	return e.call, nil
}
