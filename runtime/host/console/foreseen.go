package console

import (
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// maxEdit is how long arguments may be that a form offers to edit, in bytes: all of them may be escaped.
const maxEdit = 16 << 10

// foresee adds what would become of an approval of the viewer, so that the page says so before the button.
func (p *pages) foresee(q *request, d *approvalPage) {
	f := p.exec.Probe(q.Context(), d.ID, action.Answer{By: q.by, Approve: true, Binding: d.Binding})
	for _, c := range f.Changed {
		d.Stale = append(d.Stale, changes[c])
	}
	for _, r := range f.Denials {
		words := "the policy refuses the call now: " + r.Code
		if r.Message != "" {
			words += ": " + r.Message
		}
		if r.At != "" {
			words += " (" + r.At + ")"
		}
		d.Stale = append(d.Stale, words)
	}
	d.Unchecked = f.Unknown
	if d.MayEdit && len(d.Stale) == 0 {
		if text := indented(d.Shown); len(text) <= maxEdit {
			d.EditText = text
		}
	}
}

// changes say what is not as it was asked about.
var changes = map[consent.Change]string{
	consent.ChangedTool: "the tool is another one", consent.ChangedDeclaration: "the declaration of the tool was changed",
	consent.ChangedProgram: "the program that it would run is not the file that it was",
	consent.ChangedArgs:    "the policy changes the arguments in another way now", consent.ChangedPreview: "what the call would do is not what the preview shows",
	consent.ChangedPrincipal: "the principal is another one", consent.ChangedSession: "the session is another one",
	consent.ChangedQuestion: "the policy asks something else about the call now", consent.ChangedExpired: "the time for it is over",
	consent.ChangedRequest: "the request is another one",
}

// maxBefore is how many earlier calls of the run the page of a request lists.
const maxBefore = 10

// An aftermath says what became of a request and of its call. Who may see the request is shown it
// (SEMANTICS 5.10.7).
type aftermath struct {
	Answers         []answerItem
	Outcome, Reason string
	Undoable        string // until when the call can be undone; empty: it cannot
}

// around adds the calls before the request in its run, and what became of its call. A journal that cannot be
// read takes nothing else from the page.
func (p *pages) around(q *request, d *approvalPage) {
	row, err := p.store.Calls(q.Context(), sqlite.CallFilter{Session: d.Session, Run: d.Run, Call: d.CallID, Limit: 1})
	if err == nil && len(row) > 0 {
		err = p.addBefore(q, d, row[0].First)
	}
	if err == nil && !d.Open {
		err = p.addAfter(q, d)
	}
	if err != nil {
		p.tell(err)
	}
}

func (p *pages) addBefore(q *request, d *approvalPage, first uint64) error {
	rows, err := p.store.Calls(q.Context(), sqlite.CallFilter{Session: d.Session, Run: d.Run, Before: first, Limit: maxBefore + 1})
	if err != nil {
		return err
	}
	if d.BeforeMore = len(rows) > maxBefore; d.BeforeMore {
		rows = rows[:maxBefore]
	}
	for _, r := range rows {
		item, err := p.callItem(q, r)
		if err != nil {
			return err
		}
		d.Before = append(d.Before, item)
	}
	return nil
}

func (p *pages) addAfter(q *request, d *approvalPage) error {
	c, err := p.callOf(q, journal.CallKey{Session: d.Session, Call: d.CallID})
	if err != nil {
		return err
	}
	if d.Runs == nil {
		d.Runs = p.asked(d, c)
	}
	d.After = &aftermath{Answers: c.Answers, Outcome: "has not ended", Reason: c.reasonName()}
	switch {
	case c.Undone:
		d.After.Outcome = "was undone"
	case c.Outcome != nil:
		d.After.Outcome = c.outcomeName()
		if until := p.undoUntil(c); c.Outcome.Kind == runtime.Completed && !until.IsZero() {
			d.After.Undoable = momentOf(until).Text
		}
	}
	return nil
}
