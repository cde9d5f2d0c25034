package console_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/host/console"
)

// TestApprovals: a person finds what waits, sees what it would do, and lets it run or not.
func TestApprovals(t *testing.T) {
	r := start(t)
	alice := r.as("alice")
	assert.Contains(t, alice.get("/").text, "Nothing waits for an answer")
	id := r.ask("send", "ada", "two\nlines")
	list := alice.get("/")
	assert.Equal(t, http.StatusOK, list.StatusCode)
	assert.Contains(t, list.text, `<a href="/approvals/`+id+`">Send a letter</a>`)
	assert.Contains(t, list.text, "Send two lines to ada?")
	assert.Contains(t, list.text, "0 of 1 approval given. You may answer.")
	one := alice.get("/approvals/" + id)
	for _, part := range []string{"waits for an answer", "<code>/to</code>", "<pre>ada</pre>", "<pre>two\nlines</pre>", "alice, bob, members of finance", "cannot be undone", `<button class="no" data-key="d" name="decision" value="deny">`, secret} {
		assert.Contains(t, one.text, part)
	}
	done := alice.answer(id, "decision", "approve")
	require.Equal(t, http.StatusSeeOther, done.StatusCode)
	require.Equal(t, "/approvals/"+id, done.Header.Get("Location"))
	q, _ := r.Executor.Request(id)
	assert.Equal(t, runtime.Completed, r.Executor.Await(t.Context(), "s", q.CallID).Kind)
	ended := alice.get("/approvals/" + id).text
	assert.Contains(t, ended, "approved, and the call has started")
	assert.NotContains(t, ended, `value="approve"`)

	id = r.ask("send", "ada", "x")
	require.Equal(t, http.StatusSeeOther, alice.answer(id, "decision", "deny", "message", "not today").StatusCode)
	q, _ = r.Executor.Request(id)
	out := r.Executor.Await(t.Context(), "s", q.CallID)
	assert.Equal(t, runtime.ReasonConsentDenied, out.Reason)
	assert.Contains(t, out.Message, "not today")
	assert.Contains(t, alice.get("/approvals/"+id).text, "<strong data-say>denied</strong>")
	assert.Empty(t, r.reported.String())
}

// TestEnded: a request that was answered is listed with how it ended, to who may see it.
func TestEnded(t *testing.T) {
	r := start(t)
	alice := r.as("alice")
	assert.Contains(t, alice.get("/ended").text, "There are none")
	var ids []string
	for i := range 52 {
		ids = append(ids, r.ask("send", "ada", "x"))
		b := r.as("dora"+strconv.Itoa(i/25), "finance")
		require.Equal(t, http.StatusSeeOther, b.answer(ids[i], "decision", "deny").StatusCode)
	}
	first := alice.get("/ended").text
	assert.Equal(t, 50, strings.Count(first, "<strong>denied</strong>"))
	assert.Contains(t, first, ids[51])
	assert.NotContains(t, first, `/approvals/`+ids[1]+`"`)
	second := alice.get("/ended?before=" + ids[2]).text
	assert.Equal(t, 2, strings.Count(second, "<strong>denied</strong>"))
	assert.NotContains(t, r.as("mallory").get("/ended").text, "denied")
	assert.Contains(t, alice.get("/ended", "Accept", "application/json").text, `"status":"denied"`)
}

// TestFilters: the list has what its URL asks for, those that expire first before the others, and a page of
// many leads to the next one.
func TestFilters(t *testing.T) {
	r := start(t)
	alice := r.as("alice")
	var sent []string
	for range 60 {
		sent = append(sent, r.ask("send", "ada", "x"))
	}
	burned := r.ask("burn", "ada", "x")
	links := func(path string) (ids []string, next string) {
		p := alice.get(path)
		require.Equal(t, http.StatusOK, p.StatusCode)
		for part := range strings.SplitSeq(p.text, `<h2><a href="/approvals/`) {
			if id, rest, ok := strings.Cut(part, `"`); ok && strings.HasPrefix(rest, ">") && len(id) < 60 {
				ids = append(ids, id)
			}
		}
		if _, rest, ok := strings.Cut(p.text, `href="/?`); ok {
			query, _, _ := strings.Cut(rest, `"`)
			next = "/?" + strings.ReplaceAll(query, "&amp;", "&")
		}
		return ids, next
	}
	first, next := links("/")
	assert.Equal(t, sent[:50], first)
	second, last := links(next)
	assert.Equal(t, append(sent[50:60:60], burned), second)
	assert.Empty(t, last)
	only, _ := links("/?effect=destructive")
	assert.Equal(t, []string{burned}, only)
	only, _ = links("/?tool=burn&session=s")
	assert.Equal(t, []string{burned}, only)
	only, _ = links("/?session=other")
	assert.Empty(t, only)
	only, next = links("/?tool=send&mine=on")
	assert.Equal(t, sent[:50], only)
	assert.Contains(t, next, "mine=on")
	assert.Contains(t, next, "tool=send")
	assert.Equal(t, http.StatusBadRequest, alice.get("/?after=x").StatusCode)
	p := r.as("mallory").get("/")
	assert.Contains(t, p.text, "Nothing waits for an answer that you may see")
	assert.Contains(t, r.as("eve", "audit").get("/?mine=on").text, "Nothing that the filter wants")
}

// TestReviewShowsWhatIsStored: a grant is stored when its approver has seen its words, and an approval of
// what destroys something counts when it comes a second time.
func TestReviewShowsWhatIsStored(t *testing.T) {
	r := start(t)
	alice := r.as("alice")
	id := r.ask("send", "ada", "x")
	review := alice.answer(id, "decision", "approve", "grant", "duration", "for", "10m", "cover", "args", "where", "/to", "message", "fine")
	require.Equal(t, http.StatusOK, review.StatusCode)
	assert.Contains(t, review.text, "alice lets calls of send in which /to is &#34;ada&#34; by agent run for 10 min. It answers what declaration asks")
	assert.Equal(t, "open", r.status(id))
	assert.Empty(t, r.Executor.Grants(action.GrantFilter{}))

	wider := hidden(review.text)
	wider.Set("cover", "tool")
	wider.Del("where")
	require.Equal(t, http.StatusOK, alice.post("/approvals/"+id, wider).StatusCode, "its words were not seen")
	assert.Equal(t, "open", r.status(id))

	require.Equal(t, http.StatusSeeOther, alice.post("/approvals/"+id, hidden(review.text)).StatusCode)
	grants := r.Executor.Grants(action.GrantFilter{})
	require.Len(t, grants, 1)
	assert.Equal(t, []any{runtime.CoverArgs, "/to", `"ada"`, "fine"}, []any{grants[0].Cover, grants[0].Where[0].Member, string(grants[0].Where[0].Value), grants[0].Reason})
	assert.Equal(t, runtime.Completed, r.call("send", "ada", "y").Kind, "the grant answers")

	id = r.ask("burn", "ada", "x")
	review = alice.answer(id, "decision", "approve")
	require.Equal(t, http.StatusOK, review.StatusCode)
	assert.Contains(t, review.text, "destroys something")
	assert.Equal(t, "open", r.status(id))
	require.Equal(t, http.StatusSeeOther, alice.post("/approvals/"+id, hidden(review.text)).StatusCode)
	assert.NotEqual(t, "open", r.status(id))
}

// TestConditionsOnPage: an approver writes the conditions of a grant that no member of the call has as its value.
func TestConditionsOnPage(t *testing.T) {
	r := start(t)
	alice := r.as("alice")
	id := r.ask("send", "ada", "docs/a.md")
	for condition, want := range map[string]string{
		`text below`: "is not a member, a comparison and a JSON value", `text prefix "https://docs"`: "compare by url", `pin eq "1"`: "sensitive member",
	} {
		p := alice.answer(id, "decision", "approve", "grant", "session", "cover", "args", "condition", condition)
		assert.Equal(t, 400, p.StatusCode, condition)
		assert.Contains(t, p.text, want, condition)
	}
	review := alice.answer(id, "decision", "approve", "grant", "session", "cover", "args", "where", "/to", "condition", `text below "docs"`)
	require.Equal(t, http.StatusOK, review.StatusCode)
	assert.Contains(t, review.text, "in which /to is &#34;ada&#34; and text is below the folder &#34;docs&#34; by agent")
	require.Equal(t, http.StatusSeeOther, alice.post("/approvals/"+id, hidden(review.text)).StatusCode)
	assert.Equal(t, runtime.Completed, r.call("send", "ada", "docs/b.md").Kind)
	assert.Contains(t, alice.get("/grants").text, "text is below the folder &#34;docs&#34;")
}

// TestBadAnswers: an answer that says too little or too much records nothing, and says why.
func TestBadAnswers(t *testing.T) {
	r := start(t)
	alice := r.as("alice")
	for _, c := range []struct {
		tool   string
		fields []string
		status int
		code   string
	}{
		{"send", nil, 400, "no_decision"},
		{"send", []string{"decision", "yes"}, 400, "bad_request"},
		{"send", []string{"decision", "approve", "grant", "forever"}, 400, "bad_request"},
		{"send", []string{"decision", "approve", "grant", "duration", "for", "soon"}, 400, "bad_request"},
		{"send", []string{"decision", "approve", "grant", "duration", "for", "-1h"}, 400, "bad_request"},
		{"send", []string{"decision", "approve", "grant", "session", "cover", "all"}, 400, "bad_request"},
		{"send", []string{"decision", "approve", "grant", "session", "cover", "args"}, 400, "bad_request"},
		{"send", []string{"decision", "approve", "grant", "session", "cover", "args", "where", "/pin"}, 400, "bad_request"},
		{"send", []string{"decision", "approve", "message", strings.Repeat("x", 70<<10)}, 413, "too_large"},
	} {
		id := r.ask(c.tool, "ada", "x")
		p := alice.answer(id, c.fields...)
		assert.Equal(t, c.status, p.StatusCode, c.fields)
		assert.Contains(t, p.text, "<code>"+c.code+"</code>", c.fields)
		assert.Equal(t, "open", r.status(id), c.fields)
	}
	id := r.ask("exact", "ada", "x")
	p := alice.answer(id, "decision", "approve", "grant", "session", "cover", "tool")
	assert.Equal(t, []any{422, true}, []any{p.StatusCode, strings.Contains(p.text, "grant_too_wide")})
	assert.Equal(t, "open", r.status(id))
	p = alice.post("/approvals/"+id, url.Values{"decision": {"approve"}})
	assert.Equal(t, http.StatusBadRequest, p.StatusCode, "it does not say which arguments were shown")
	p = alice.post("/approvals/"+id, url.Values{"decision": {"deny"}}, "Content-Type", "text/plain")
	assert.Equal(t, http.StatusBadRequest, p.StatusCode)
	assert.Equal(t, "open", r.status(id))
}

// TestTwoTabs: an approval of a page that shows other arguments than those that an edit has proposed since
// is not taken, and the page shows the new ones.
func TestTwoTabs(t *testing.T) {
	r := start(t)
	alice, bob := r.as("alice"), r.as("bob")
	id := r.ask("pair", "ada", "x")
	stale := hidden(alice.get("/approvals/" + id).text).Get("binding")
	res := r.Executor.Decide(t.Context(), id, action.Answer{By: runtime.Actor{ID: "bob", Method: "token"}, Approve: true, Edit: []byte(`{"to":"mallory","text":"x","pin":"1"}`)})
	require.Equal(t, runtime.ResolutionRecorded, res.Kind)
	p := alice.post("/approvals/"+id, url.Values{"decision": {"approve"}, "binding": {stale}})
	assert.Equal(t, http.StatusConflict, p.StatusCode)
	assert.Contains(t, p.text, "<code>changed</code>")
	assert.Contains(t, p.text, "mallory")
	assert.Contains(t, p.text, "bob has edited the arguments")
	q, _ := r.Executor.Request(id)
	assert.Equal(t, 1, q.Missing())
	require.Equal(t, http.StatusSeeOther, alice.answer(id, "decision", "approve").StatusCode)
	p = bob.answer(id, "decision", "deny")
	assert.Equal(t, http.StatusConflict, p.StatusCode)
	assert.Contains(t, p.text, "<code>already_resolved</code>")
}

// TestPrograms: a program gets JSON and problem details, and its answer is an answer like any other.
func TestPrograms(t *testing.T) {
	r := start(t)
	alice := r.as("alice")
	id := r.ask("send", "ada", "x")
	p := alice.get("/", "Accept", "application/json")
	assert.Equal(t, "application/json", p.Header.Get("Content-Type"))
	assert.Contains(t, p.text, `"id":"`+id+`"`)
	assert.Contains(t, alice.get("/approvals/"+id, "Accept", "application/json").text, `"may_decide":true`)
	for path, want := range map[string]int{"/nothing": 404, "/approvals/none": 403, "/?after=x": 400} {
		p := alice.get(path, "Accept", "*/*")
		assert.Equal(t, want, p.StatusCode, path)
		assert.Equal(t, "application/problem+json", p.Header.Get("Content-Type"), path)
	}
	p = alice.post("/approvals/"+id, url.Values{}, "Accept", "application/json")
	assert.Contains(t, p.text, `"code":"no_decision"`)
	p = alice.get("/approvals/" + id + "/arguments")
	assert.Equal(t, "text/plain; charset=utf-8", p.Header.Get("Content-Type"))
	assert.Contains(t, p.text, secret)
	p = alice.do(http.MethodDelete, "/approvals/"+id, nil)
	assert.Equal(t, http.StatusMethodNotAllowed, p.StatusCode)
	assert.Equal(t, "GET, HEAD, POST", p.Header.Get("Allow"))
}

// TestProgramsAnswer: a program sends the forms of the pages and gets JSON: the messages with their arguments, what has to be
// reviewed, and the request as its answer has left it.
func TestProgramsAnswer(t *testing.T) {
	r := start(t)
	alice := r.as("alice")
	type request struct {
		Status, Message, Binding, Reviewed, Words string
	}
	read := func(p *page) (q request) {
		require.Equal(t, http.StatusOK, p.StatusCode, p.text)
		require.NoError(t, json.Unmarshal([]byte(p.text), &q))
		return q
	}
	program := []string{"Accept", "application/json"}
	id := r.ask("send", "ada", "x")
	asked := read(alice.get("/approvals/"+id, program...))
	assert.Equal(t, "open", asked.Status)
	assert.NotContains(t, asked.Message, "{")
	assert.Contains(t, asked.Message, "ada")
	form := url.Values{"decision": {"approve"}, "binding": {asked.Binding}}
	assert.Contains(t, []string{"approved", "used"}, read(alice.post("/approvals/"+id, form, program...)).Status)

	id = r.ask("burn", "ada", "x")
	form = url.Values{"decision": {"approve"}, "binding": {read(alice.get("/approvals/"+id, program...)).Binding}}
	review := read(alice.post("/approvals/"+id, form, program...))
	assert.Contains(t, review.Words, "destroys something")
	assert.NotEmpty(t, review.Reviewed)
	form.Set("reviewed", review.Reviewed)
	read(alice.post("/approvals/"+id, form, program...))

	id = r.ask("send", "bob", "x")
	assert.Equal(t, "denied", read(alice.post("/approvals/"+id, url.Values{"decision": {"deny"}}, program...)).Status)
}

// TestPrefix: a console below a path serves all of its pages there, and leaves the rest to the host.
func TestPrefix(t *testing.T) {
	r := start(t, func(o *console.Options) { o.Prefix, o.Title = "/ambit/", "Post office" })
	alice := r.as("alice")
	id := r.ask("send", "ada", "x")
	list := alice.get("/ambit/")
	assert.Contains(t, list.text, `<a href="/ambit/approvals/`+id+`">`)
	assert.Contains(t, list.text, "Post office")
	p := alice.get("/ambit/approvals/" + id)
	require.Equal(t, http.StatusOK, p.StatusCode)
	_, rest, _ := strings.Cut(p.text, `<link rel="stylesheet" href="`)
	style, _, _ := strings.Cut(rest, `"`)
	assert.Equal(t, "text/css; charset=utf-8", alice.get(style).Header.Get("Content-Type"))
	assert.Equal(t, http.StatusNotFound, alice.get("/").StatusCode)
	p = alice.post("/ambit/approvals/"+id, url.Values{"decision": {"deny"}})
	assert.Equal(t, "/ambit/approvals/"+id, p.Header.Get("Location"))
}
