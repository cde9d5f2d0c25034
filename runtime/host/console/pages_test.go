package console_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/host/console"
	"github.com/ambit-tools/ambit/runtime/host/internal/httpguard"
)

// TestCalls: who may audit finds every call, what it did and how it ended; a sensitive value is a commitment,
// and who may not audit finds nothing.
func TestCalls(t *testing.T) {
	r := start(t)
	eve := r.as("eve", "audit")
	require.Equal(t, runtime.Completed, r.callAs("c1", "note", "ada", "hello").Kind)
	require.Equal(t, runtime.Denied, r.callAs("c2", "seal", "ada", "too early").Kind)
	id := r.ask("send", "ada", "x")
	list := eve.get("/calls")
	require.Equal(t, http.StatusOK, list.StatusCode)
	for _, part := range []string{`<a class="hit" href="/calls/s/c1">c1</a>`, "</span>completed</span>", "</span>denied</span> <code>prerequisite_missing</code>", "</span>pending</span>"} {
		assert.Contains(t, list.text, part)
	}
	only := eve.get("/calls?tool=seal").text
	assert.Contains(t, only, "/calls/s/c2")
	assert.NotContains(t, only, "/calls/s/c1")
	assert.NotContains(t, eve.get("/calls?state=unfinished").text, "/calls/s/c1")
	assert.Contains(t, eve.get("/calls?session=other").text, "There are no calls")
	assert.Equal(t, http.StatusBadRequest, eve.get("/calls?state=x").StatusCode)
	assert.Equal(t, http.StatusBadRequest, eve.get("/calls?before=x").StatusCode)

	one := eve.get("/calls/s/c1")
	for _, part := range []string{"<code>/to</code>", "<pre>ada</pre>", "tool.invoked", "tool.completed", "&#34;text&#34;: &#34;hello&#34;", "COMPLETED"} {
		assert.Contains(t, one.text, part)
	}
	assert.NotContains(t, one.text, secret)
	assert.NotContains(t, one.text, "Without JavaScript", "it has ended")
	denied := eve.get("/calls/s/c2").text
	assert.Contains(t, denied, "What would admit it")
	assert.Contains(t, denied, "call send (needs consent)")
	q, _ := r.Executor.Request(id)
	waiting := eve.get("/calls/s/" + q.CallID).text
	assert.Contains(t, waiting, `href="/approvals/`+id+`"`)
	assert.Contains(t, waiting, "Without JavaScript", "live output takes the script")
	assert.Contains(t, eve.get("/approvals/"+id).text, `href="/calls/s/`+q.CallID+`"`)
	assert.Equal(t, http.StatusNotFound, eve.get("/calls/s/none").StatusCode)
	assert.Equal(t, http.StatusNotFound, eve.get("/calls/s/c1/artifact").StatusCode)
	assert.NotContains(t, eve.get("/calls/s/c1/arguments").text, secret)

	alice := r.as("alice")
	assert.NotContains(t, alice.get("/calls").text, "c1")
	for _, path := range []string{"", "/undo", "/artifact", "/arguments"} {
		assert.Equal(t, http.StatusForbidden, alice.get("/calls/s/c1"+path).StatusCode, path)
		assert.Equal(t, http.StatusForbidden, alice.get("/calls/s/none"+path).StatusCode, "the same as of a call that there is")
	}
	assert.Empty(t, r.reported.String())
}

// TestPagesOfCalls: the next page goes on where the one before ended.
func TestPagesOfCalls(t *testing.T) {
	r := start(t)
	eve := r.as("eve", "audit")
	for i := range 53 {
		r.callAs(fmt.Sprintf("c%02d", i), "note", "ada", "x")
	}
	first := eve.get("/calls?tool=note").text
	assert.Contains(t, first, ">c52<")
	assert.Contains(t, first, ">c03<")
	assert.NotContains(t, first, ">c02<")
	_, rest, _ := strings.Cut(first, `href="/calls?before=`)
	query, _, _ := strings.Cut(rest, `"`)
	second := eve.get("/calls?before=" + strings.ReplaceAll(query, "&amp;", "&")).text
	assert.Contains(t, second, ">c02<")
	assert.Contains(t, second, ">c00<")
	assert.NotContains(t, second, ">c03<")
	assert.NotContains(t, second, "Older calls")
}

// TestArtifact: a long output is downloaded, and never shown.
func TestArtifact(t *testing.T) {
	r := start(t)
	require.Equal(t, runtime.Completed, r.callAs("c1", "file", "ada", strings.Repeat("<script>", 1000)).Kind)
	eve := r.as("eve", "audit")
	page := eve.get("/calls/s/c1").text
	for _, part := range []string{`href="/calls/s/c1/artifact"`, "<h2>Preview of the output</h2>", "&lt;script&gt;&lt;script&gt;", "bytes, application/json."} {
		assert.Contains(t, page, part)
	}
	assert.NotContains(t, page, "<script><script>")
	assert.NotContains(t, page, secret, "a preview has no sensitive value")
	p := eve.get("/calls/s/c1/artifact")
	assert.Equal(t, []any{http.StatusOK, "application/octet-stream"}, []any{p.StatusCode, p.Header.Get("Content-Type")})
	assert.Contains(t, p.Header.Get("Content-Disposition"), "attachment")
	assert.Greater(t, len(p.text), 8000)
}

// TestActs: an operator undoes and cancels calls, sees first what an undo would touch, and is told why
// something was not done.
func TestActs(t *testing.T) {
	r := start(t)
	olga := r.as("olga", "operators")
	r.callAs("c0", "note", "ada", "x")
	r.callAs("c1", "file", "ada", "x")
	r.callAs("c2", "file", "ada", "y")
	r.callAs("c3", "file", "ada", "drifts")
	assert.Contains(t, olga.get("/calls/s/c1").text, `href="/calls/s/c1/undo"`)
	assert.NotContains(t, olga.get("/calls/s/c0").text, `/undo"`)
	review := olga.get("/calls/s/c1/undo").text
	assert.Contains(t, review, `<a class="hit" href="/calls/s/c2">c2</a> of file: /pin, /to`)
	for _, part := range []string{"<h2>What the call did</h2>", "<code>/to</code>", "<pre>ada</pre>", "That is possible until 20", "the handler refuses (drift)"} {
		assert.Contains(t, review, part)
	}
	assert.NotContains(t, review, secret)
	assert.Contains(t, olga.get("/calls/s/c0/undo").text, "It cannot be undone. The tool declares no undo")
	assert.Contains(t, olga.get("/calls/s/c1").text, "completed", "nothing was done yet")
	p := olga.post("/calls/s/c1/undo", url.Values{"reason": {"wrong letter"}})
	require.Equal(t, http.StatusSeeOther, p.StatusCode)
	assert.Equal(t, "/calls/s/c1", p.Header.Get("Location"))
	undone := olga.get("/calls/s/c1").text
	assert.Contains(t, undone, "was undone")
	assert.Contains(t, undone, "tool.undone")
	for path, why := range map[string]string{"/calls/s/c1/undo": "already_undone", "/calls/s/c3/undo": "drift", "/calls/s/c2/cancel": "already_ended"} {
		p = olga.post(path, url.Values{})
		assert.Equal(t, http.StatusConflict, p.StatusCode, path)
		assert.Contains(t, p.text, "<code>"+why+"</code>", path)
		assert.Contains(t, p.text, "It was not done", path)
		if why == "drift" {
			assert.Contains(t, p.text, "What the call has changed was changed again since")
		}
	}
	p = olga.post("/calls/s/c2/resolve", url.Values{})
	assert.Equal(t, http.StatusBadRequest, p.StatusCode)
	assert.Contains(t, p.text, "<code>no_decision</code>")
	assert.Contains(t, olga.post("/calls/s/c2/resolve", url.Values{"effect": {"yes"}}).text, "<code>not_unknown</code>")

	id := r.ask("send", "ada", "x")
	q, _ := r.Executor.Request(id)
	assert.Contains(t, olga.get("/calls/s/"+q.CallID).text, "Cancel the call")
	for _, b := range []*browser{r.as("alice"), r.as("eve", "audit")} {
		for _, act := range []string{"cancel", "undo", "resolve"} {
			assert.Equal(t, http.StatusForbidden, b.post("/calls/s/"+q.CallID+"/"+act, url.Values{"effect": {"no"}}).StatusCode, act)
		}
	}
	assert.NotContains(t, r.as("eve", "audit").get("/calls/s/"+q.CallID).text, "Cancel the call")
	require.Equal(t, http.StatusSeeOther, olga.post("/calls/s/"+q.CallID+"/cancel", url.Values{}).StatusCode)
	assert.Equal(t, "cancelled", r.status(id))
}

// A somebody is the authenticated caller of every request of these tests.
type somebody runtime.Actor

func (s somebody) Authenticate(*http.Request) (httpguard.Caller, error) {
	return httpguard.Caller{Actor: runtime.Actor(s)}, nil
}

// TestUndoOutlivesTheTab: an undo that a browser has asked for is not ended by the end of the request.
func TestUndoOutlivesTheTab(t *testing.T) {
	r := start(t)
	r.callAs("c1", "file", "ada", "x")
	_, handler := console.Mount(console.Options{Out: io.Discard})(r.Host)
	olga := runtime.Actor{ID: "olga", Groups: []string{"operators"}, Method: "token"}
	guard := httpguard.Guard{Auth: somebody(olga)}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	req := httptest.NewRequestWithContext(ctx, http.MethodPost, "/calls/s/c1/undo", strings.NewReader("reason=x"))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	guard.Known(handler).ServeHTTP(httptest.NewRecorder(), req)
	_, err := r.Executor.Undo(t.Context(), "s", action.UndoRequest{CallID: "c1", By: olga})
	var told *action.Error
	require.ErrorAs(t, err, &told)
	assert.Equal(t, action.CodeAlreadyUndone, told.Code)
}

// TestGrants: a grant is listed in words to who could have given it, and an operator takes it back.
func TestGrants(t *testing.T) {
	r := start(t)
	alice, olga := r.as("alice"), r.as("olga", "operators")
	assert.Contains(t, alice.get("/grants").text, "There are no grants")
	id := r.ask("send", "ada", "x")
	review := alice.answer(id, "decision", "approve", "grant", "session", "cover", "args", "where", "/to")
	require.Equal(t, http.StatusSeeOther, alice.post("/approvals/"+id, hidden(review.text)).StatusCode)
	list := alice.get("/grants").text
	for _, part := range []string{"calls in which /to is &#34;ada&#34;", "until the session ends", "Given by alice", "for agent", "Used for 0 calls", "Answers what declaration asks"} {
		assert.Contains(t, list, part)
	}
	assert.NotContains(t, list, "Revoke", "an approver may not")
	require.Equal(t, runtime.Completed, r.call("send", "ada", "again").Kind)
	assert.Contains(t, alice.get("/grants").text, "Used for 1 call.")
	timed := r.ask("send", "bob", "x")
	review = alice.answer(timed, "decision", "approve", "grant", "duration", "for", "20m", "cover", "args", "where", "/to")
	require.Equal(t, http.StatusSeeOther, alice.post("/approvals/"+timed, hidden(review.text)).StatusCode)
	given, _ := r.Executor.Request(timed)
	assert.Contains(t, alice.get("/grants").text, "until "+r.Executor.Grants(action.GrantFilter{Live: true})[1].Expires.UTC().Format("2006-01-02 15:04:05 UTC"), given.ID)
	require.NoError(t, r.Executor.Revoke(t.Context(), timed, runtime.ProgramActor("test"), ""))
	assert.NotContains(t, r.as("mallory").get("/grants").text, "ada")
	assert.Equal(t, http.StatusForbidden, alice.post("/grants/"+id+"/revoke", url.Values{}).StatusCode)
	assert.Contains(t, olga.get("/grants").text, `action="/grants/`+id+`/revoke"`)
	require.Equal(t, http.StatusSeeOther, olga.post("/grants/"+id+"/revoke", url.Values{"reason": {"too wide"}}).StatusCode)
	assert.Empty(t, r.Executor.Grants(action.GrantFilter{Live: true}))
	p := olga.post("/grants/"+id+"/revoke", url.Values{})
	assert.Equal(t, http.StatusConflict, p.StatusCode)
	assert.Contains(t, p.text, "<code>already_resolved</code>")
	assert.Contains(t, olga.get("/grants").text, "There are no grants")
}

// TestTools: the catalog says what binds each tool, and what is declared and not enforced.
func TestTools(t *testing.T) {
	r := start(t)
	b := r.as("anyone")
	list := b.get("/tools")
	assert.Contains(t, list.text, `<a class="hit" href="/tools/burn">burn</a>`)
	assert.Contains(t, list.text, "(deprecated)")
	legible(t, list)
	one := b.get("/tools/file")
	legible(t, one)
	for _, part := range []string{
		"File &lt;b&gt;a&lt;/b&gt; letter", `\u{202E}it away`, "can be undone for 1 h 30 min", "<code>limits.memory</code>", "deprecated since 1.2",
		"The declaration asks nobody", "&lt;script&gt;",
	} {
		assert.Contains(t, one.text, part)
	}
	seal := b.get("/tools/seal").text
	assert.Contains(t, seal, "note or send")
	assert.Contains(t, seal, "1000 calls at most")
	assert.Contains(t, seal, `href="/calls?tool=seal">Calls of it</a>`)
	assert.Contains(t, seal, `href="/calls?tool=stamp">Calls under its earlier name stamp</a>`)
	assert.NotContains(t, one.text, "earlier name")
	send := b.get("/tools/send").text
	assert.Contains(t, send, "alice, bob, members of finance")
	assert.Contains(t, send, "Send {text} to {to}?")
	assert.Equal(t, http.StatusNotFound, b.get("/tools/none").StatusCode)
}
