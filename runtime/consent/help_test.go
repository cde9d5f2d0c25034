package consent_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/wire"
)

var (
	key   = []byte("a key that is stored apart")
	start = time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
)

// after returns the instant that many seconds after the start.
func after(seconds float64) time.Time {
	return start.Add(time.Duration(seconds * float64(time.Second)))
}

// A desk is a book and its clerk, who applies every event.
type desk struct {
	t      testing.TB
	book   *consent.Book
	events []consent.Event
	asked  int
}

func newDesk(t testing.TB) *desk { return &desk{t: t, book: consent.NewBook(key)} }

func (d *desk) apply(e consent.Event) consent.Event {
	d.t.Helper()
	require.NoError(d.t, d.book.Apply(&e))
	d.events = append(d.events, e)
	return e
}

// question asks about a transfer of agent.
func question(args string, requirement consent.Requirement) *consent.Question {
	return &consent.Question{
		Call: consent.Call{
			ID: "c1", Tool: "transfer", Pin: "pin-1", Session: "s1", Run: "r1", Principal: "agent",
			Args: wire.Raw(args), Revision: "v1",
		},
		Requirement: requirement, Effect: "write", Undoable: true,
		Reasons: []consent.Reason{{Code: "declared", Message: "Transfer money", At: "money.rego:7"}},
	}
}

func approvers(ids ...string) consent.Requirement {
	return consent.Requirement{Approvers: ids, Quorum: 1, Timeout: 100 * time.Second}
}

// ask puts a question and returns the id of the request.
func (d *desk) ask(at float64, q *consent.Question) string {
	d.t.Helper()
	d.asked++
	id := fmt.Sprintf("q%d", d.asked)
	e, err := d.book.Ask(after(at), id, fmt.Sprintf("nonce %d", d.asked), q)
	require.NoError(d.t, err)
	d.apply(e)
	return id
}

func (d *desk) decide(at float64, id string, a consent.Answer) *consent.Result {
	d.t.Helper()
	return d.apply(d.book.Decide(after(at), id, &a)).Result
}

func (d *desk) approve(at float64, id, by string) *consent.Result {
	d.t.Helper()
	r, _ := d.book.Request(id) // the approver looks first
	return d.decide(at, id, consent.Answer{By: by, Approve: true, Binding: r.Binding})
}

// use uses a request up by a call about which the policy asks what it has asked.
func (d *desk) use(at float64, id string, c consent.Call) consent.Event {
	d.t.Helper()
	r, _ := d.book.Request(id)
	e, err := d.book.Use(after(at), id, &consent.Question{Call: c, Reasons: r.Reasons, Obligations: r.Obligations}, false)
	require.NoError(d.t, err)
	return d.apply(e)
}

func (d *desk) status(id string) consent.Status {
	d.t.Helper()
	r, ok := d.book.Request(id)
	require.True(d.t, ok)
	return r.Status
}

// session, args and tool are offers.
func session(c runtime.GrantCover, where ...consent.Predicate) consent.Offer {
	return consent.Offer{Lasting: consent.ForSession, Cover: c, Where: where}
}

func lasting(seconds float64) consent.Offer {
	return consent.Offer{Lasting: consent.ForDuration, For: time.Duration(seconds * float64(time.Second))}
}

func where(member string, op consent.Op, value string) consent.Predicate {
	return consent.Predicate{Member: member, Op: op, Value: []byte(value)}
}

func (d *desk) matches(at float64, q *consent.Question) bool {
	_, ok := d.book.Match(after(at), q)
	return ok
}

// rejected is the result of an answer that was rejected for a reason.
func (d *desk) rejected(why consent.Rejection, r *consent.Result) {
	d.t.Helper()
	require.Equal(d.t, runtime.ResolutionRejected, r.Resolution)
	require.Equal(d.t, why, r.Rejection)
}

// secretArgs are arguments of which some are sensitive.
type secretArgs struct {
	To    string
	Token string
	Pin   int64
	Flag  bool
	Keys  wire.Raw
}

var secret = wire.StringRule{Sensitive: true}

func (v *secretArgs) Walk(w wire.Visitor) {
	wire.BeginObject(w, nil)
	wire.Member(w, "to", &v.To, wire.WalkString, (*wire.StringRule)(nil))
	wire.Member(w, "token", &v.Token, wire.WalkString, &secret)
	wire.Member(w, "pin", &v.Pin, wire.WalkInt, &wire.IntRule{Sensitive: true})
	wire.Member(w, "flag", &v.Flag, wire.WalkBool, &wire.BoolRule{Sensitive: true})
	wire.Member(w, "keys", &v.Keys, wire.WalkRaw, &wire.RawRule{Sensitive: true})
	wire.End(w)
}
