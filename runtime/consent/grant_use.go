package consent

import (
	"maps"
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime"
)

// UseGrant makes the event that a call is started by a grant, immediately before
// its handler. It fails when the grant does not answer the question any more.
func (b *Book) UseGrant(at time.Time, id string, q *Question) (Event, error) {
	g := b.grants[id]
	if g == nil || g.key() != q.Call.key() || q.Call.Args == nil {
		return Event{}, ErrNoGrant
	}
	args, err := keyed(b.key, purposeArgs, q.Call.Args)
	a := attempt{Question: q, at: at, rules: q.rules(), args: args}
	if err != nil || !a.answeredBy(g) {
		return Event{}, ErrNoGrant
	}
	e := b.event(EventGrantUsed, at)
	e.Grant, e.Call, e.Uses = id, q.Call.ID, g.Uses+1
	return e, nil
}

// Revoke makes the event that a grant is revoked. Any id but the empty one may
// revoke it, since that permits no call. A grant that was revoked before is
// AlreadyResolved, and one that has ended by itself RequestExpired.
func (b *Book) Revoke(at time.Time, id, by, reason string) Event {
	e := b.event(EventRevoked, at)
	e.Grant, e.By, e.Message = id, by, reason
	e.Result = &Result{}
	g := b.grants[id]
	switch {
	case g == nil:
		e.Result.Rejection = UnknownRequest
	case !g.Revoked.IsZero():
		e.Result.Rejection = AlreadyResolved
	case !g.Live(at):
		e.Result.Rejection = RequestExpired
	case by == "":
		e.Result.Rejection = NotPermitted
	default:
		e.Result.Resolution = runtime.ResolutionAccepted
	}
	if g != nil {
		e.Call = g.CallID
	}
	return e
}

// End makes the events that end all of b: open and approved requests are cancelled, grants are revoked, also those that only
// the end of their rules has ended, so that an index of grants has none of the session. No one revokes them, so By is empty
// (SEMANTICS 1.4.5).
func (b *Book) End(at time.Time) []Event {
	var events []Event
	for _, r := range sorted(slices.Collect(maps.Values(b.requests))) {
		if e, open := b.Cancel(at, r.ID); open {
			events = append(events, e)
		}
	}
	for _, g := range b.granted() {
		if g.Revoked.IsZero() && (g.Expires.IsZero() || at.Before(g.Expires)) {
			e := b.event(EventRevoked, at)
			e.Grant, e.Call, e.Message, e.Result = g.ID, g.CallID, "the session has ended", &Result{Resolution: runtime.ResolutionAccepted}
			events = append(events, e)
		}
	}
	return b.number(events)
}

// Retire makes the event that rules were removed, which ends the grants of these
// rules. The caller calls it after a reload, with the rules that the new policy still
// has. It is false when no grant depends on a removed rule. A rule that is added
// again later asks again (SEMANTICS 5.7).
func (b *Book) Retire(at time.Time, exists func(Rule) bool) (Event, bool) {
	e := b.event(EventRetired, at)
	for _, g := range b.granted() {
		e.Retired = g.without(at, exists, e.Retired)
	}
	return e, len(e.Retired) > 0
}

// without appends the rules of a live grant that do not exist.
func (g *grant) without(at time.Time, exists func(Rule) bool, list []Rule) []Rule {
	if !g.Live(at) {
		return list
	}
	for _, code := range g.Rules {
		rule := Rule{Tool: g.Tool, Code: code}
		if !slices.Contains(list, rule) && !exists(rule) {
			list = append(list, rule)
		}
	}
	return list
}
