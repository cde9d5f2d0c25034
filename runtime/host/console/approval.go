package console

import (
	"cmp"
	"encoding/json"
	"net/http"
	"time"

	"github.com/ambit-tools/ambit/internal/catalog"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/host/internal/httpguard"
	"github.com/ambit-tools/ambit/runtime/host/view"
)

// An approvalPage is what the page of a request shows.
type approvalPage struct {
	*view.Request
	Notice                                  *notice // of an answer that was not taken; nil: none
	Name, Sentence, Agent, StatusWords      string
	EffectWords, Undo, Left, Approvers, Why string
	Created, Expires                        moment
	Arguments                               table
	ArgumentsLink                           string
	Hidden                                  bool // values are masked for this viewer that another viewer may see
	Preview                                 *shownPreview
	Runs                                    *shownCommand // nil: the tool has a handler
	Rules                                   []ruleItem
	Votes                                   []voteItem
	Given                                   int
	Open, MayGrant, MayAudit, Destructive   bool
	MayEdit                                 bool
	EditText                                string   // what the form for an edit begins with; empty: it has none
	Stale                                   []string // why an approval would end without the call
	Unchecked                               string   // why it is not known whether it would
	Before                                  []callItem
	BeforeMore                              bool
	After                                   *aftermath
	Covers                                  []coverItem
	Members                                 []row // that a grant may name
	MaxFor                                  string
	Denied                                  bool // by a person
}

type ruleItem struct{ Code, Message, At, Bound string }

type voteItem struct {
	By, Entry, Message string
	At                 moment
}

// A coverItem is what a grant may cover, in words.
type coverItem struct {
	runtime.GrantCover
	Words string
}

var coverWords = map[runtime.GrantCover]string{
	runtime.CoverExact: "calls with exactly these arguments", runtime.CoverArgs: "calls in which the members below are as they are now", runtime.CoverTool: "every call of the tool",
}

// approval serves the page of a request.
func (p *pages) approval(q *request) error {
	v, err := p.request(q)
	if err != nil {
		return err
	}
	if wantsJSON(q.Request) {
		return writeJSON(q.w, filled(v))
	}
	p.showApproval(q, http.StatusOK, v, nil)
	return nil
}

// showApproval renders the page of a request, with a notice of what was not done.
func (p *pages) showApproval(q *request, status int, v *view.Request, n *notice) {
	d := p.approvalOf(q, v)
	if d.Notice = n; d.EditText != "" && q.PostForm.Get("edit") != "" {
		d.EditText = q.PostForm.Get("edit")
	}
	p.render(q, status, "approval", d.Name, d)
}

func (p *pages) approvalOf(q *request, v *view.Request) *approvalPage {
	arguments := v.Shown
	if arguments == nil {
		arguments = v.Args
	}
	d := &approvalPage{
		Request: v, Name: cmp.Or(v.Title, v.Tool), Sentence: fill(v.Message, arguments), Agent: v.Agent,
		StatusWords: statuses[v.Status], EffectWords: catalog.Effect(v.Effect), Undo: p.undoWords(v),
		Left: catalog.Span(max(time.Until(v.Request.Expires), 0)), Approvers: catalog.Approvers(v.Requirement.Approvers),
		Created: momentOf(v.Request.Created), Expires: momentOf(v.Request.Expires),
		Arguments: tableOf(arguments), ArgumentsLink: p.link.Arguments(v.ID), Hidden: v.Shown == nil && len(v.Masked) > 0, Preview: previewOf(v.Preview), Runs: commandOf(v.Command),
		Given: len(v.Request.Votes), Open: v.Status == consent.StatusOpen, MayGrant: p.mayGrant(q, v),
		MayAudit:    p.mayAudit(q, runtime.ActTarget{Session: v.Session, Run: v.Run, Call: v.CallID}),
		Destructive: v.Effect != "read" && v.Effect != "write", MayEdit: v.Requirement.AllowEdit, MaxFor: catalog.Span(v.Requirement.MaxFor),
		Members: membersOf(v), Denied: v.Status == consent.StatusDenied,
	}
	for _, r := range v.Reasons {
		at := r.At
		if at == "" && r.Code == "declaration" {
			at = "the declaration of " + v.Tool
		}
		d.Rules = append(d.Rules, ruleItem{r.Code, fill(r.Message, arguments), at, string(r.Bound)})
	}
	for _, vote := range v.Request.Votes {
		d.Votes = append(d.Votes, voteItem{vote.By, vote.Entry, vote.Message, momentOf(vote.At)})
	}
	for _, c := range v.Covers {
		if c != runtime.CoverArgs || len(d.Members) > 0 {
			d.Covers = append(d.Covers, coverItem{c, coverWords[c]})
		}
	}
	switch {
	case d.Open && !v.MayDecide:
		d.Why = p.whyNot(q, v)
	case d.Open:
		p.foresee(q, d)
	}
	p.around(q, d)
	return d
}

// whyNot says why the viewer may not answer a request.
func (p *pages) whyNot(q *request, v *view.Request) string {
	switch v.Requirement.Permits(q.by.ID, q.by.Groups, v.Principal) {
	case consent.SelfApproval:
		return "The call is made on your behalf, so you cannot approve it yourself."
	case consent.NotPermitted:
		return "Answers are wanted from " + catalog.Approvers(v.Requirement.Approvers) + "."
	}
	return "The operator policy does not let you answer."
}

// undoWords says whether the call can be undone, and for how long.
func (p *pages) undoWords(v *view.Request) string {
	if !v.Undoable {
		return "cannot be undone"
	}
	if tool, _, ok := p.exec.Registry().Lookup(v.Tool); ok {
		if u := tool.Spec().Undo; u != nil && u.TTL > 0 {
			return "can be undone for " + catalog.Span(u.TTL)
		}
	}
	return "can be undone"
}

// membersOf returns the top-level members whose values a grant may name: texts, numbers and truth values
// that are not masked.
func membersOf(v *view.Request) (list []row) {
	masked := map[string]bool{}
	for _, pointer := range v.Masked {
		masked[pointer] = true
	}
	if masked[""] {
		return nil
	}
	for _, r := range tableOf(v.Args).Rows {
		simple := r.More == 0 && (r.Type == "text" || r.Type == "number" || r.Type == "boolean")
		if simple && isMember(r.Pointer) && !masked[r.Pointer] {
			list = append(list, r)
		}
	}
	return list
}

// arguments serves all of the arguments of a request, as the viewer may see them, as text.
func (p *pages) arguments(q *request) error {
	v, err := p.request(q)
	if err != nil {
		return err
	}
	text := v.Shown
	if text == nil {
		text = v.Args
	}
	if !json.Valid(text) {
		return problem(httpguard.NotFound, "the arguments are not kept any more")
	}
	writeText(q.w, string(text))
	return nil
}
