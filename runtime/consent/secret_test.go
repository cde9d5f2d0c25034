package consent_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/wire"
)

func secretCall() *secretArgs {
	return &secretArgs{To: "a <b>", Token: "hünter2", Pin: 4711, Flag: true, Keys: wire.Raw(`{"k":[1,"two"]}`)}
}

// SEMANTICS 5.9.1
func TestSensitiveMembersAreShownAsLengthAndSaltedDigest(t *testing.T) {
	shown, err := consent.Show(key, secretCall())
	require.NoError(t, err)
	var m map[string]string
	require.NoError(t, json.Unmarshal(shown, &m))
	assert.Equal(t, "a <b>", m["to"])
	assert.Regexp(t, `^\(sensitive: 7 characters, [0-9a-f]{16}\)$`, m["token"])
	assert.Regexp(t, `^\(sensitive: 4 bytes of JSON, [0-9a-f]{16}\)$`, m["pin"])
	assert.Regexp(t, `^\(sensitive: a boolean, [0-9a-f]{16}\)$`, m["flag"])
	assert.Regexp(t, `^\(sensitive: 15 bytes of JSON, [0-9a-f]{16}\)$`, m["keys"])

	long := secretCall()
	long.Token = strings.Repeat("ü", 40)
	text, err := consent.Show(key, long)
	require.NoError(t, err)
	assert.Contains(t, string(text), "(sensitive: 40 characters, ")

	again, err := consent.Show(key, secretCall())
	require.NoError(t, err)
	assert.Equal(t, string(shown), string(again), "equal secrets look equal")
	other, err := consent.Show([]byte("another key"), secretCall())
	require.NoError(t, err)
	assert.NotEqual(t, string(shown), string(other), "the digest is salted")
}

// SEMANTICS 5.9.2
func TestDeclarationRevealsMembersToApprovers(t *testing.T) {
	shown, err := consent.Show(key, secretCall(), "token", "keys")
	require.NoError(t, err)
	assert.Contains(t, string(shown), `"token":"hünter2"`)
	assert.Contains(t, string(shown), `"keys":{"k":[1,"two"]}`)
	assert.NotContains(t, string(shown), "4711")
	for _, bad := range []wire.Value{nil, wire.Raw(`{`), &secretArgs{Keys: wire.Raw(`{`)}} {
		_, err = consent.Show(key, bad)
		assert.Error(t, err)
	}
}

// SEMANTICS 5.9.1
func TestDigestThatIsShownIsNotThatOfTheArguments(t *testing.T) {
	q := question(`{}`, widest())
	q.Call.Args = allSecret{}
	d := newDesk(t)
	r, _ := d.book.Request(d.ask(0, q))
	assert.Equal(t, []string{""}, r.Masked)
	assert.Regexp(t, `^"\(sensitive: 1 characters, [0-9a-f]{16}\)"$`, string(r.Args))
	assert.NotContains(t, string(r.Args), r.ArgsDigest.String()[:16])
	whatever := where("to", consent.OpEqual, `"a"`)
	d.rejected(consent.InvalidInput, d.decide(1, r.ID, consent.Answer{By: "alice", Approve: true, Offer: session(runtime.CoverArgs, whatever)}))
}

// allSecret is a sensitive text.
type allSecret struct{}

func (allSecret) Walk(w wire.Visitor) {
	w.Visit(wire.Token{Kind: wire.KindString, Str: "x", Sensitive: true})
}

// holder is a value whose one member is a list with a sensitive element.
type holder struct{ list []wire.Token }

func (v holder) Walk(w wire.Visitor) {
	w.Visit(wire.Token{Kind: wire.KindObject})
	w.Visit(wire.Token{Kind: wire.KindName, Str: "a/b"})
	w.Visit(wire.Token{Kind: wire.KindArray})
	for _, t := range v.list {
		w.Visit(t)
	}
	w.Visit(wire.Token{Kind: wire.KindEnd})
	w.Visit(wire.Token{Kind: wire.KindEnd})
}

func TestSensitivePartsAreMaskedWhereverTheyAre(t *testing.T) {
	v := holder{[]wire.Token{
		{Kind: wire.KindInt, Int: 1}, {Kind: wire.KindObject, Sensitive: true}, {Kind: wire.KindName, Str: "x"},
		{Kind: wire.KindNull}, {Kind: wire.KindEnd}, {Kind: wire.KindString, Str: "open"},
	}}
	d := newDesk(t)
	q := question(`{}`, widest())
	q.Call.Args = v
	r, _ := d.book.Request(d.ask(0, q))
	assert.Regexp(t, `^\{"a/b":\[1,"\(sensitive: 10 bytes of JSON, [0-9a-f]{16}\)","open"\]\}$`, string(r.Args))
	assert.Equal(t, []string{"/a~1b/1"}, r.Masked)
}

// SEMANTICS 5.9.3
func TestSensitiveValuesNeverEnterEvents(t *testing.T) {
	d := newDesk(t)
	q := question(`{}`, consent.Requirement{MaxCover: runtime.CoverTool, AllowEdit: true, Quorum: 2})
	q.Call.Args = secretCall()
	id := d.ask(0, q)
	r, _ := d.book.Request(id)
	assert.Equal(t, []string{"/token", "/pin", "/flag", "/keys"}, r.Masked)
	next := *q
	edit := secretCall()
	edit.Token = "swordfish"
	next.Call.Args = edit
	offer := session(runtime.CoverExact)
	d.decide(1, id, consent.Answer{By: "alice", Approve: true, Offer: offer, Edit: &consent.Edit{Question: next}})
	edited, _ := d.book.Request(id)
	d.decide(2, id, consent.Answer{By: "bob", Approve: true, Offer: offer, Binding: edited.Binding})
	d.use(3, id, next.Call)
	text, err := json.Marshal(d.events)
	require.NoError(t, err)
	for _, word := range []string{"hünter2", "swordfish", "4711", "two"} {
		assert.NotContains(t, string(text), word)
	}
	other, err := consent.NewBook([]byte("another key")).Ask(start, "q1", "n", q)
	require.NoError(t, err)
	assert.NotEqual(t, r.ArgsDigest, other.Asked.ArgsDigest, "nobody finds a short secret by trying")
}

// SEMANTICS 5.9.3
func TestPredicateCannotNameWhatIsSensitive(t *testing.T) {
	d := newDesk(t)
	q := question(`{}`, widest())
	q.Call.Args = secretCall()
	id := d.ask(0, q)
	for _, p := range []consent.Predicate{
		where("token", consent.OpEqual, `"hünter2"`), where("/keys/k/0", consent.OpEqual, `1`), where("/pin", consent.OpGreater, `1`),
	} {
		d.rejected(consent.InvalidInput, d.decide(1, id, consent.Answer{By: "alice", Approve: true, Offer: session(runtime.CoverArgs, p)}))
	}
	to := where("to", consent.OpPrefix, `"a"`)
	assert.Equal(t, runtime.ResolutionAccepted, d.decide(1, id, consent.Answer{By: "alice", Approve: true, Offer: session(runtime.CoverArgs, to)}).Resolution)
	assert.True(t, d.matches(2, q))

	blind := granted(t, `{}`, session(runtime.CoverArgs, where("flag", consent.OpEqual, `true`)))
	assert.False(t, blind.matches(31, q), "and meets nothing when it came in by another call")
}

// SEMANTICS 5.3.8, 5.5.2, 5.5.5
func TestMergeNarrowsAndNeverWidens(t *testing.T) {
	declared := &consent.Requirement{Approvers: []string{"bob", "alice", "carol"}, Quorum: 1, Timeout: time.Minute, MaxCover: runtime.CoverArgs, AllowEdit: true, AllowSelf: true}
	wide := runtime.Ask{ID: "wide", Timeout: time.Hour, MaxCover: runtime.CoverTool}
	m, err := consent.Merge(declared, wide)
	require.NoError(t, err)
	assert.Equal(t, consent.Requirement{Approvers: []string{"alice", "bob", "carol"}, Quorum: 1, Timeout: time.Minute, MaxCover: runtime.CoverArgs, MaxFor: consent.DefaultMaxFor, AllowEdit: true, AllowSelf: true}, m)

	m, err = consent.Merge(declared, wide,
		runtime.Ask{Approvers: []string{"carol", "dan", "bob"}, Timeout: time.Second, Quorum: 2, MaxCover: runtime.CoverArgs},
		runtime.Ask{Approvers: []string{"bob", "carol", "carol", ""}, Timeout: 2 * time.Second, MaxCover: runtime.CoverExact})
	require.NoError(t, err)
	assert.Equal(t, consent.Requirement{Approvers: []string{"bob", "carol"}, Quorum: 2, Timeout: time.Second, MaxFor: consent.DefaultMaxFor, AllowEdit: true, AllowSelf: true}, m)
	m, err = consent.Merge(declared, runtime.Ask{MaxCover: runtime.CoverTool})
	require.NoError(t, err)
	assert.Equal(t, time.Minute, m.Timeout, "an ask without a timeout wants none")
	assert.Equal(t, []string{"bob", "alice", "carol"}, declared.Approvers, "nothing of the declaration changes")

	m, err = consent.Merge(nil, runtime.Ask{Approvers: []string{"dan"}, MaxCover: runtime.CoverTool})
	require.NoError(t, err)
	assert.Equal(t, consent.Requirement{Approvers: []string{"dan"}, Quorum: 1, Timeout: consent.DefaultTimeout, MaxFor: consent.DefaultMaxFor}, m, "what declares no consent allows the narrowest")
}

// SEMANTICS 5.5.5
func TestNobodyIsAskedWhereNobodyCouldAgree(t *testing.T) {
	for _, tc := range []struct {
		declared *consent.Requirement
		asks     []runtime.Ask
		want     error
	}{
		{&consent.Requirement{Approvers: []string{"alice"}}, []runtime.Ask{{Approvers: []string{"bob"}}}, consent.ErrNobody},
		{nil, []runtime.Ask{{Approvers: []string{"alice"}}, {Approvers: []string{"bob"}}}, consent.ErrNobody},
		{nil, []runtime.Ask{{Approvers: []string{""}}}, consent.ErrNobody},
		{&consent.Requirement{Approvers: []string{""}}, nil, consent.ErrNobody},
		{&consent.Requirement{Approvers: []string{"alice", "alice"}, Quorum: 2}, nil, consent.ErrQuorum},
	} {
		_, err := consent.Merge(tc.declared, tc.asks...)
		assert.ErrorIs(t, err, tc.want)
	}
}

// TestThePrincipalIsNobody: nobody can agree where ids alone show that the principal, who may not, would have to. A group
// counts as somebody.
// SEMANTICS 5.5.14
func TestThePrincipalIsNobody(t *testing.T) {
	for name, tc := range map[string]struct {
		of   consent.Requirement
		want error
	}{
		"alone":             {consent.Requirement{Approvers: []string{"agent"}}, consent.ErrSelf},
		"one of a pair":     {consent.Requirement{Approvers: []string{"agent", "alice"}, Quorum: 2}, consent.ErrSelf},
		"named twice":       {consent.Requirement{Approvers: []string{"agent", "agent"}, Quorum: 1}, consent.ErrSelf},
		"one of three":      {consent.Requirement{Approvers: []string{"agent", "alice", "bob"}, Quorum: 2}, nil},
		"another":           {consent.Requirement{Approvers: []string{"alice"}}, nil},
		"anybody":           {consent.Requirement{Quorum: 3}, nil},
		"with a group":      {consent.Requirement{Approvers: []string{"agent", "group:leads"}, Quorum: 2}, nil},
		"may approve":       {consent.Requirement{Approvers: []string{"agent"}, AllowSelf: true}, nil},
		"a group's name":    {consent.Requirement{Approvers: []string{"group:agent"}}, nil},
		"too few in itself": {consent.Requirement{Approvers: []string{"alice"}, Quorum: 2}, nil}, // Merge says so
	} {
		assert.ErrorIs(t, tc.of.Answerable("agent"), tc.want, name)
	}
}

func TestAskRefusesWhatMakesNoSense(t *testing.T) {
	d := newDesk(t)
	good := question(`{}`, widest())
	d.ask(0, good)
	ask := func(id, nonce string, change func(*consent.Question)) error {
		q := *good
		change(&q)
		_, err := d.book.Ask(start, id, nonce, &q)
		return err
	}
	same := func(*consent.Question) {}
	require.NoError(t, ask("q2", "n", same))
	assert.Error(t, ask("", "n", same))
	assert.Error(t, ask("q2", "", same))
	assert.ErrorContains(t, ask("q1", "n", same), "exists")
	assert.Error(t, ask("q2", "n", func(q *consent.Question) { q.Reasons = []consent.Reason{{Message: "no code"}} }))
	assert.Error(t, ask("q2", "n", func(q *consent.Question) { q.Call.Args = nil }))
	assert.Error(t, ask("q2", "n", func(q *consent.Question) { q.Call.Args = wire.Raw(`{"a":1,"a":2}`) }))
	assert.ErrorIs(t, ask("q2", "n", func(q *consent.Question) { q.Requirement.Approvers = []string{""} }), consent.ErrNobody)
}

func TestNamesReadAgain(t *testing.T) {
	roundTrip(t, runtime.CoverTool)
	roundTrip(t, consent.ForSession)
	roundTrip(t, runtime.ResolutionAccepted)
	roundTrip(t, consent.InvalidInput)
	roundTrip(t, consent.StatusCancelled)
	roundTrip(t, consent.ChangedRequest)
	roundTrip(t, consent.OpGreater)
	roundTrip(t, consent.EventOff)
	assert.Equal(t, "cover(9)", runtime.GrantCover(9).String())
	var d consent.Digest
	assert.ErrorContains(t, d.UnmarshalText([]byte("ab")), "not a digest")
	assert.Error(t, d.UnmarshalText([]byte(strings.Repeat("x", 64))))
}

// roundTrip reads all names up to the last one again.
func roundTrip[T ~uint8](t *testing.T, last T) {
	t.Helper()
	for v := range last + 1 {
		text, err := json.Marshal(v)
		require.NoError(t, err)
		var got T
		require.NoError(t, json.Unmarshal(text, &got))
		assert.Equal(t, v, got)
	}
	var none T
	assert.Error(t, json.Unmarshal([]byte(`"nonsense"`), &none))
}
