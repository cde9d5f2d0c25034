package console

import (
	"net/url"
	"strconv"
	"strings"
)

// links makes every URL of a console. The parts of a path are escaped so that each stays one part,
// whatever it says.
type links struct{ prefix string }

// Home is the list of what waits.
func (l links) Home() string { return l.prefix + "/" }

// Ended is the list of the requests that need no answer any more.
func (l links) Ended() string { return l.prefix + "/ended" }

// EndedBefore is that list after one of them.
func (l links) EndedBefore(id string) string {
	return l.Ended() + "?" + url.Values{"before": {id}}.Encode()
}

// Approval is the page of a request for consent.
func (l links) Approval(id string) string { return l.prefix + "/approvals/" + part(id) }

// Arguments is all of the arguments of a request, as text.
func (l links) Arguments(id string) string { return l.Approval(id) + "/arguments" }

// Grants is the list of grants.
func (l links) Grants() string { return l.prefix + "/grants" }

// Revoke takes a grant back.
func (l links) Revoke(id string) string { return l.Grants() + "/" + part(id) + "/revoke" }

// Tools is the catalog.
func (l links) Tools() string { return l.prefix + "/tools" }

// Tool is the page of a tool.
func (l links) Tool(name string) string { return l.Tools() + "/" + part(name) }

// Calls is the list of calls.
func (l links) Calls() string { return l.prefix + "/calls" }

// Call is the page of a call.
func (l links) Call(session, id string) string {
	return l.Calls() + "/" + part(session) + "/" + part(id)
}

// Act is what is done about a call, such as undo.
func (l links) Act(session, id, act string) string { return l.Call(session, id) + "/" + act }

// Artifact is the output of a call that is stored aside.
func (l links) Artifact(session, id string) string { return l.Act(session, id, "artifact") }

// CallsOf is the list of the calls of a tool.
func (l links) CallsOf(tool string) string {
	return l.Calls() + "?" + url.Values{"tool": {tool}}.Encode()
}

// GrantsAfter is the list of the grants that were given before one.
func (l links) GrantsAfter(id string) string {
	return l.Grants() + "?" + url.Values{"after": {id}}.Encode()
}

// Run is the page of a run.
func (l links) Run(session, run string) string {
	return l.prefix + "/runs/" + part(run) + "?" + url.Values{"session": {session}}.Encode()
}

// RunBefore is the page of the calls of a run before an entry.
func (l links) RunBefore(session, run string, before uint64) string {
	return l.Run(session, run) + "&before=" + strconv.FormatUint(before, 10)
}

// CallsOfRun is the list of the calls of a run.
func (l links) CallsOfRun(session, run string) string {
	return l.Calls() + "?" + url.Values{"session": {session}, "run": {run}}.Encode()
}

// Audit is the list of the entries of the journal.
func (l links) Audit() string { return l.prefix + "/audit" }

// Entry is the page of an entry.
func (l links) Entry(seq uint64) string { return l.Audit() + "/" + strconv.FormatUint(seq, 10) }

// Verify compares the journal with what proves it.
func (l links) Verify() string { return l.Audit() + "/verify" }

// Export is the journal as JSON lines.
func (l links) Export() string { return l.Audit() + "/export" }

// Health is the page about the host.
func (l links) Health() string { return l.prefix + "/health" }

// Style is the style sheet.
func (l links) Style() string { return l.prefix + styleSheet.path }

// Script is what updates pages, and takes keys.
func (l links) Script() string { return l.prefix + script.path }

// Events is the stream of the host, which no prefix of a console changes.
func (l links) Events() string { return "/events" }

// Icon is the icon of the pages.
func (l links) Icon() string { return l.prefix + icon.path }

// part is a text as one part of a path. Browsers drop parts that are . or .., however they are escaped, so
// these have a tilde before them, as has what begins with one. whole takes it away.
func part(id string) string {
	if id == "." || id == ".." || strings.HasPrefix(id, tilde) {
		id = tilde + id
	}
	return url.PathEscape(id)
}

const tilde = "~"

// whole is the text of a part of a path.
func whole(part string) string { return strings.TrimPrefix(part, tilde) }
