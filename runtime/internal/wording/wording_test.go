package wording_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/runtime/internal/wording"
	"github.com/ambit-tools/ambit/runtime/rules"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// TestTruncate: a message that is too long is cut between two characters, and says how long it was.
func TestTruncate(t *testing.T) {
	const most = 8 << 10
	fits := strings.Repeat("a", most)
	assert.Equal(t, fits, wording.Truncate(fits))
	for _, long := range []string{fits + "a", strings.Repeat("ä", most), "a" + strings.Repeat("€", most)} {
		got := wording.Truncate(long)
		assert.LessOrEqual(t, len(got), most)
		assert.Greater(t, len(got), most-8)
		assert.True(t, utf8.ValidString(got))
		assert.True(t, strings.HasSuffix(got, fmt.Sprintf("... (cut here: it has %d bytes)", len(long))))
	}
}

// TestQuote: a name from outside is quoted, 64 characters of it at most.
func TestQuote(t *testing.T) {
	assert.Equal(t, `"a\nb"`, wording.Quote("a\nb"))
	assert.Equal(t, `"`+strings.Repeat("ä", 64)+`"`, wording.Quote(strings.Repeat("ä", 64)))
	assert.Equal(t, `"`+strings.Repeat("ä", 64)+`"...`, wording.Quote(strings.Repeat("ä", 65)))
	assert.Equal(t, "a", wording.ValidUTF8("a"))
	assert.Equal(t, "a\uFFFD", wording.ValidUTF8("a\xff"))
}

// TestLists: a list names 50 at most.
func TestLists(t *testing.T) {
	var names []string
	var violations []wire.Violation
	for i := range 51 {
		names = append(names, fmt.Sprint("n", i))
		violations = append(violations, wire.Violation{Pointer: "/a", Keyword: "type", Expected: "string", Actual: "1"})
	}
	assert.Equal(t, "n0, n1", wording.Names(names[:2]))
	assert.NotContains(t, wording.Names(names[:50]), "more")
	assert.True(t, strings.HasSuffix(wording.Names(names), "n49 and 1 more"))
	one := violations[0].String()
	assert.Equal(t, one+"; "+one, wording.Violations(violations[:2]))
	assert.Equal(t, "the input is invalid: "+one, wording.InvalidInput(violations[:1]))
	assert.NotContains(t, wording.InvalidInput(violations[:50]), "more")
	assert.True(t, strings.HasSuffix(wording.InvalidInput(violations), one+"; and 1 more"))
	assert.Equal(t, "the input could not be checked", wording.InvalidInput(nil))
}

// TestWithoutValues: what a handler returned is hidden, in a copy.
func TestWithoutValues(t *testing.T) {
	given := []wire.Violation{{Actual: "secret"}}
	assert.Equal(t, "(hidden)", wording.WithoutValues(given)[0].Actual)
	assert.Equal(t, "secret", given[0].Actual)
}

// TestAmounts prints counts and times.
func TestAmounts(t *testing.T) {
	assert.Equal(t, "once", wording.Plural(1, "once", "%d times"))
	assert.Equal(t, "2 times", wording.Plural(2, "once", "%d times"))
	for d, want := range map[time.Duration]string{
		0: "0s", time.Nanosecond: "1ms", 250 * time.Millisecond: "250ms", 1500 * time.Millisecond: "1.5s",
		1500*time.Millisecond + 1: "1.501s", 90 * time.Second: "90s",
	} {
		assert.Equal(t, want, wording.Limit(d))
	}
	assert.Equal(t, "2s", wording.Wait(1500*time.Millisecond))
}

// TestViolation: each rule that refuses a call has a text of its own, which names what would help.
func TestViolation(t *testing.T) {
	seen := map[string]rules.Reason{}
	for _, v := range []rules.Violation{
		{Reason: rules.ReasonOperationNotAllowed, Allowed: []string{"x"}},
		{Reason: rules.ReasonRunFinished},
		{Reason: rules.ReasonExiting, PendingExit: []string{"x"}},
		{Reason: rules.ReasonIdempotencyConflict},
		{Reason: rules.ReasonDuplicatePending, Waiting: []string{"c1"}},
		{Reason: rules.ReasonStartConstraint, Missing: []string{"x"}},
		{Reason: rules.ReasonPrerequisiteMissing, Missing: []string{"x", "y"}, Any: true},
		{Reason: rules.ReasonPrerequisiteMissing, Missing: []string{"x", "y"}},
		{Reason: rules.ReasonOrderViolation, Already: []string{"x"}},
		{Reason: rules.ReasonExclusiveGroup, HeldBy: "x", Group: "g"},
		{Reason: rules.ReasonMaxCalls, Max: 3},
		{Reason: rules.ReasonMaxCalls, Max: 1, Shared: true},
		{Reason: rules.ReasonCooldown, RetryAfter: time.Minute},
		{Reason: rules.ReasonUnknownTool},
	} {
		text := wording.Violation("put", &v, "c1")
		assert.NotEmpty(t, text)
		assert.NotContains(t, seen, text)
		seen[text] = v.Reason
	}
	assert.Contains(t, seen, `one of x, y must succeed before "put"`)
	assert.Contains(t, seen, `"put" may be called 3 times in a run`)
	assert.Contains(t, seen, "all tools together may be called once in a run")
	assert.Contains(t, seen, `"put" is cooling down: 60s must pass`)
	assert.Contains(t, seen, `call "c1" had the same idempotency key and other arguments`)
	assert.Contains(t, seen, `the equal call "c1" waits for consent and may be denied: this one was not carried out`)
	assert.Contains(t, seen, rules.ReasonUnknownTool.String())
}
