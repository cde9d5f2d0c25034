package console

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host/internal/httpguard"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// A callPage is what the page of a call shows.
type callPage struct {
	*recordedCall
	Notice                         *notice
	OutcomeWords, Reason           string
	Arguments, RanWith             table
	OutputText                     string
	OutputMore                     int
	Policy                         string // what it decided, as JSON
	ArgumentsLink                  string
	Subject                        string // of the events of the call
	MayCancel, MayUndo, MayResolve bool
	Unblock                        []string // that would unblock the call
	Written                        []writtenStream
	Processes                      []shownProcess
	Runs                           *shownCommand // nil: the tool has a handler
	Attempts                       []attemptItem
}

// audited returns a call that the viewer may audit. One that the viewer may not is not told apart from
// one that there is not.
func (p *pages) audited(q *request) (*recordedCall, error) {
	key := journal.CallKey{Session: q.id("session"), Call: q.id("call")}
	if !p.mayAudit(q, targetOf(key, "")) {
		return nil, problem(httpguard.NotPermitted, "")
	}
	return p.callOf(q, key)
}

// subjectOf is the subject of the events of a call, as package stream has it.
func subjectOf(key journal.CallKey) string {
	return "sessions/" + url.PathEscape(key.Session) + "/calls/" + url.PathEscape(key.Call)
}

// call serves the page of a call.
func (p *pages) call(q *request) error {
	c, err := p.audited(q)
	if err != nil {
		return err
	}
	p.showCall(q, http.StatusOK, c, nil)
	return nil
}

// showCall renders the page of a call, with a notice of what was not done.
func (p *pages) showCall(q *request, status int, c *recordedCall, n *notice) {
	const most = 20_000
	d := &callPage{
		recordedCall: c, Notice: n, OutcomeWords: "has not ended", Reason: c.reasonName(), Arguments: tableOf(c.Args), RanWith: tableOf(c.Final),
		Policy: indented(c.Decision), ArgumentsLink: p.link.Act(c.Session, c.Call, "arguments"),
		Subject: subjectOf(c.CallKey), Processes: processesOf(c.processes, p.exec.Stats().Processes), Attempts: attemptsOf(c), Runs: p.ran(c),
	}
	d.OutputText, d.OutputMore = cut(indented(c.Output), most)
	if c.Outcome != nil {
		d.OutcomeWords = c.outcomeName()
		for _, s := range c.Outcome.Steps {
			d.Unblock = append(d.Unblock, s.String())
		}
	}
	if !c.Ended {
		d.Written = writtenOf(p.exec.Output(c.Session, c.CallKey.Call))
	}
	if c.Undone {
		d.OutcomeWords = "was undone"
	}
	of := targetOf(c.CallKey, c.Run)
	of.DryRun = true
	may := func(act runtime.Act) bool { return p.exec.May(q.Context(), act, q.by, of) == nil }
	d.MayCancel = !c.Ended && may(runtime.ActCancel)
	d.MayUndo = c.Outcome != nil && c.Outcome.Kind == runtime.Completed && !c.Undone && p.undoable(c.Tool) && may(runtime.ActUndo)
	d.MayResolve = c.Unknown && !c.Undone && may(runtime.ActResolve)
	p.render(q, status, "call", "Call of "+c.Tool, d)
}

// callArguments serves all of the arguments of a call, as the journal has them, as text.
func (p *pages) callArguments(q *request) error {
	c, err := p.audited(q)
	if err != nil {
		return err
	}
	writeText(q.w, string(c.Args))
	return nil
}

// undoable reports whether calls of a tool can be undone.
func (p *pages) undoable(tool string) bool {
	t, _, ok := p.exec.Registry().Lookup(tool)
	return ok && t.Spec().Undo != nil
}

// undoUntil returns until when a call that has succeeded can be undone by its time; zero: it cannot be.
func (p *pages) undoUntil(c *recordedCall) time.Time {
	if !p.undoable(c.Tool) || c.Undone || c.ended.IsZero() {
		return time.Time{}
	}
	t, _, _ := p.exec.Registry().Lookup(c.Tool)
	until := c.ended.Add(cmp.Or(t.Spec().Undo.TTL, engine.DefaultUndoTTL))
	if !time.Now().Before(until) {
		return time.Time{}
	}
	return until
}

// indented is a JSON text as it is read best.
func indented(text json.RawMessage) string {
	const most = 64 << 10 // a deep text grows when it is indented
	if len(text) > most {
		return string(text)
	}
	var out bytes.Buffer
	if json.Indent(&out, text, "", " ") != nil {
		return string(text)
	}
	return out.String()
}

// artifact sends the output of a call that is stored aside, to be kept as a file and never to be shown.
func (p *pages) artifact(q *request) error {
	c, err := p.audited(q)
	if err != nil {
		return err
	}
	if c.Artifact == nil {
		return problem(httpguard.NotFound, "the call has no artifact")
	}
	data, err := p.exec.Artifact(q.Context(), *c.Artifact)
	if err != nil {
		p.tell(err)
		return problem(httpguard.NotFound, "the artifact is not kept any more, or damaged")
	}
	h := q.w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", `attachment; filename="`+c.Artifact.SHA256[:min(len(c.Artifact.SHA256), 16)]+`.bin"`)
	_, _ = q.w.Write(data) // the client is gone otherwise
	return nil
}

// done sends a browser back to the page of a call after an act on it. A person who may not audit the call
// comes to the list of approvals.
func (p *pages) done(q *request, key journal.CallKey, err error) error {
	if err != nil {
		r := p.refusalOf(err)
		c, failed := p.audited(q)
		if failed != nil || !wantsPage(q.Request) {
			return r
		}
		p.showCall(q, r.Status, c, noticeOf(r))
		return nil
	}
	to := p.link.Home()
	if p.mayAudit(q, targetOf(key, "")) {
		to = p.link.Call(key.Session, key.Call)
	}
	http.Redirect(q.w, q.Request, to, http.StatusSeeOther)
	return nil
}
