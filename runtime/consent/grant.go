package consent

import (
	"slices"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/runtime"
)

// A Grant is a standing consent. It answers what rules ask; every other check of a
// call still applies. What a Book returns of it is shared and must not be changed.
type Grant struct {
	ID        string             `json:"id"` // that of the request
	CallID    string             `json:"call"`
	Tool      string             `json:"tool"`
	Pin       string             `json:"pin"`
	Session   string             `json:"session"`
	Principal string             `json:"principal"`
	Agent     string             `json:"agent,omitempty"`
	Cover     runtime.GrantCover `json:"cover"`
	Args      Digest             `json:"args_digest,omitzero"` // CoverExact: of the arguments, keyed
	Where     []Predicate        `json:"where,omitempty"`      // CoverArgs: all of them must be met
	Created   time.Time          `json:"created"`
	Expires   time.Time          `json:"expires,omitzero"` // the first instant that is too late; zero: with the session
	Grantors  []string           `json:"grantors"`
	Entries   []string           `json:"entries,omitempty"` // by grantor, the group that admitted it, empty where its id did; nil: all did so by their ids
	Reason    string             `json:"reason,omitempty"`  // what they said
	Rules     []string           `json:"rules"`             // that asked, and still exist; without any the grant has ended
	Bound     []Digest           `json:"bound,omitempty"`   // of the values that the rules were bound to
	Revision  string             `json:"revision"`          // of the policy that asked
	Uses      int                `json:"uses"`              // calls that were started by it
	Revoked   time.Time          `json:"revoked,omitzero"`
	RevokedBy string             `json:"revoked_by,omitempty"`
}

// Live reports whether g can answer anything at an instant (SEMANTICS 5.3 and 5.7).
func (g *Grant) Live(at time.Time) bool {
	return g.Revoked.IsZero() && len(g.Rules) > 0 && (g.Expires.IsZero() || at.Before(g.Expires))
}

// Never returns why g answers no call, whatever its arguments: an earlier version has recorded it, and no new grant has such a
// condition (SEMANTICS 5.3.13). It is nil where g may answer some.
func (g *Grant) Never() error {
	if g.Cover != runtime.CoverArgs {
		return nil
	}
	for i := range g.Where {
		if err := g.Where[i].Check(); err != nil {
			return err
		}
	}
	return nil
}

// groupsOf returns the group that admitted a grantor, nil when its id did.
func (g *Grant) groupsOf(grantor int) []string {
	if grantor >= len(g.Entries) {
		return nil
	}
	if name, ok := strings.CutPrefix(g.Entries[grantor], groupPrefix); ok {
		return []string{name}
	}
	return nil
}

// width returns how much g covers.
func (g *Grant) width() runtime.GrantCover {
	o := Offer{Lasting: ForSession, Cover: g.Cover, Where: g.Where}
	return o.width()
}

// A grant is a Grant with its predicates compiled.
type grant struct {
	Grant
	where   []matcher
	number  uint64    // of the event that gave it: the order in which grants are listed
	made    uint64    // among all requests and grants of Books
	after   uint64    // the latest event of no session that had retired rules when it was given
	retired time.Time // when its last rule was removed; zero: it has rules
}

// A grantKey is what a call must share with a grant.
type grantKey struct{ session, principal, agent, tool string }

func (g *Grant) key() grantKey { return grantKey{g.Session, g.Principal, g.Agent, g.Tool} }

// key keeps SEMANTICS 4.21.
func (c *Call) key() grantKey { return grantKey{c.Session, c.Principal, c.Agent, c.Tool} }

// A shelf holds the grants that share a key, so that many exact ones cost a call
// no more than one.
type shelf struct {
	exact map[Digest][]*grant
	wider []*grant
}

// put adds a grant to those that are tried.
func (b *Book) put(g *grant) {
	key := g.key()
	s := b.shelves[key]
	if s == nil {
		s = &shelf{exact: map[Digest][]*grant{}}
		b.shelves[key] = s
	}
	if g.Cover == runtime.CoverExact {
		s.exact[g.Args] = append(s.exact[g.Args], g)
	} else {
		s.wider = append(s.wider, g)
	}
}

// drop takes a grant out of those that are tried.
func (b *Book) drop(g *grant) {
	key := g.key()
	s := b.shelves[key]
	if s == nil {
		return
	}
	same := func(o *grant) bool { return o == g }
	s.wider = slices.DeleteFunc(s.wider, same)
	if list := slices.DeleteFunc(s.exact[g.Args], same); len(list) > 0 {
		s.exact[g.Args] = list
	} else {
		delete(s.exact, g.Args)
	}
	if len(s.wider)+len(s.exact) == 0 {
		delete(b.shelves, key)
	}
}

// grantOf returns the grant that the votes for r make; nil when they hold for this
// call only (SEMANTICS 5.3 and 5.7).
func grantOf(r *Request, votes []Vote, at time.Time) *Grant {
	o := narrowest(votes)
	if o.Lasting == Once {
		return nil
	}
	g := &Grant{
		ID: r.ID, CallID: r.CallID, Tool: r.Tool, Pin: r.Pin,
		Session: r.Session, Principal: r.Principal, Agent: r.Agent,
		Cover: o.Cover, Where: o.Where, Created: at, Rules: r.Rules(), Revision: r.Revision,
		Reason: votes[len(votes)-1].Message,
	}
	if o.Cover == runtime.CoverExact {
		g.Args = r.ArgsDigest
	}
	for i := range r.Reasons {
		if d, some := r.Reasons[i].binds(); some {
			g.Bound = append(g.Bound, d)
		}
	}
	if o.Lasting == ForDuration {
		g.Expires = at.Add(o.For)
	}
	for i, v := range votes {
		g.Grantors = append(g.Grantors, v.By)
		if v.Entry != "" && g.Entries == nil {
			g.Entries = make([]string, len(votes))
		}
		if v.Entry != "" {
			g.Entries[i] = v.Entry
		}
	}
	return g
}

// An attempt is one question that is matched against grants.
type attempt struct {
	*Question
	at    time.Time
	rules []string
	args  Digest // computed when it is first needed
}

// answeredBy reports whether g answers the question: the rules that ask are among
// those that asked for it, with the values that they were bound to, and its grantors could
// give it now (SEMANTICS 5.3 and 5.7).
func (a *attempt) answeredBy(g *grant) bool {
	m := &a.Requirement
	if !g.Live(a.at) || g.Pin != a.Call.Pin || g.width() > m.MaxCover {
		return false
	}
	for _, rule := range a.rules {
		if !slices.Contains(g.Rules, rule) {
			return false
		}
	}
	for i := range a.Reasons {
		if d, some := a.Reasons[i].binds(); some && !slices.Contains(g.Bound, d) {
			return false
		}
	}
	able := 0
	for i, id := range g.Grantors {
		if m.Permits(id, g.groupsOf(i), g.Principal) == NotRejected {
			able++
		}
	}
	return able >= max(m.Quorum, 1) && len(a.rules) > 0 && a.covers(g)
}

// covers reports whether g covers the arguments (SEMANTICS 5.3).
func (a *attempt) covers(g *grant) bool {
	switch g.Cover {
	case runtime.CoverTool:
		return true
	case runtime.CoverArgs:
		return !slices.ContainsFunc(g.where, func(m matcher) bool { return !m.answers(a.Call.Args) })
	}
	return g.Args == a.args
}

// Match returns a grant that answers a question: one for these very arguments
// if there is one, and else the first that was given. UseGrant says that it is
// used.
func (b *Book) Match(at time.Time, q *Question) (Grant, bool) {
	s := b.shelves[q.Call.key()]
	if s == nil || q.Call.Args == nil {
		return Grant{}, false
	}
	a := attempt{Question: q, at: at, rules: q.rules()}
	if len(s.exact) > 0 {
		var err error
		if a.args, err = keyed(b.key, purposeArgs, q.Call.Args); err != nil {
			return Grant{}, false
		}
	}
	for _, list := range [...][]*grant{s.exact[a.args], s.wider} {
		for _, g := range list {
			if a.answeredBy(g) {
				return g.Grant, true
			}
		}
	}
	return Grant{}, false
}

// hides reports whether predicates compare a masked member, whose value the events
// would then contain.
func hides(where []Predicate, masked []string) bool {
	return slices.ContainsFunc(where, func(p Predicate) bool { return p.names(masked) })
}
