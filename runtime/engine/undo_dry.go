package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A LaterCall was made in the same session after a call that may be undone, may have changed
// something, and shares arguments or groups with the earlier call. An undo of the earlier call may
// reverse, or break, what the later call did.
type LaterCall struct {
	CallID, Tool string
	Shares       []string // JSON Pointers of its arguments that the earlier call also had, and "group NAME" of exclusive groups
}

// dryUndo returns the result that an undo of a call would have, as far as it is known before the
// undo handler runs.
func (s *Session) dryUndo(ctx context.Context, r *callRecord) *ActionError {
	if !s.exec.enterForUndo() {
		return &ActionError{Code: CodeJournalUnavailable}
	}
	defer s.exec.gate.Leave()
	s.mu.Lock()
	why := s.undoRefusal(r)
	s.mu.Unlock()
	if why != "" {
		return &ActionError{Code: why}
	}
	if fault := r.call.undoAllowed(ctx); fault != nil {
		return r.call.undoFailed(fault)
	}
	return nil
}

// addLater adds to calls that would be undone the later calls that share something with them,
// except those that would be undone too.
func (s *Session) addLater(calls []UndoneCall) {
	s.mu.Lock()
	defer s.mu.Unlock()
	undone := map[string]bool{}
	first := s.lastNumber
	for i := range calls {
		if calls[i].Err == nil {
			undone[calls[i].CallID] = true
			first = min(first, s.calls.find(calls[i].CallID).number)
		}
	}
	var later []*callRecord
	for r := range s.calls.all() {
		if r.number > first && !undone[r.id] && s.mayHaveChanged(r) {
			later = append(later, r)
		}
	}
	slices.SortFunc(later, func(a, b *callRecord) int { return a.number - b.number })
	for i := range calls {
		if calls[i].Err != nil {
			continue
		}
		r := s.calls.find(calls[i].CallID)
		about := s.subjectOf(r)
		for _, other := range later {
			if other.number < r.number {
				continue
			}
			if shares := about.shared(s.subjectOf(other)); len(shares) > 0 {
				calls[i].Later = append(calls[i].Later, LaterCall{CallID: other.id, Tool: other.tool, Shares: shares})
			}
		}
	}
}

// mayHaveChanged reports whether a call may have changed something that was not undone. s.mu is
// held.
func (s *Session) mayHaveChanged(r *callRecord) bool {
	tool, _ := s.exec.lookup(r.tool)
	switch {
	case tool != nil && tool.spec.Effect == runtime.SideEffectRead, r.undo.done:
		return false
	case !r.ended():
		return r.call != nil && r.call.reservation == reservedAndInvoked
	}
	out := r.outcome()
	return !out.RolledBack && (out.Kind == runtime.Completed || out.Kind == runtime.Unknown || out.Kind == runtime.TimedOut || r.undo.possible)
}

// A subject is what a call is about: its arguments and groups.
type subject struct {
	args   []argument
	groups []string
}

// An argument is a text or a number in the arguments of a call.
type argument struct {
	pointer, name string
	value         any // string or json.Number
}

// subjectOf returns the subject of a call. s.mu is held.
func (s *Session) subjectOf(r *callRecord) (a subject) {
	tool, _ := s.exec.lookup(r.tool)
	if tool == nil {
		return a
	}
	a.groups = tool.spec.Rules.ExclusiveGroups
	d := json.NewDecoder(bytes.NewReader(argumentsOf(tool, r)))
	d.UseNumber()
	var v any
	if d.Decode(&v) == nil {
		a.collect(argument{value: v})
	}
	return a
}

// argumentsOf returns the arguments of a call as JSON: those that it ran with, if they are still
// known, otherwise those of its input. It is nil when neither is known.
func argumentsOf(tool *tool, r *callRecord) (text []byte) {
	defer func() {
		if recover() != nil { // a fault of the codec
			text = nil
		}
	}()
	if r.call != nil && r.call.final != nil {
		text, _ = wire.Append(nil, r.call.final)
		return text
	}
	if r.digest {
		return nil
	}
	v, text, _, violations := tool.read(r.input)
	if v == nil || violations != nil {
		return nil
	}
	return text
}

var pointerTokens = strings.NewReplacer("~", "~0", "/", "~1")

// collect adds the texts and numbers in a value.
func (a *subject) collect(in argument) {
	switch v := in.value.(type) {
	case map[string]any:
		for name, member := range v {
			a.collect(argument{in.pointer + "/" + pointerTokens.Replace(name), name, member})
		}
	case []any:
		for _, element := range v {
			a.collect(argument{in.pointer, in.name, element})
		}
	case json.Number:
		a.args = append(a.args, in)
	case string:
		if v != "" {
			a.args = append(a.args, in)
		}
	}
}

// shared names what a later call shares with a: texts at any place, numbers in members of the same
// name, and groups.
func (a *subject) shared(later subject) (shares []string) {
	for _, l := range later.args {
		same := func(e argument) bool {
			_, text := e.value.(string)
			return e.value == l.value && (text || e.name == l.name)
		}
		if slices.ContainsFunc(a.args, same) {
			shares = append(shares, l.pointer)
		}
	}
	slices.Sort(shares)
	shares = slices.Compact(shares)
	for _, g := range later.groups {
		if slices.Contains(a.groups, g) {
			shares = append(shares, "group "+g)
		}
	}
	return shares
}
