package console

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/internal/catalog"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/host/internal/httpguard"
	"github.com/ambit-tools/ambit/runtime/host/view"
)

// The values of the field decision. There is no default.
const (
	approve = "approve"
	deny    = "deny"
)

// answer takes the answer of a form. An approval that gives a grant, or lets a destructive tool run, comes
// twice: the first one is answered with what would be recorded, and the second one names that.
func (p *pages) answer(q *request) error {
	v, err := p.request(q)
	if err != nil {
		return err
	}
	a, err := p.answerOf(q, v)
	if err != nil {
		return p.notTaken(q, err)
	}
	if a.Approve && v.MayDecide && v.Status == consent.StatusOpen {
		foreseen := p.exec.Probe(q.Context(), v.ID, a)
		if err := refusedAs(&foreseen); err != nil {
			return p.notTaken(q, err)
		}
		if would := consequences(v, &a, &foreseen); would != nil && q.PostForm.Get("reviewed") != would.Digest {
			if wantsJSON(q.Request) {
				return writeJSON(q.w, map[string]any{"reviewed": would.Digest, "words": would.Words, "args": foreseen.Shown})
			}
			p.review(q, v, would, &foreseen)
			return nil
		}
	}
	res := p.exec.Decide(q.Context(), v.ID, a)
	if err := rejected(res.Reason, res.Detail); err != nil {
		return p.notTaken(q, err)
	}
	if wantsJSON(q.Request) {
		if v, err = p.request(q); err != nil {
			return writeJSON(q.w, map[string]any{"id": q.id("id")}) // it may not be seen any more
		}
		return writeJSON(q.w, filled(v))
	}
	http.Redirect(q.w, q.Request, p.link.Approval(v.ID), http.StatusSeeOther)
	return nil
}

// notTaken tells of an answer that was not taken: a person with the page of the request as it is now.
func (p *pages) notTaken(q *request, err error) error {
	r := p.refusalOf(err)
	v, gone := p.request(q)
	if gone != nil || !wantsPage(q.Request) {
		return r
	}
	p.showApproval(q, r.Status, v, noticeOf(r))
	return nil
}

// answerOf reads the answer of a form. Who answers is known from the authentication.
func (p *pages) answerOf(q *request, v *view.Request) (a action.Answer, err error) {
	f := q.PostForm
	a = action.Answer{By: q.by, NoWait: true, Message: f.Get("message")}
	switch f.Get("decision") {
	case "":
		return a, problem(httpguard.NoDecision, "")
	case deny:
		return a, nil
	case approve:
		a.Approve = true
	default:
		return a, problem(httpguard.BadRequest, "decision is approve or deny")
	}
	var binding consent.Digest
	if binding.UnmarshalText([]byte(f.Get("binding"))) != nil {
		return a, problem(httpguard.BadRequest, "binding says which arguments were shown")
	}
	if v.Status == consent.StatusOpen && binding != v.Binding { // Decide looks again: this tells before the review
		return a, problem(httpguard.Changed, "")
	}
	a.Binding = binding
	if text := f.Get("edit"); text != "" {
		a.Edit = []byte(text)
	}
	return a, readGrant(f, v, &a)
}

// readGrant reads what an approval leaves behind.
func readGrant(f url.Values, v *view.Request, a *action.Answer) error {
	get, where := f.Get, f["where"]
	wrong := func(detail string) error { return problem(httpguard.BadRequest, detail) }
	if text := get("grant"); text != "" && a.Grant.UnmarshalText([]byte(text)) != nil {
		return wrong("grant is once, duration or session")
	}
	if a.Grant == consent.Once {
		return nil
	}
	if text := get("cover"); text != "" && a.Cover.UnmarshalText([]byte(text)) != nil {
		return wrong("cover is exact, args or tool")
	}
	if a.Grant == consent.ForDuration {
		var err error
		if a.For, err = time.ParseDuration(get("for")); err != nil || a.For <= 0 {
			return wrong("for is a duration, such as 30m")
		}
	}
	if a.Cover != runtime.CoverArgs {
		return nil
	}
	for _, m := range membersOf(v) {
		if slices.Contains(where, m.Pointer) {
			a.CoverArgs = append(a.CoverArgs, consent.Predicate{Member: m.Pointer, Op: consent.OpEqual, Value: m.json()})
		}
	}
	if len(a.CoverArgs) != len(where) {
		return wrong("where names a member whose value a grant may not compare")
	}
	for _, text := range f["condition"] {
		if text == "" {
			continue
		}
		p, err := consent.ParsePredicate(text)
		if err != nil {
			return wrong(err.Error())
		}
		a.CoverArgs = append(a.CoverArgs, p)
	}
	if len(a.CoverArgs) == 0 {
		return wrong("choose at least one member that has to stay as it is, or write a condition")
	}
	return nil
}

// json returns the value of a row whose value is a text, a number or a truth value.
func (r *row) json() json.RawMessage {
	if r.Type != "text" {
		return json.RawMessage(r.Value)
	}
	text, _ := json.Marshal(r.Value) // a string always has a JSON form
	return text
}

// isMember reports whether a pointer is that of a top-level member.
func isMember(pointer string) bool { return strings.Count(pointer, "/") == 1 }

// A consequence is what an approval would leave behind, in words, and a digest that says that a person has
// read them, about these arguments.
type consequence struct {
	Words  string
	Digest string
}

// refusedAs returns why an answer is not given: it would be rejected, or the call would be refused though
// an approver had approved it.
func refusedAs(f *consent.Prospect) error {
	switch {
	case f.Invalid != "":
		return problem(httpguard.BadRequest, f.Invalid)
	case f.Rejection != consent.NotRejected && slices.Contains(f.Changed, consent.ChangedDeclaration):
		return rejected(f.Rejection, changes[consent.ChangedDeclaration]+": an approval counts under the former one")
	case f.Rejection != consent.NotRejected:
		return rejected(f.Rejection, "")
	case len(f.Changed) > 0 || len(f.Denials) > 0:
		return problem(httpguard.BindingMismatch, "")
	}
	return nil
}

// consequences returns what a person must see before an approval is taken; nil when the page of the
// request shows all of it.
func consequences(v *view.Request, a *action.Answer, f *consent.Prospect) *consequence {
	words, terms := "", ""
	if f.Terms != nil {
		words = "The call runs with the arguments below. They are not those that were asked about. "
		terms = termsOf(f.Terms)
	}
	if f.Rewritten {
		words = "The policy makes the arguments below of what you wrote. Your answer asks about them and approves nothing: approve them on the page of the request. "
	}
	switch {
	case f.Rewritten:
	case a.Grant != consent.Once:
		words += grantWords(v, a)
	case v.Effect != "read" && v.Effect != "write":
		words += "This call of " + v.Tool + " destroys something that may not come back. It runs once."
	case words == "":
		return nil
	}
	sum := sha256.Sum256([]byte(v.Binding.String() + a.By.ID + "\x00" + words + "\x00" + terms))
	return &consequence{words, hex.EncodeToString(sum[:])}
}

// termsOf are the arguments, the program and the preview of an edit, for a digest.
func termsOf(t *consent.Terms) string {
	text := t.ArgsDigest.String() + t.Program
	if t.Preview != nil {
		text += t.Preview.Text
	}
	return text
}

// review shows what an approval would leave behind, with the arguments of an edit in the place of those that
// were asked about.
func (p *pages) review(q *request, v *view.Request, would *consequence, f *consent.Prospect) {
	d := reviewPage{p.approvalOf(q, v), would, hiddenFields(q)}
	if f.Terms != nil {
		d.Arguments, d.Preview = tableOf(f.Shown), previewOf(f.Terms.Preview)
		d.Sentence, d.Runs = fill(v.Message, f.Shown), p.edited(v.Tool, f.Argv)
	}
	p.render(q, http.StatusOK, "review", "Is this what you approve?", d)
}

// grantWords says what an approval stores.
func grantWords(v *view.Request, a *action.Answer) string {
	what := "every call of " + v.Tool + ", whatever its arguments,"
	switch a.Cover {
	case runtime.CoverExact:
		what = "calls of " + v.Tool + " with exactly these arguments"
	case runtime.CoverArgs:
		parts := make([]string, len(a.CoverArgs))
		for i, p := range a.CoverArgs {
			parts[i] = p.Words()
		}
		what = "calls of " + v.Tool + " in which " + strings.Join(parts, " and ")
	}
	howLong := "until the session ends"
	if a.Grant == consent.ForDuration {
		howLong = "for " + catalog.Span(a.For)
	}
	words := fmt.Sprintf("%s lets %s by %s run %s. It answers what %s asks, and lifts no refusal and no limit.",
		a.By.ID, what, v.Principal, howLong, strings.Join(v.Rules(), " and "))
	if v.Missing > 1 {
		words += " Other approvers may narrow it: what all of them give is stored."
	}
	return words
}

// A reviewPage shows what an approval would leave behind.
type reviewPage struct {
	*approvalPage
	Would  *consequence
	Fields []field
}

// A field is one of a form.
type field struct{ Name, Value string }

// hiddenFields repeats the fields of an answer for the second time that it comes.
func hiddenFields(q *request) (list []field) {
	for _, name := range []string{"decision", "binding", "message", "grant", "for", "cover", "where", "condition", "edit"} {
		for _, value := range q.PostForm[name] {
			list = append(list, field{name, value})
		}
	}
	return list
}
