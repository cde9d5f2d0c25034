package console_test

import (
	"context"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/host"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// TestStalePreview: of two writes to one file the second one would not be the one that was asked about after the
// first has run. The page says so before the click, and a click of an older page approves nothing.
func TestStalePreview(t *testing.T) {
	r := start(t)
	alice := r.as("alice")
	first, second := r.ask("write", "stale.md", "one"), r.ask("write", "stale.md", "two")
	older := hidden(alice.get("/approvals/" + second).text)
	assert.NotContains(t, alice.get("/approvals/"+second).text, "would not let the call run")
	require.Equal(t, http.StatusSeeOther, alice.answer(first, "decision", "approve").StatusCode)
	q, _ := r.Executor.Request(first)
	require.Equal(t, runtime.Completed, r.Executor.Await(t.Context(), "s", q.CallID).Kind)

	p := alice.get("/approvals/" + second)
	assert.Contains(t, p.text, "An approval would not let the call run")
	assert.Contains(t, p.text, "what the call would do is not what the preview shows")
	assert.NotContains(t, p.text, `value="approve"`)
	assert.Contains(t, p.text, `value="deny"`)
	p = alice.post("/approvals/"+second, url.Values{"decision": {"approve"}, "binding": older["binding"]})
	assert.Equal(t, http.StatusConflict, p.StatusCode)
	assert.Contains(t, p.text, "<code>binding_mismatch</code>")
	assert.Equal(t, "open", r.status(second))
	p = alice.post("/approvals/"+second, url.Values{"decision": {"approve"}, "binding": older["binding"]}, "Accept", "application/json")
	assert.Contains(t, p.text, `"code":"binding_mismatch"`)
	require.Equal(t, http.StatusSeeOther, alice.answer(second, "decision", "deny").StatusCode)
}

var textarea = regexp.MustCompile(`(?s)<textarea name="edit"[^>]*>(.*?)</textarea>`)

// TestEditOnPage: arguments that an approver wants instead are checked and judged, and shown before the call runs
// with them. A masked value stays what it is.
func TestEditOnPage(t *testing.T) {
	r := start(t)
	alice := r.as("alice")
	id := r.ask("write", "edit.md", "one")
	form := textarea.FindStringSubmatch(alice.get("/approvals/" + id).text)
	require.NotNil(t, form)
	text := html.UnescapeString(form[1])
	assert.Contains(t, text, `"text": "one"`)

	for edit, want := range map[string]string{`{"to":7}`: "the edited arguments are invalid", `{`: "the edited arguments are invalid"} {
		p := alice.answer(id, "decision", "approve", "edit", edit)
		assert.Equal(t, http.StatusBadRequest, p.StatusCode, edit)
		assert.Contains(t, p.text, want)
		assert.Contains(t, p.text, html.EscapeString(edit)+"</textarea>", "what was written is not lost")
	}
	edit := strings.Replace(text, `"one"`, `"three"`, 1)
	p := alice.answer(id, "decision", "approve", "edit", edit)
	require.Equal(t, http.StatusOK, p.StatusCode)
	for _, part := range []string{"They are not those that were asked about.", "<pre>three</pre>", ">three<", secret} {
		assert.Contains(t, p.text, part)
	}
	assert.Equal(t, "open", r.status(id), "nothing is stored before the second page is answered")
	other := hidden(p.text)
	other.Set("edit", strings.Replace(text, `"one"`, `"four"`, 1))
	assert.Equal(t, http.StatusOK, alice.post("/approvals/"+id, other).StatusCode, "other arguments are reviewed anew")
	require.Equal(t, "open", r.status(id))
	require.Equal(t, http.StatusSeeOther, alice.post("/approvals/"+id, hidden(p.text)).StatusCode)
	q, _ := r.Executor.Request(id)
	require.Equal(t, runtime.Completed, r.Executor.Await(t.Context(), "s", q.CallID).Kind)
	got, _ := files.Load("edit.md")
	assert.Equal(t, "three", got)

	after := alice.get("/approvals/" + id).text
	for _, part := range []string{"alice approved other arguments", "completed", "and can be undone until", "alice has edited the arguments"} {
		assert.Contains(t, after, part)
	}
	id = r.ask("send", "ada", "x") // whose declaration allows none
	assert.NotContains(t, alice.get("/approvals/"+id).text, "<textarea")
	assert.Equal(t, http.StatusBadRequest, alice.answer(id, "decision", "approve", "edit", text).StatusCode)
	assert.Equal(t, "open", r.status(id))
}

// TestRewrittenEditOnPage: the second page says that the policy rewrites an edit, its button approves nothing, and the page of
// the request then asks about the rewritten arguments.
// SEMANTICS 5.2.7
func TestRewrittenEditOnPage(t *testing.T) {
	r := startWith(t, func(c *host.Config) {
		c.Policy = runtime.PolicyFunc(func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
			d := runtime.Decision{Effect: runtime.EffectAllow}
			if v, ok := in.Args.(*letter); ok && v.Text == "all" {
				d.Rewrites = []runtime.Rewrite{{Code: "less", Pointer: "/text", Value: wire.Raw(`"half"`)}}
			}
			return d, nil
		})
	})
	alice := r.as("alice")
	id := r.ask("write", "rewritten.md", "one")
	p := alice.answer(id, "decision", "approve", "edit", `{"to":"rewritten.md","text":"all","pin":"1"}`)
	require.Equal(t, http.StatusOK, p.StatusCode)
	assert.Contains(t, p.text, "The policy makes the arguments below of what you wrote.")
	assert.Contains(t, p.text, "half")
	require.Equal(t, http.StatusSeeOther, alice.post("/approvals/"+id, hidden(p.text)).StatusCode)
	require.Equal(t, "open", r.status(id), "nobody has approved it")
	page := alice.get("/approvals/" + id).text
	assert.Contains(t, page, "The policy has changed what the editor wrote")
	assert.Contains(t, page, "half")
	require.Equal(t, http.StatusSeeOther, alice.answer(id, "decision", "approve").StatusCode)
	q, _ := r.Executor.Request(id)
	require.Equal(t, runtime.Completed, r.Executor.Await(t.Context(), "s", q.CallID).Kind)
	got, _ := files.Load("rewritten.md")
	assert.Equal(t, "half", got)
}

// TestSeeShowsOutcomes: who may see a request is shown what ran before it in its run, who answered and what became
// of the call, but no arguments and outputs of other calls.
// SEMANTICS 5.10.7
func TestSeeShowsOutcomes(t *testing.T) {
	r := start(t)
	alice := r.as("alice")
	turn := r.turn()
	for _, id := range []string{"before", "asks", "later"} {
		tool := map[string]string{"before": "note", "asks": "send", "later": "seal"}[id]
		r.execute(turn, id, tool, "ada", "text-of-"+id)
	}
	q := r.Executor.Requests()[0]
	page := alice.get("/approvals/" + q.ID).text
	before := page[strings.Index(page, "Calls before it in this run"):]
	assert.Contains(t, before, "<li>note ")
	assert.Contains(t, before, "completed")
	assert.NotContains(t, before, "<li>seal ", "that came after it")
	assert.NotContains(t, page, "text-of-before")
	assert.NotContains(t, page, "/calls/s/before", "alice may not audit it")
	assert.Contains(t, r.as("eve", "audit").get("/approvals/"+q.ID).text, "/calls/s/before")
	require.Equal(t, http.StatusSeeOther, alice.answer(q.ID, "decision", "deny", "message", "not <b>now</b>").StatusCode)
	require.Equal(t, consent.StatusDenied.String(), r.status(q.ID))
	page = r.as("bob").get("/approvals/" + q.ID).text
	for _, part := range []string{"alice denied at ", "not &lt;b&gt;now&lt;/b&gt;", "consent_denied"} {
		assert.Contains(t, page, part)
	}
	assert.NotContains(t, r.as("mallory").get("/approvals/"+q.ID).text, "alice")
}
