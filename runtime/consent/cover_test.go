package consent_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
)

// SEMANTICS 5.3.5
func TestExactGrantIsNotUsedForOtherArguments(t *testing.T) {
	d := granted(t, `{"to":"a"}`, session(runtime.CoverExact))
	_, err := d.book.UseGrant(after(31), "q1", question(`{"to":"b"}`, widest()))
	require.ErrorIs(t, err, consent.ErrNoGrant)
	_, err = d.book.UseGrant(after(31), "q1", question(`{"to":"a"}`, widest()))
	require.NoError(t, err)
}

// SEMANTICS 5.3.6, 5.3.12
func TestPrefixIsWhereTheMemberBegins(t *testing.T) {
	d := granted(t, `{}`, session(runtime.CoverArgs, where("to", consent.OpPrefix, `"docs/"`)))
	assert.True(t, d.matches(31, question(`{"to":"docs/docs/"}`, widest())))
	assert.False(t, d.matches(31, question(`{"to":"../docs/"}`, widest())))
}

// TestPrefixesOfURLsNameTheirComparison: an approver who compares letters of URLs is told what compares URLs.
// SEMANTICS 5.3.13
func TestPrefixesOfURLsNameTheirComparison(t *testing.T) {
	for _, prefix := range []string{`"https://docs.example.com"`, `"//docs.example.com"`, `"\\\\docs.example.com"`, `"https:/"`, `"https:"`, `"HTTPS:docs.example.com"`, `"https%3A"`, `"ssh:/"`} {
		d := newDesk(t)
		id := d.ask(0, question(`{"to":"https://docs.example.com/a"}`, widest()))
		res := d.decide(1, id, consent.Answer{By: "alice", Approve: true, Offer: session(runtime.CoverArgs, where("to", consent.OpPrefix, prefix))})
		assert.Equal(t, consent.InvalidInput, res.Rejection, prefix)
		assert.Contains(t, res.Detail, "compare by url", prefix)
		assert.NotContains(t, res.Detail, "docs.example.com", "a value may be secret")
		assert.Equal(t, consent.StatusOpen, d.status(id), prefix)
	}
}

// TestEmptyPrefixIsTheWholeTool: it covers every text, so the declaration caps it as the cover tool.
// SEMANTICS 5.3.8
func TestEmptyPrefixIsTheWholeTool(t *testing.T) {
	offer := session(runtime.CoverArgs, where("to", consent.OpPrefix, ` "" `), where("n", consent.OpEqual, `1`))
	d := newDesk(t)
	narrow := widest()
	narrow.MaxCover = runtime.CoverArgs
	d.rejected(consent.GrantTooWide, d.decide(1, d.ask(0, question(`{"to":"a","n":1}`, narrow)), consent.Answer{By: "alice", Approve: true, Offer: offer}))
	d = granted(t, `{}`, offer)
	assert.True(t, d.matches(31, question(`{"to":"b","n":1}`, widest())))
	assert.False(t, d.matches(31, question(`{"to":"b","n":1}`, narrow)))
}

// TestRecordedPrefixesAnswerByTheRulesOfNow: a grant that an earlier version took stays, and answers for
// nothing that no new grant by prefix answers for.
// SEMANTICS 5.3.13
func TestRecordedPrefixesAnswerByTheRulesOfNow(t *testing.T) {
	for name, test := range map[string]struct {
		value    string
		never    string
		yes, not []string
	}{
		"a URL":         {`"https://docs.example.com"`, `the prefix for "to" contains ://, and its letters begin URLs of other hosts too: compare by url`, nil, []string{`{"to":"https://docs.example.com/a"}`, `{"to":"https://docs.example.com@evil.example"}`}},
		"a host":        {`"//docs.example.com"`, `the prefix for "to" is how a URL begins, and its letters begin URLs of other hosts too: compare by url`, nil, []string{`{"to":"//docs.example.com/a"}`, `{"to":"//docs.example.com@evil.example/"}`}},
		"a scheme":      {`"https:"`, `the prefix for "to" is how a URL begins, and its letters begin URLs of other hosts too: compare by url`, nil, []string{`{"to":"https:evil.example"}`, `{"to":"https:/evil.example"}`, `{"to":"https://evil.example"}`}},
		"a letter":      {`"h"`, "", []string{`{"to":"hello"}`}, []string{`{"to":"https://evil.example"}`, `{"to":"https:\\evil.example"}`, `{"to":"hi https://evil.example"}`}},
		"a slash":       {`"/"`, "", []string{`{"to":"/srv/a"}`}, []string{`{"to":"//evil.example"}`, `{"to":"/\\evil.example"}`}},
		"a folder":      {`"docs/"`, "", []string{`{"to":"docs/a"}`}, []string{`{"to":"docs/../a"}`}},
		"a whole cover": {`""`, "", nil, []string{`{"to":"docs/a"}`}},
	} {
		t.Run(name, func(t *testing.T) {
			d := granted(t, `{}`, session(runtime.CoverArgs, where("to", consent.OpPrefix, `"x"`)))
			s := d.book.Snapshot()
			s.Grants[0].Grant.Where[0].Value = json.RawMessage(test.value)
			var err error
			d.book, err = consent.Restore(key, s)
			require.NoError(t, err)
			narrow := widest()
			narrow.MaxCover = runtime.CoverArgs
			for _, args := range test.yes {
				assert.True(t, d.matches(31, question(args, narrow)), args)
			}
			for _, args := range test.not {
				assert.False(t, d.matches(31, question(args, narrow)), args)
			}
			given := d.book.Grants()[0]
			assert.True(t, given.Live(after(31)), "it is listed and can be revoked")
			if why := given.Never(); test.never == "" {
				assert.NoError(t, why)
			} else {
				assert.EqualError(t, why, test.never)
			}
		})
	}
}

// TestTextFormOfPredicates: commands, scripts and pages read one form.
// SEMANTICS 5.3.14
func TestTextFormOfPredicates(t *testing.T) {
	for _, text := range []string{`to eq "a b"`, `n gt 1`, `n ge 1`, `n le 1.50`, `to prefix "docs/"`, `/a/to below "docs"`, `to url "https://docs.example.com"`} {
		p, err := consent.ParsePredicate("  " + text + " ")
		if assert.NoError(t, err, text) {
			assert.Equal(t, text, p.String())
		}
	}
	for text, want := range map[string]string{
		"":                `is not a member, a comparison and a JSON value`,
		"to":              `is not a member, a comparison and a JSON value`,
		"to eq":           `is not a member, a comparison and a JSON value`,
		"to eq a":         `is not a member, a comparison and a JSON value`,
		`to is "a"`:       `"is"`,
		`to="a"`:          `is not a member, a comparison and a JSON value`,
		`n le "a"`:        `"n" cannot be compared by le to "a"`,
		`/~2 eq 1`:        `~`,
		`to eq "a" and b`: `is not a member, a comparison and a JSON value`,
	} {
		_, err := consent.ParsePredicate(text)
		assert.ErrorContains(t, err, want, text)
	}
}
