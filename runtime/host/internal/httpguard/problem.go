package httpguard

import (
	"encoding/json"
	"net/http"
)

// A Code says for programs why a request was refused. Codes are stable.
type Code string

// The codes.
const (
	NotAuthenticated   Code = "not_authenticated"
	ForeignHost        Code = "foreign_host"
	ForeignOrigin      Code = "foreign_origin"
	NotPermitted       Code = "not_permitted"
	BadPosition        Code = "bad_position"
	BadRequest         Code = "bad_request"
	NotFound           Code = "not_found"
	MethodNotAllowed   Code = "method_not_allowed"
	AlreadyResolved    Code = "already_resolved"
	Changed            Code = "changed"
	BindingMismatch    Code = "binding_mismatch"
	Expired            Code = "expired"
	UnknownRequest     Code = "unknown_request"
	JournalUnavailable Code = "journal_unavailable"
	Undecided          Code = "undecided"
	NoDecision         Code = "no_decision"
	GrantTooWide       Code = "grant_too_wide"
	TooManyRequests    Code = "too_many_requests"
	TooLarge           Code = "too_large"
	UnknownCall        Code = "unknown_call"
	Damaged            Code = "damaged"
	NotDone            Code = "not_done"
	Failed             Code = "failed"
)

// known says what a code means, with words that say nothing of the host.
var known = map[Code]struct {
	status int
	title  string
}{
	NotAuthenticated:   {http.StatusUnauthorized, "The request does not say who sends it"},
	ForeignHost:        {http.StatusMisdirectedRequest, "This host does not serve that name"},
	ForeignOrigin:      {http.StatusForbidden, "A page of another site sends the request"},
	NotPermitted:       {http.StatusForbidden, "The operator policy does not allow it"},
	BadPosition:        {http.StatusBadRequest, "The journal has no such position"},
	NotFound:           {http.StatusNotFound, "Nothing is served at this path"},
	MethodNotAllowed:   {http.StatusMethodNotAllowed, "What is served at this path takes other methods"},
	BadRequest:         {http.StatusBadRequest, "The request cannot be understood"},
	AlreadyResolved:    {http.StatusConflict, "The request for consent was answered before"},
	Changed:            {http.StatusConflict, "Another approver has edited what the approval is for"},
	BindingMismatch:    {http.StatusConflict, "The call would not be the one that was asked about"},
	Expired:            {http.StatusGone, "The request for consent has expired"},
	UnknownRequest:     {http.StatusNotFound, "There is no such request for consent"},
	JournalUnavailable: {http.StatusServiceUnavailable, "The journal cannot be read or written now"},
	Undecided:          {http.StatusServiceUnavailable, "The operator policy could not say whether it is allowed"},
	NoDecision:         {http.StatusBadRequest, "The answer says neither yes nor no"},
	GrantTooWide:       {http.StatusUnprocessableEntity, "The declaration does not let a grant reach so far"},
	TooManyRequests:    {http.StatusTooManyRequests, "Too many answers in a short time"},
	TooLarge:           {http.StatusRequestEntityTooLarge, "The request is too large"},
	NotDone:            {http.StatusConflict, "It was not done"},
	Damaged:            {http.StatusInternalServerError, "The journal is damaged there"},
	UnknownCall:        {http.StatusNotFound, "There is no such call"},
	Failed:             {http.StatusInternalServerError, "The page cannot be made"},
}

// A Problem is what a refused request is told (RFC 9457).
type Problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Code   Code   `json:"code"`
	Detail string `json:"detail,omitempty"`

	Oldest uint64 `json:"oldest,omitempty"` // of bad_position: the first position that is kept
	Head   uint64 `json:"head,omitempty"`   // of bad_position: the last one
	Reason string `json:"reason,omitempty"` // of an answer: as the executor names it
}

// ProblemOf returns what a code tells. A detail must hold no path, no stack and no error of the host.
func ProblemOf(code Code, detail string) *Problem {
	k := known[code]
	return &Problem{Type: "about:blank", Title: k.title, Status: k.status, Code: code, Detail: detail}
}

// Write answers a request with the problem.
func (p *Problem) Write(w http.ResponseWriter) {
	text, err := json.Marshal(p)
	if err != nil { // it has no value that JSON lacks
		panic(err)
	}
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	if p.Code == NotAuthenticated {
		h.Set("WWW-Authenticate", `Bearer realm="ambit"`)
	}
	w.WriteHeader(p.Status)
	_, _ = w.Write(append(text, '\n')) // the client is gone otherwise
}
