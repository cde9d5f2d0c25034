package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/host/internal/httpguard"
)

// A refusal is an error that the sender of a request is told. Every other error is reported to the host,
// and the sender is told that the page could not be made.
type refusal struct{ *httpguard.Problem }

// Error implements error.
func (r refusal) Error() string { return fmt.Sprintf("%s: %s", r.Code, r.Detail) }

func problem(code httpguard.Code, detail string) error {
	return refusal{httpguard.ProblemOf(code, detail)}
}

// remedies say what a person can do about a refusal.
var remedies = map[httpguard.Code]string{
	httpguard.NotAuthenticated:   "Sign in.",
	httpguard.NotPermitted:       "The operator policy decides who sees and answers what. The page may also be about something that there is not.",
	httpguard.NotFound:           "Begin at the list of approvals.",
	httpguard.MethodNotAllowed:   "Go back, and use the buttons of the page.",
	httpguard.UnknownCall:        "Begin at the list of calls.",
	httpguard.UnknownRequest:     "A request that has ended is kept for a day: the journal has its call.",
	httpguard.AlreadyResolved:    "The page below says how it ended.",
	httpguard.Expired:            "The call was refused when the time was over. The agent has to make it again.",
	httpguard.Changed:            "The page below shows what would be approved now. Nothing was recorded of your approval.",
	httpguard.BindingMismatch:    "Nothing was recorded, and the request is still open. Deny it, so that the agent makes the call again, or let it expire.",
	httpguard.NoDecision:         "Press one of the buttons. Nothing was recorded.",
	httpguard.GrantTooWide:       "Choose a narrower or a shorter grant, or approve this call alone. The request is still open.",
	httpguard.TooManyRequests:    "Wait a few seconds, and send it again.",
	httpguard.TooLarge:           "Send less: ambit approvals approve takes long texts from a file.",
	httpguard.JournalUnavailable: "Nothing was recorded. Try again once the journal can be written; the application reports why it cannot.",
	httpguard.Damaged:            "The entries before and after it are on the page of the journal. Keep the file as it is; ambit audit verify says more.",
	httpguard.Failed:             "The application was told why. Try again, or use the ambit command.",
}

// refusalOf returns what the sender of a request is told of an error.
func (p *pages) refusalOf(err error) refusal {
	if r, ok := errors.AsType[refusal](err); ok {
		return r
	}
	if action.Undecided(err) {
		return refusal{httpguard.ProblemOf(httpguard.Undecided, "")}
	}
	if a, ok := errors.AsType[*action.Error](err); ok {
		told := httpguard.ProblemOf(codeOf(a.Code), "")
		told.Reason = string(a.Code)
		return refusal{told}
	}
	p.tell(err)
	return refusal{httpguard.ProblemOf(httpguard.Failed, "")}
}

// tell reports an error to the application, but for that of a request whose client is gone, as when a person goes
// on to another page.
func (p *pages) tell(err error) {
	if !errors.Is(err, context.Canceled) {
		p.report(err)
	}
}

// codeOf returns the code for the result of an action.
func codeOf(code action.Code) httpguard.Code {
	switch code {
	case action.CodeNotPermitted:
		return httpguard.NotPermitted
	case action.CodeUnknownRequest:
		return httpguard.UnknownRequest
	case action.CodeUnknownCall:
		return httpguard.UnknownCall
	case action.CodeJournalUnavailable:
		return httpguard.JournalUnavailable
	}
	return httpguard.NotDone
}

// acts say what to know about an act that was not done.
var acts = map[action.Code]string{
	action.CodeExpired:         "The time for it is over.",
	action.CodeAlreadyEnded:    "The call has its outcome.",
	action.CodeNotUnknown:      "The outcome of the call is known, or the call is still running.",
	action.CodeBusy:            "The call is being undone or reconciled. Try again later.",
	action.CodeAlreadyUndone:   "The call was undone before.",
	action.CodeAlreadyResolved: "The grant was revoked before.",
	action.CodeNotUndoable:     "The tool declares no undo, or what the undo needs is lost.",
	action.CodeNotSuccessful:   "The call had no effect.",
	action.CodeStillRunning:    "The call, its handler or another undo of it is still running. Try again later.",
	action.CodeDenied:          "The policy of the tools does not allow the undo.",
	action.CodeDrift:           "What the call has changed was changed again since: an undo would take that back too.",
	action.CodeHandlerError:    "The undo handler failed. The journal says why.",
	action.CodeTimedOut:        "The undo handler ran past the deadline of the tool.",
	action.CodeCancelled:       "The undo was cancelled.",
	action.CodeCommitFailed:    "What the undo did could not be committed.",
	action.CodeUnknown:         "It is not known whether what the undo did was committed. Look at what the tool changes.",
	action.CodeNothingToUndo:   "The tool only reads: there is nothing to undo.",
}

// rejected returns the refusal of an answer; nil when it was taken.
func rejected(why consent.Rejection, detail string) error {
	if p := httpguard.Rejected(why, detail); p != nil {
		return refusal{p}
	}
	return nil
}

// wantsPage reports whether the sender of a request is a browser.
func wantsPage(r *http.Request) bool { return strings.Contains(r.Header.Get("Accept"), "text/html") }

// wantsJSON reports whether a program asks for a page.
func wantsJSON(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html")
}

// A notice tells a person of a refusal.
type notice struct {
	*httpguard.Problem
	Remedy string
}

func noticeOf(r refusal) *notice {
	if r.Code == httpguard.NotDone {
		return &notice{r.Problem, acts[action.Code(r.Reason)]}
	}
	return &notice{r.Problem, remedies[r.Code]}
}

// refuse answers a request that failed: a person with a page, a program with a problem.
func (p *pages) refuse(q *request, err error) {
	r := p.refusalOf(err)
	if !wantsPage(q.Request) {
		r.Write(q.w)
		return
	}
	p.render(q, r.Status, "problem", r.Title, noticeOf(r))
}
