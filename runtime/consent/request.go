package consent

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A Call is a call that is about to run, as far as consent looks at it.
type Call struct {
	ID        string
	Tool      string
	Pin       string // hash of the tool's whole declaration
	Session   string
	Run       string
	Principal string     // on whose behalf
	Agent     string     // the sub-agent that calls; empty: the run itself
	Args      wire.Value // the decoded arguments with which the handler will run
	Program   string     // of a command: digest of its program and arguments; empty: it has a handler
	Preview   *Preview   // nil: there is none
	Revision  string     // of the policy that judged the call
}

// A Preview shows what a call would do. It is stored with the request, so it
// must not show what may not be stored.
type Preview struct {
	MediaType string `json:"media_type,omitempty"`
	Text      string `json:"text"`
}

// A Reason is what one rule asks, and why.
type Reason struct {
	Code      string             `json:"code"` // the rule
	Message   string             `json:"message,omitempty"`
	Approvers []string           `json:"approvers,omitempty"` // of this rule alone
	Quorum    int                `json:"quorum,omitempty"`    // of this rule alone
	MaxCover  runtime.GrantCover `json:"max_cover,omitzero"`  // of this rule alone
	At        string             `json:"at,omitempty"`        // file:line of the rule; no part of the question

	// Bound is a JSON object of values that the rule wants the approval to hold for. Message may vary between the question
	// and the start of the call, Bound may not.
	Bound json.RawMessage `json:"bound,omitempty"`
}

// An Obligation is what the policy demands of a call that it lets run.
type Obligation struct {
	Code string          `json:"code"`
	Args json.RawMessage `json:"args,omitempty"`
}

// Reasons returns the reasons of asks.
func Reasons(asks []runtime.Ask) []Reason {
	reasons := make([]Reason, len(asks))
	for i, a := range asks {
		reasons[i] = Reason{
			Code: a.ID, Message: a.Message, Approvers: distinct(a.Approvers), Quorum: a.Quorum, MaxCover: a.MaxCover, At: a.At, Bound: json.RawMessage(a.Bound),
		}
	}
	return reasons
}

// A Question is a call that requires consent: Match answers it with a grant, or
// Ask makes a Request of it.
type Question struct {
	Call        Call
	Requirement Requirement // from Merge
	Reasons     []Reason    // at least one; the codes are the rules that ask
	Obligations []Obligation
	Message     string // of the declaration; empty: none
	Effect      string // of the tool: read, write or destructive
	Undoable    bool
}

// rules returns the rules that ask.
func (q *Question) rules() []string {
	rules := make([]string, len(q.Reasons))
	for i, r := range q.Reasons {
		rules[i] = r.Code
	}
	return distinct(rules)
}

// A Request is a question that was put to the approvers. What a Book returns of it
// is shared and must not be changed.
type Request struct {
	ID        string `json:"id"`
	CallID    string `json:"call"`
	Tool      string `json:"tool"`
	Pin       string `json:"pin"`
	Session   string `json:"session"`
	Run       string `json:"run"`
	Principal string `json:"principal"`
	Agent     string `json:"agent,omitempty"`

	Terms

	Message  string    `json:"message,omitempty"` // of the declaration; {member} stands for an argument
	Effect   string    `json:"effect,omitempty"`
	Undoable bool      `json:"undoable"`
	Created  time.Time `json:"created"`
	Remind   time.Time `json:"remind"`  // when a reminder is due
	Expires  time.Time `json:"expires"` // the first instant that is too late
	Nonce    string    `json:"nonce"`

	Status Status `json:"status"`
	Votes  []Vote `json:"votes,omitempty"` // approvals of the present terms
}

// Terms are the part of a Request that an edit replaces.
type Terms struct {
	Args        json.RawMessage `json:"args"`              // what is sensitive is masked
	Masked      []string        `json:"masked,omitempty"`  // pointers to that
	ArgsDigest  Digest          `json:"args_digest"`       // of all of it, keyed
	Program     string          `json:"program,omitempty"` // as in Call
	Preview     *Preview        `json:"preview,omitempty"`
	Reasons     []Reason        `json:"reasons"`
	Obligations []Obligation    `json:"obligations,omitempty"`
	Requirement Requirement     `json:"requirement"`
	Revision    string          `json:"revision"`            // of the policy that asks
	Binding     Digest          `json:"binding"`             // what is approved
	EditedBy    string          `json:"edited_by,omitempty"` // who proposed these terms; empty: the agent
	Rewritten   bool            `json:"rewritten,omitempty"` // the policy changed what EditedBy wrote
	// Written says that EditedBy wrote these terms itself. Up to 89cfa63 neither of the two was recorded, and an edit that the policy
	// had rewritten had the vote of its editor, who had not seen it: such an edit is read as Rewritten.
	Written bool `json:"written,omitempty"`
}

// former reports whether an edit was recorded up to 89cfa63.
func (t *Terms) former() bool { return t.EditedBy != "" && !t.Written && !t.Rewritten }

// asks reports whether t asks what other terms do, whatever revision of the policy and whoever proposed them.
func (t *Terms) asks(o *Terms) bool {
	return t.ArgsDigest == o.ArgsDigest && t.Program == o.Program && samePreview(t.Preview, o.Preview) &&
		sameQuestion(t.Reasons, t.Obligations, o.Reasons, o.Obligations) && t.Requirement.same(&o.Requirement)
}

// A Vote is one approval.
type Vote struct {
	By      string    `json:"by"`
	Entry   string    `json:"entry,omitempty"` // of the approvers, the group that admitted it; empty: its id did
	At      time.Time `json:"at"`
	Message string    `json:"message,omitempty"`
	Offer   Offer     `json:"grant"`
}

// An Offer says what an approver grants beyond this call.
type Offer struct {
	Lasting GrantLifetime      `json:"lasting"`
	For     time.Duration      `json:"for_ns,omitempty"`
	Cover   runtime.GrantCover `json:"cover"` // without effect for Once
	Where   []Predicate        `json:"where,omitempty"`
}

// Rules returns the rules that asked.
func (r *Request) Rules() []string { return (&Question{Reasons: r.Reasons}).rules() }

// Missing returns how many approvals are still required (SEMANTICS 5.5).
func (r *Request) Missing() int {
	if r.Status != StatusOpen {
		return 0
	}
	return max(r.Requirement.Quorum-len(r.Votes), 0)
}

// voted reports whether an id has approved the present terms.
func (r *Request) voted(id string) bool {
	return slices.ContainsFunc(r.Votes, func(v Vote) bool { return v.By == id })
}

// narrowest returns what every vote offers: the shortest time and the narrowest
// cover, and all the predicates.
func narrowest(votes []Vote) Offer {
	o := votes[0].Offer
	where := slices.Clone(o.predicates())
	for _, v := range votes[1:] {
		next := v.Offer
		switch {
		case next.Lasting == ForDuration && o.Lasting == ForDuration:
			o.For = min(o.For, next.For)
		case next.Lasting < o.Lasting:
			o.Lasting, o.For = next.Lasting, next.For
		}
		o.Cover = min(o.Cover, next.Cover)
		where = append(where, next.predicates()...)
	}
	if o.Where = nil; o.Cover == runtime.CoverArgs {
		o.Where = where
	}
	return o
}

// predicates returns the predicates that have an effect.
func (o *Offer) predicates() []Predicate {
	if o.Cover != runtime.CoverArgs {
		return nil
	}
	return o.Where
}

// width returns how much o covers: an empty list of predicates covers every call, and so does an empty
// prefix but for calls without a text there (SEMANTICS 5.3.8).
func (o *Offer) width() runtime.GrantCover {
	switch {
	case o.Lasting == Once:
		return runtime.CoverExact
	case o.Cover == runtime.CoverArgs && (len(o.Where) == 0 || slices.ContainsFunc(o.Where, func(p Predicate) bool { return p.any() })):
		return runtime.CoverTool
	}
	return o.Cover
}
