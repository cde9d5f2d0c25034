package consent_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/wire"
)

func widest() consent.Requirement {
	return consent.Requirement{MaxCover: runtime.CoverTool, Timeout: 100 * time.Second}
}

// granted returns a desk at which alice has answered a question with an offer.
func granted(t *testing.T, args string, o consent.Offer) *desk {
	t.Helper()
	d := newDesk(t)
	id := d.ask(0, question(args, widest()))
	r := d.decide(30, id, consent.Answer{By: "alice", Approve: true, Message: "fine", Offer: o})
	require.Equal(t, runtime.ResolutionAccepted, r.Resolution)
	return d
}

// SEMANTICS 5.3.2, 5.3.3
func TestGrantForADurationCountsFromTheApprovalAndIsInvalidAtTheEndInstant(t *testing.T) {
	d := granted(t, `{"to":"a"}`, lasting(60))
	q := question(`{"to":"a"}`, widest())
	assert.True(t, d.matches(30, q))
	assert.True(t, d.matches(89.999, q))
	assert.False(t, d.matches(90, q))
	assert.False(t, d.matches(89, question(`{"to":"b"}`, widest())))
}

// SEMANTICS 5.3.4, 5.3.9
func TestGrantForASessionHasNoEnd(t *testing.T) {
	d := granted(t, `{"to":"a"}`, session(runtime.CoverExact))
	q := question(`{"to":"a"}`, widest())
	q.Call.Run = "r2"
	assert.True(t, d.matches(1e9, q))
}

// SEMANTICS 5.3.1
func TestOnceIgnoresTheCoverAndLeavesNoGrant(t *testing.T) {
	d := newDesk(t)
	q := question(`{}`, approvers("alice")) // exact at most
	once := consent.Offer{Cover: runtime.CoverTool, For: time.Hour, Where: []consent.Predicate{where("", consent.OpEqual, "!")}}
	r := d.decide(1, d.ask(0, q), consent.Answer{By: "alice", Approve: true, Offer: once})
	assert.Equal(t, runtime.ResolutionAccepted, r.Resolution)
	assert.Nil(t, r.Granted)
	assert.Equal(t, consent.Offer{}, *r.Offer)
	assert.Empty(t, d.book.Grants())
	assert.False(t, d.matches(2, q))
}

func TestTermsWithoutEffectAreNotStored(t *testing.T) {
	o := session(runtime.CoverExact, where("", consent.OpEqual, "!"))
	o.For = time.Hour
	d := newDesk(t)
	r := d.decide(1, d.ask(0, question(`{}`, widest())), consent.Answer{By: "alice", Approve: true, Offer: o})
	assert.Equal(t, runtime.ResolutionAccepted, r.Resolution)
	assert.Equal(t, session(runtime.CoverExact), *r.Offer)
	assert.Empty(t, r.Granted.Expires)
}

// SEMANTICS 5.3.5
func TestCoverExactIsEqualArguments(t *testing.T) {
	d := granted(t, `{"to":"a","n":1}`, session(runtime.CoverExact))
	assert.True(t, d.matches(31, question(`{"n":1.0,"to":"a"}`, widest())))
	assert.False(t, d.matches(31, question(`{"n":2,"to":"a"}`, widest())))
	assert.False(t, d.matches(31, question(`{"n":1,"to":"a","x":null}`, widest())))
	broken := question(`{`, widest())
	assert.False(t, d.matches(31, broken))
	broken.Call.Args = nil
	assert.False(t, d.matches(31, broken))
}

// SEMANTICS 5.3.6, 5.3.13
func TestCoverArgsIsPredicatesThatAreAllMet(t *testing.T) {
	for _, tc := range []struct {
		name   string
		where  []consent.Predicate
		yes    []string
		not    []string
		reject bool
	}{
		{name: "equal", where: []consent.Predicate{where("to", consent.OpEqual, `"a"`)}, yes: []string{`{"to":"a","n":5}`}, not: []string{`{"to":"ab"}`, `{}`, `{"x":{"to":"a"}}`, `["a"]`}},
		{name: "equal numbers", where: []consent.Predicate{where("n", consent.OpEqual, `1e2`)}, yes: []string{`{"n":100}`, `{"n":100.0}`}, not: []string{`{"n":"100"}`, `{"n":101}`}},
		{name: "equal objects", where: []consent.Predicate{where("o", consent.OpEqual, `{"a":1,"b":[2]}`)}, yes: []string{`{"o":{"b":[2],"a":1}}`}, not: []string{`{"o":{"b":[2],"a":1,"c":0}}`}},
		{name: "prefix", where: []consent.Predicate{where("to", consent.OpPrefix, `"docs/"`)}, yes: []string{`{"to":"docs/"}`, `{"to":"docs/x"}`}, not: []string{`{"to":"Docs/x"}`, `{"to":5}`, `{"to":["docs/"]}`}},
		{name: "greater", where: []consent.Predicate{where("n", consent.OpGreater, `9007199254740992`)}, yes: []string{`{"n":9007199254740993}`, `{"n":1e300}`}, not: []string{`{"n":9007199254740992}`, `{"n":-9e30}`, `{"n":"9e30"}`}},
		{name: "greater fractions", where: []consent.Predicate{where("n", consent.OpGreater, `-0.5`)}, yes: []string{`{"n":-0.49}`, `{"n":0}`, `{"n":1e-9}`, `{"n":-0.49999999999999999999}`}, not: []string{`{"n":-0.5}`, `{"n":-0.50000000000000000001}`, `{"n":-4}`}},
		{name: "greater than next to nothing", where: []consent.Predicate{where("n", consent.OpGreater, `1e-99999999`)}, yes: []string{`{"n":1e-9999999}`, `{"n":1}`}, not: []string{`{"n":0}`, `{"n":1e-999999999}`}},
		{name: "pointer", where: []consent.Predicate{where("/a~1b/1/~0", consent.OpEqual, `1`)}, yes: []string{`{"a/b":[0,{"~":1}]}`, `{"a/b":[[9,9],{"x":{"y":[1]},"~":1}]}`}, not: []string{`{"a/b":[{"~":1}]}`, `{"a/b":{"1":{"~":2}}}`}},
		{name: "all", where: []consent.Predicate{where("to", consent.OpEqual, `"a"`), where("n", consent.OpGreater, `3`)}, yes: []string{`{"to":"a","n":4}`}, not: []string{`{"to":"a","n":3}`, `{"to":"b","n":4}`}},
		{name: "at most", where: []consent.Predicate{where("n", consent.OpAtMost, `50.00`)}, yes: []string{`{"n":50}`, `{"n":49.999}`, `{"n":-1e9}`}, not: []string{`{"n":50.0000000000000000001}`, `{"n":1e3}`, `{"n":"5"}`, `{}`}},
		{name: "at least", where: []consent.Predicate{where("n", consent.OpAtLeast, `50`)}, yes: []string{`{"n":5e1}`, `{"n":51}`}, not: []string{`{"n":49.9999999999999999999}`, `{"n":null}`}},
		{name: "between", where: []consent.Predicate{where("n", consent.OpAtLeast, `1`), where("n", consent.OpAtMost, `2`)}, yes: []string{`{"n":1}`, `{"n":2}`}, not: []string{`{"n":0}`, `{"n":3}`}},
		{
			name: "below", where: []consent.Predicate{where("to", consent.OpBelow, `"docs/"`)},
			yes: []string{`{"to":"docs/a"}`, `{"to":"docs/sub/a.md"}`, `{"to":"docs/sub/"}`},
			not: []string{
				`{"to":"docs"}`, `{"to":"docs/"}`, `{"to":"docs-secret/a"}`, `{"to":"docs/../src/a"}`, `{"to":"docs/./a"}`, `{"to":"docs//a"}`, `{"to":"/docs/a"}`, `{"to":"DOCS/a"}`,
				`{"to":"docs/%2e%2e/a"}`, `{"to":"docs/%252e%252e/a"}`, `{"to":"docs\\..\\a"}`, `{"to":"docs\\a"}`, `{"to":"docs/a\u0000"}`, `{"to":"docs/..;/a"}`, `{"to":5}`, `{"to":["docs/a"]}`, `{}`,
			},
		},
		{
			name: "url", where: []consent.Predicate{where("to", consent.OpURL, `"https://docs.example.com/guide"`)},
			yes: []string{`{"to":"https://docs.example.com/guide"}`, `{"to":"HTTPS://Docs.Example.com:443/guide/a?b=c"}`},
			not: []string{
				`{"to":"https://docs.example.com@evil.example/guide"}`, `{"to":"https://docs.example.com.evil.example/guide"}`, `{"to":"https://a:b@docs.example.com/guide"}`,
				`{"to":"http://docs.example.com/guide"}`, `{"to":"https://docs.example.com:8443/guide"}`, `{"to":"https://docs.example.com/guidebook"}`,
				`{"to":"https://docs.example.com/guide/../a"}`, `{"to":"https://docs.example.com/guide/%2e%2e/a"}`, `{"to":"https://docs.example.com/guide//a"}`, `{"to":"/guide"}`, `{"to":1}`,
			},
		},
		{
			name: "prefix of what leads elsewhere", where: []consent.Predicate{where("to", consent.OpPrefix, `"docs/"`)},
			yes: []string{`{"to":"docs/a..b/.c"}`, `{"to":"docs/a%20b"}`, `{"to":"docs/ and so on ..."}`},
			not: []string{
				`{"to":"docs/../a"}`, `{"to":"docs/.."}`, `{"to":"docs/./a"}`, `{"to":"docs/a\\..\\b"}`, `{"to":"docs/%2e%2e/a"}`, `{"to":"docs/%252E%252E%252Fa"}`, `{"to":"docs/..%5ca"}`, `{"to":"docs/\uff0e\uff0e/a"}`,
				`{"to":"docs/..\u0000/a"}`, `{"to":"docs/%c0%ae%c0%ae/a"}`,
			},
		},
		{name: "prefix of a URL", where: []consent.Predicate{where("to", consent.OpPrefix, `"https://docs.example.com"`)}, reject: true},
		{name: "prefix of an encoded URL", where: []consent.Predicate{where("to", consent.OpPrefix, `"https:%2F/docs.example.com"`)}, reject: true},
		{name: "prefix of an address of mail", where: []consent.Predicate{where("to", consent.OpPrefix, `"mailto:"`)}, yes: []string{`{"to":"mailto:ada@a.example"}`}, not: []string{`{"to":"mailto://a.example"}`}},
		{name: "below a scheme", where: []consent.Predicate{where("to", consent.OpBelow, `"https:"`)}, reject: true},
		{name: "below nothing", where: []consent.Predicate{where("to", consent.OpBelow, `""`)}, reject: true},
		{name: "below the root", where: []consent.Predicate{where("to", consent.OpBelow, `"/"`)}, reject: true},
		{name: "below what leads elsewhere", where: []consent.Predicate{where("to", consent.OpBelow, `"docs/../src"`)}, reject: true},
		{name: "below a URL", where: []consent.Predicate{where("to", consent.OpBelow, `"https://docs.example.com"`)}, reject: true},
		{name: "below a number", where: []consent.Predicate{where("to", consent.OpBelow, `1`)}, reject: true},
		{name: "url with user info", where: []consent.Predicate{where("to", consent.OpURL, `"https://a@docs.example.com"`)}, reject: true},
		{name: "url with a query", where: []consent.Predicate{where("to", consent.OpURL, `"https://docs.example.com/?a=b"`)}, reject: true},
		{name: "url of a path", where: []consent.Predicate{where("to", consent.OpURL, `"docs.example.com"`)}, reject: true},
		{name: "url that leads elsewhere", where: []consent.Predicate{where("to", consent.OpURL, `"https://docs.example.com/a/.."`)}, reject: true},
		{name: "at most a text", where: []consent.Predicate{where("n", consent.OpAtMost, `"1"`)}, reject: true},
		{name: "at least null", where: []consent.Predicate{where("n", consent.OpAtLeast, `null`)}, reject: true},
		{name: "prefix of a number", where: []consent.Predicate{where("n", consent.OpPrefix, `1`)}, reject: true},
		{name: "above a text", where: []consent.Predicate{where("n", consent.OpGreater, `"1"`)}, reject: true},
		{name: "no JSON", where: []consent.Predicate{where("n", consent.OpEqual, `one`)}, reject: true},
		{name: "no member", where: []consent.Predicate{where("", consent.OpEqual, `1`)}, reject: true},
		{name: "no pointer", where: []consent.Predicate{where("/a~2", consent.OpEqual, `1`)}, reject: true},
		{name: "no comparison", where: []consent.Predicate{where("n", consent.OpAtLeast+1, `1`)}, reject: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.reject {
				d := newDesk(t)
				a := consent.Answer{By: "alice", Approve: true, Offer: session(runtime.CoverArgs, tc.where...)}
				d.rejected(consent.InvalidInput, d.decide(1, d.ask(0, question(`{}`, widest())), a))
				return
			}
			d := granted(t, `{}`, session(runtime.CoverArgs, tc.where...))
			for _, args := range tc.yes {
				assert.True(t, d.matches(31, question(args, widest())), args)
			}
			for _, args := range tc.not {
				assert.False(t, d.matches(31, question(args, widest())), args)
			}
		})
	}
}

// SEMANTICS 5.3.7, 5.3.9
func TestCoverToolIsEveryCallOfTheTool(t *testing.T) {
	d := granted(t, `{}`, session(runtime.CoverTool))
	assert.True(t, d.matches(31, question(`{"anything":1}`, widest())))
}

// SEMANTICS 1.1.1, 4.21.2
func TestGrantIsOfItsToolSessionPrincipalAgentAndDeclaration(t *testing.T) {
	d := granted(t, `{}`, session(runtime.CoverTool))
	for name, change := range map[string]func(*consent.Call){
		"tool": func(c *consent.Call) { c.Tool = "x" }, "session": func(c *consent.Call) { c.Session = "x" },
		"principal": func(c *consent.Call) { c.Principal = "x" }, "sub-agent": func(c *consent.Call) { c.Agent = "x" },
		"declaration": func(c *consent.Call) { c.Pin = "x" },
	} {
		q := question(`{}`, widest())
		change(&q.Call)
		assert.False(t, d.matches(31, q), name)
		_, err := d.book.UseGrant(after(31), "q1", q)
		assert.ErrorIs(t, err, consent.ErrNoGrant, name)
	}
}

// SEMANTICS 5.3.8
func TestDeclarationCapsTheCover(t *testing.T) {
	args := session(runtime.CoverArgs, where("to", consent.OpEqual, `"a"`))
	offers := []consent.Offer{session(runtime.CoverExact), args, session(runtime.CoverTool)}
	for limit := range runtime.CoverTool + 1 {
		for cover, o := range offers {
			d := newDesk(t)
			r := d.decide(1, d.ask(0, question(`{}`, consent.Requirement{MaxCover: limit})), consent.Answer{By: "alice", Approve: true, Offer: o})
			if runtime.GrantCover(cover) > limit {
				d.rejected(consent.GrantTooWide, r)
			} else {
				assert.Equal(t, runtime.ResolutionAccepted, r.Resolution)
			}
		}
	}
	d := newDesk(t)
	id := d.ask(0, question(`{}`, consent.Requirement{MaxCover: runtime.CoverArgs}))
	d.rejected(consent.GrantTooWide, d.decide(1, id, consent.Answer{By: "alice", Approve: true, Offer: session(runtime.CoverArgs)}))
	d.rejected(consent.GrantTooWide, d.decide(1, id, consent.Answer{By: "alice", Approve: true, Offer: session(runtime.CoverTool + 1)}))
	d.rejected(consent.InvalidInput, d.decide(1, id, consent.Answer{By: "alice", Approve: true, Offer: consent.Offer{Lasting: consent.ForSession + 1}}))
	d.rejected(consent.InvalidInput, d.decide(1, id, consent.Answer{By: "alice", Approve: true, Offer: lasting(0)}))
}

// SEMANTICS 5.3.12
func TestGrantCarriesItsFieldsAndIsShownBeforeItIsStored(t *testing.T) {
	d := newDesk(t)
	q := question(`{"to":"a"}`, widest())
	id := d.ask(0, q)
	a := consent.Answer{By: "alice", Approve: true, Message: "fine", Offer: lasting(60)}
	e := d.book.Decide(after(30), id, &a)
	r, _ := d.book.Request(id)
	want := &consent.Grant{
		ID: id, CallID: "c1", Tool: "transfer", Pin: "pin-1", Session: "s1", Principal: "agent",
		Cover: runtime.CoverExact, Args: r.ArgsDigest, Created: after(30), Expires: after(90),
		Grantors: []string{"alice"}, Reason: "fine", Rules: []string{"declared"}, Revision: "v1",
	}
	assert.Equal(t, want, e.Result.Granted)
	assert.Empty(t, d.book.Grants())
	d.apply(e)

	g, ok := d.book.Match(after(31), q)
	require.True(t, ok)
	used, err := d.book.UseGrant(after(31), g.ID, q)
	require.NoError(t, err)
	d.apply(used)
	want.Uses = 1
	assert.Equal(t, []consent.Grant{*want}, d.book.Grants())
	_, err = d.book.UseGrant(after(90), g.ID, q)
	assert.ErrorIs(t, err, consent.ErrNoGrant, "it ended between the match and the start")
	_, err = d.book.UseGrant(after(31), "unknown", q)
	assert.ErrorIs(t, err, consent.ErrNoGrant)
}

// SEMANTICS 5.3.12
func TestRevokedGrantAnswersNothing(t *testing.T) {
	d := granted(t, `{}`, lasting(60))
	q := question(`{}`, widest())
	d.rejected(consent.UnknownRequest, d.apply(d.book.Revoke(after(31), "q9", "bob", "")).Result)
	d.rejected(consent.NotPermitted, d.apply(d.book.Revoke(after(31), "q1", "", "")).Result)
	d.rejected(consent.RequestExpired, d.apply(d.book.Revoke(after(90), "q1", "bob", "")).Result)
	assert.True(t, d.matches(32, q))
	e := d.apply(d.book.Revoke(after(33), "q1", "bob", "gone"))
	assert.Equal(t, runtime.ResolutionAccepted, e.Result.Resolution)
	assert.Equal(t, "c1", e.Call)
	assert.False(t, d.matches(34, q))
	_, err := d.book.UseGrant(after(34), "q1", q)
	assert.ErrorIs(t, err, consent.ErrNoGrant)
	d.rejected(consent.AlreadyResolved, d.apply(d.book.Revoke(after(95), "q1", "bob", "")).Result)
	g := d.book.Grants()[0]
	assert.Equal(t, []any{after(33), "bob", false}, []any{g.Revoked, g.RevokedBy, g.Live(after(34))})
}

// SEMANTICS 5.7.9
func TestGrantsDieWithTheRuleThatAsked(t *testing.T) {
	d := newDesk(t)
	q := question(`{}`, widest())
	q.Reasons = []consent.Reason{{Code: "large"}, {Code: "night"}}
	d.decide(1, d.ask(0, q), consent.Answer{By: "alice", Approve: true, Offer: session(runtime.CoverTool)})
	one := question(`{}`, widest())
	one.Reasons = q.Reasons[:1]
	one.Call.Revision = "v2"
	assert.True(t, d.matches(2, one), "another revision with the same rule")

	more := question(`{}`, widest())
	more.Reasons = append(q.Reasons[:2:2], consent.Reason{Code: "abroad"})
	assert.False(t, d.matches(2, more), "nobody has answered the third rule")
	none := question(`{}`, widest())
	none.Reasons = nil
	assert.False(t, d.matches(2, none), "nothing asks")

	all := func(consent.Rule) bool { return true }
	_, ok := d.book.Retire(after(3), all)
	assert.False(t, ok)
	e, ok := d.book.Retire(after(3), func(r consent.Rule) bool { return r != consent.Rule{Tool: "transfer", Code: "night"} })
	require.True(t, ok)
	d.apply(e)
	assert.True(t, d.matches(4, one))
	assert.False(t, d.matches(4, q), "a rule that came back asks anew")
	e, ok = d.book.Retire(after(5), func(consent.Rule) bool { return false })
	require.True(t, ok)
	assert.Equal(t, []consent.Rule{{Tool: "transfer", Code: "large"}}, e.Retired)
	d.apply(e)
	assert.False(t, d.matches(6, one))
	assert.False(t, d.book.Grants()[0].Live(after(6)))
}

// SEMANTICS 5.3.8
func TestGrantAnswersNothingThatItsGiversCouldNotAnswerNow(t *testing.T) {
	d := granted(t, `{}`, session(runtime.CoverTool))
	for name, m := range map[string]consent.Requirement{
		"other approvers": {MaxCover: runtime.CoverTool, Approvers: []string{"cfo"}},
		"more approvers":  {MaxCover: runtime.CoverTool, Quorum: 2},
		"narrower cover":  {MaxCover: runtime.CoverArgs},
	} {
		assert.False(t, d.matches(31, question(`{}`, m)), name)
	}
	q := question(`{}`, consent.Requirement{MaxCover: runtime.CoverTool, Approvers: []string{"alice", "cfo"}})
	assert.True(t, d.matches(31, q))
}

// SEMANTICS 5.3.12
func TestGrantOfAQuorumIsWhatEachOfItHasOffered(t *testing.T) {
	prefix, sum := where("to", consent.OpPrefix, `"a"`), where("sum", consent.OpGreater, `1`)
	hour, minute := lasting(3600), lasting(60)
	for _, tc := range []struct {
		name string
		a, b consent.Offer
		want consent.Offer
	}{
		{"once", consent.Offer{}, session(runtime.CoverTool), consent.Offer{}},
		{"the shorter", hour, minute, minute},
		{"a duration", session(runtime.CoverExact), minute, minute},
		{"the narrower", session(runtime.CoverTool), session(runtime.CoverExact), session(runtime.CoverExact)},
		{"all predicates", session(runtime.CoverArgs, prefix), session(runtime.CoverArgs, sum), session(runtime.CoverArgs, prefix, sum)},
		{"those there are", session(runtime.CoverTool), session(runtime.CoverArgs, sum), session(runtime.CoverArgs, sum)},
		{"none for exact", session(runtime.CoverArgs, prefix), session(runtime.CoverExact), session(runtime.CoverExact)},
	} {
		for _, order := range [][2]consent.Offer{{tc.a, tc.b}, {tc.b, tc.a}} {
			d := newDesk(t)
			m := widest()
			m.Quorum = 2
			id := d.ask(0, question(`{"to":"a","sum":2}`, m))
			d.decide(1, id, consent.Answer{By: "alice", Approve: true, Offer: order[0]})
			g := d.decide(30, id, consent.Answer{By: "bob", Approve: true, Offer: order[1]}).Granted
			if tc.want.Lasting == consent.Once {
				assert.Nil(t, g, tc.name)
				continue
			}
			require.NotNil(t, g, tc.name)
			assert.Equal(t, []string{"alice", "bob"}, g.Grantors)
			assert.Equal(t, tc.want.Cover, g.Cover, tc.name)
			assert.ElementsMatch(t, tc.want.Where, g.Where, tc.name)
			want := time.Time{}
			if tc.want.For > 0 {
				want = after(30).Add(tc.want.For)
			}
			assert.Equal(t, want, g.Expires, tc.name)
		}
	}
}

func TestGrantOfAnEditCoversWhatWasEdited(t *testing.T) {
	d := newDesk(t)
	m := consent.Requirement{AllowEdit: true}
	q := question(`{"sum":9}`, m)
	edit := edited(q, `{"sum":5}`, m)
	d.decide(1, d.ask(0, q), consent.Answer{By: "bob", Approve: true, Offer: session(runtime.CoverExact), Edit: edit})
	assert.False(t, d.matches(2, q))
	q.Call.Args = wire.Raw(`{"sum":5}`)
	assert.True(t, d.matches(2, q))
}

// TestAGrantLastsNoLongerThanDeclared rejects one that would, also with an edit,
// and leaves the request open.
// SEMANTICS 8.1.13
func TestAGrantLastsNoLongerThanDeclared(t *testing.T) {
	for declared, most := range map[time.Duration]time.Duration{0: consent.DefaultMaxFor, time.Hour: time.Hour} {
		d := newDesk(t)
		m := widest()
		m.MaxFor = declared
		q := question(`{}`, m)
		id := d.ask(0, q)
		r, _ := d.book.Request(id)
		assert.Equal(t, most, r.Requirement.MaxFor)
		offer := func(life time.Duration) consent.Answer {
			return consent.Answer{By: "alice", Approve: true, Offer: consent.Offer{Lasting: consent.ForDuration, For: life}}
		}
		d.rejected(consent.GrantTooWide, d.decide(1, id, offer(most+1)))
		edited := offer(most + 1)
		edited.Edit = &consent.Edit{Question: *q}
		d.rejected(consent.GrantTooWide, d.decide(1, id, edited))
		assert.Equal(t, consent.StatusOpen, d.status(id))
		got := d.decide(2, id, offer(most))
		require.Equal(t, runtime.ResolutionAccepted, got.Resolution)
		assert.Equal(t, after(2).Add(most), got.Granted.Expires)
	}
}

// TestEndOfASessionEndsRequestsAndGrants: an ended session has no request that can be answered and no grant.
func TestEndOfASessionEndsRequestsAndGrants(t *testing.T) {
	d := newDesk(t)
	granted := d.ask(0, question(`{"n":1}`, approvers("alice")))
	r, _ := d.book.Request(granted)
	offer := consent.Answer{By: "alice", Approve: true, Binding: r.Binding, Offer: consent.Offer{Lasting: consent.ForSession}}
	require.NotNil(t, d.decide(1, granted, offer).Granted)
	q := question(`{"n":2}`, approvers("bob"))
	q.Call.ID = "c2"
	approved := d.ask(2, q)
	require.Equal(t, runtime.ResolutionAccepted, d.approve(3, approved, "bob").Resolution)
	q.Call.ID = "c3"
	open := d.ask(4, q)

	events := d.book.End(after(5))
	require.Len(t, events, 4, "the approvals of two calls that have not started, an open request, a grant")
	for _, e := range events {
		d.apply(e)
	}
	assert.Zero(t, d.book.Len())
	for _, id := range []string{granted, approved, open} {
		r, _ := d.book.Request(id)
		assert.Equal(t, consent.StatusCancelled, r.Status, id)
	}
	g, _ := d.book.Grant(granted)
	assert.Equal(t, after(5), g.Revoked)
	assert.Empty(t, g.RevokedBy)
	assert.Equal(t, consent.AlreadyResolved, d.approve(6, open, "bob").Rejection)
	assert.Empty(t, d.book.End(after(7)), "it has ended")
}

// TestEndOfASessionRevokesRetiredGrants: a grant whose rules are gone is over, and its session says so when it ends. One that has expired is over
// by itself.
func TestEndOfASessionRevokesRetiredGrants(t *testing.T) {
	d := newDesk(t)
	q := question(`{}`, widest())
	d.decide(1, d.ask(0, q), consent.Answer{By: "alice", Approve: true, Offer: session(runtime.CoverExact)})
	d.decide(1, d.ask(0, q), consent.Answer{By: "alice", Approve: true, Offer: lasting(50)})
	retired, some := d.book.Retire(after(2), func(consent.Rule) bool { return false })
	require.True(t, some)
	d.apply(retired)
	var revoked []string
	for _, e := range d.book.End(after(60)) {
		d.apply(e)
		if e.Kind == consent.EventRevoked {
			revoked = append(revoked, e.Grant)
		}
	}
	assert.Equal(t, []string{"q1"}, revoked)
	assert.Empty(t, d.book.End(after(61)))
}
