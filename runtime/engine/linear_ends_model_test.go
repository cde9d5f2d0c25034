package engine_test

import (
	"fmt"
	"slices"
)

// sessionEnded and runFinished are the answers to calls that come too late; runClosed that to one which is under way.
const (
	sessionEnded = "denied [run_finished] of the session"
	runFinished  = "denied [run_finished]"
	runClosed    = "cancelled run_closed"
)

// stepEnds is step for the end of a run or of its session, for what is observed of it, and for all that comes after.
// It reports false where the rules decide.
//
// Close is a step within the time of Run.Close, from which on the run starts no call, and a step when that returns
// (closed), from which on no call of the run is left. End is a step from which on the session may refuse calls, Close,
// and a step after which it has no grant (forget), all within the time of Session.End; and one when that returns (ended).
func (n *linearNode) stepEnds(in linearStep, want string) (m *linearNode, text string, is bool) {
	f := n.linearFlags
	switch in.kind {
	case "end":
		f.ending = true
	case "close":
		f.closing = true
		if in.ofEnd && !n.ending {
			return nil, "the session ends before its runs", true
		}
	case "closed":
		f.closed = true
		if !n.closing {
			return nil, "the run is closed before", true
		}
	case "forget":
		f.closed, f.granted = true, false
		if !n.ending || !n.closing {
			return nil, "the session and its run end before", true
		}
	case "ended":
		f.over = true
		if !n.closed || n.granted {
			return nil, "the session forgets before", true
		}
	default:
		text, is = n.observe(in.kind)
		if is || in.kind != "call" && !n.closing {
			return n, text, is
		}
		return n.stepLate(in, want)
	}
	return n.nextFlags(f), "", true
}

// nextFlags is next when no event has happened. Of a run that is closing the rules decide nothing any more.
func (n *linearNode) nextFlags(f linearFlags) *linearNode {
	m := n.next(nil, f)
	if f.closing && m.facts != "" {
		m.facts = ""
		m.print = fmt.Sprint("closing ", f)
	}
	return m
}

// observe is step for operations that change nothing, and for a run that begins.
func (n *linearNode) observe(kind string) (text string, is bool) {
	switch kind {
	case "begin": // a run beside the one of the calls, in which no call is made
		return yesNo(!n.ending), true
	case "status":
		return yesNo(n.closing), true
	case "grants":
		return yesNo(n.granted), true
	}
	return "", false
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

// stepLate is step for calls, answers, cancellations and ends of handlers where the run or its session is about to end,
// or has ended.
func (n *linearNode) stepLate(in linearStep, want string) (m *linearNode, text string, is bool) {
	switch in.kind {
	case "finish":
		return n, "", true
	case "answer":
		m, text = n.answerLate(in, want)
		return m, text, true
	case "cancel":
		f := n.linearFlags
		f.open, f.accepted = without(n.open, in.id), without(n.accepted, in.id)
		waits := slices.Contains(n.open, in.id) || slices.Contains(n.accepted, in.id)
		if in.was != "" && n.closed || in.was == "pending" && !waits {
			return n, "already_ended", true
		}
		return n.nextFlags(f), "", true
	}
	switch {
	case n.over:
		return n, sessionEnded, true
	case n.ending && want == sessionEnded, want == "cancelled cancelled":
		return n, want, true
	case !n.closing:
		return nil, "", false
	case n.closed || want != runClosed:
		return n, runFinished, true
	}
	return n, runClosed, true
}

// answerLate answers a request of a run that is closing: the request is open until its call is ended, but the call does
// not start.
func (n *linearNode) answerLate(in linearStep, want string) (*linearNode, string) {
	if n.closed || !slices.Contains(n.open, in.id) {
		return n, "already_resolved"
	}
	f := n.linearFlags
	f.open = without(n.open, in.id)
	if want == "already_resolved" { // the call was ended before
		return n.nextFlags(f), want
	}
	f.accepted = append(slices.Clone(n.accepted), in.id)
	slices.Sort(f.accepted)
	f.granted = n.granted || in.tool == "trust"
	if want == "cancelled cancelled" {
		return n.nextFlags(f), want
	}
	return n.nextFlags(f), runClosed
}
