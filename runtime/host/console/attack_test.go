package console_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// TestEveryPageHasTheHeaders: no answer may be framed, cached, or run a script of another site, whatever
// its status.
func TestEveryPageHasTheHeaders(t *testing.T) {
	r := start(t)
	id := r.ask("send", "ada", "x")
	alice, mallory, nobody := r.as("alice"), r.as("mallory"), r.browser("")
	for status, list := range map[int][]*page{
		200: {alice.get("/calls"), alice.get("/grants"), alice.get("/tools"), alice.get("/tools/send"), alice.get("/"), alice.get("/approvals/" + id), alice.get("/approvals/" + id + "/arguments"), alice.get("/", "Accept", "application/json")},
		400: {alice.get("/?after=x"), alice.post("/approvals/"+id, url.Values{})},
		401: {nobody.get("/"), nobody.get("/approvals/" + id), nobody.post("/approvals/"+id, url.Values{}), nobody.get("/nothing", "Accept", "*/*")},
		403: {mallory.get("/approvals/" + id), mallory.post("/approvals/"+id, url.Values{"decision": {"deny"}})},
		404: {alice.get("/nothing"), alice.get("/nothing", "Accept", "*/*"), alice.get("/static/x/console.css")},
		405: {alice.do(http.MethodPut, "/approvals/"+id, nil), alice.post("/", url.Values{})},
		409: {alice.post("/approvals/"+id, url.Values{"decision": {"approve"}, "binding": {strings.Repeat("0", 64)}})},
		303: {alice.post("/approvals/"+id, url.Values{"decision": {"deny"}})},
	} {
		for _, p := range list {
			assert.Equal(t, status, p.StatusCode, p.Request.URL)
			csp := p.Header.Get("Content-Security-Policy")
			for _, part := range []string{"default-src 'none'", "frame-ancestors 'none'", "form-action 'self'", "base-uri 'none'", "script-src 'self'", "require-trusted-types-for 'script'"} {
				assert.Contains(t, csp, part, p.Request.URL)
			}
			assert.NotContains(t, csp, "unsafe")
			for name, value := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store"} {
				assert.Equal(t, value, p.Header.Get(name), "%s of %s", name, p.Request.URL)
			}
			assert.NotContains(t, p.text, "style=", "the policy forbids it")
			assert.NotContains(t, ownScript.ReplaceAllString(p.text, ""), "<script")
		}
	}
}

// TestNothingChangesByGet: no page does anything, with whatever parameters.
func TestNothingChangesByGet(t *testing.T) {
	r := start(t)
	id := r.ask("send", "ada", "x")
	r.callAs("c1", "file", "ada", "x")
	alice := r.as("alice", "operators")
	before, err := r.Store.Head(t.Context())
	require.NoError(t, err)
	all := "?decision=approve&grant=session&cover=tool&reviewed=x&binding=" + hidden(alice.get("/approvals/"+id).text).Get("binding")
	for _, path := range []string{
		"/", "/ended", "/approvals/" + id, "/approvals/" + id + "/arguments", "/calls", "/runs/x", "/calls/s/c1", "/calls/s/c1/undo", "/calls/s/c1/cancel", "/calls/s/c1/resolve", "/calls/s/c1/artifact",
		"/grants", "/grants/" + id + "/revoke", "/tools", "/tools/file", "/audit", "/audit/1", "/audit/export", "/audit/verify", "/health",
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			alice.do(method, path+all, nil)
			alice.do(method, path+"?decision=deny", nil)
		}
	}
	after, err := r.Store.Head(t.Context())
	require.NoError(t, err)
	assert.Equal(t, before, after)
	assert.Equal(t, "open", r.status(id))
}

// TestCrossSite: a page of another site answers nothing, and reads nothing.
func TestCrossSite(t *testing.T) {
	r := start(t)
	id := r.ask("send", "ada", "x")
	alice := r.as("alice")
	form := url.Values{"decision": {"deny"}}
	for _, headers := range [][]string{
		{"Sec-Fetch-Site", "cross-site"},
		{"Sec-Fetch-Site", "same-site"},
		{"Sec-Fetch-Site", "", "Origin", "http://evil.example"},
		{"Sec-Fetch-Site", "", "Origin", "null"},
		{"Sec-Fetch-Site", "cross-site", "Origin", "http://" + r.Addr().String()},
	} {
		assert.Equal(t, http.StatusForbidden, alice.post("/approvals/"+id, form, headers...).StatusCode, headers)
	}
	assert.Equal(t, http.StatusMisdirectedRequest, alice.get("/", "Host", "evil.example").StatusCode, "a name that leads here by DNS")
	assert.Equal(t, http.StatusForbidden, alice.get("/", "Origin", "http://evil.example").StatusCode)
	assert.Equal(t, http.StatusForbidden, alice.get("/stream", "Origin", "http://evil.example", "Connection", "Upgrade", "Upgrade", "websocket").StatusCode)
	assert.Equal(t, "open", r.status(id))
	assert.Equal(t, http.StatusSeeOther, alice.post("/approvals/"+id, form).StatusCode, "a form of this page")
}

// TestWhoAnswers: who answers is who is signed in, whatever a form says, and whom neither the request nor the
// operator policy admits changes nothing.
func TestWhoAnswers(t *testing.T) {
	r := start(t)
	id := r.ask("send", "ada", "x")
	binding := hidden(r.as("alice").get("/approvals/" + id).text).Get("binding")
	form := url.Values{"decision": {"approve"}, "binding": {binding}, "by": {"alice"}, "id": {"alice"}, "groups": {"finance"}}
	for name, b := range map[string]*browser{
		"another group": r.as("carol", "support"), "the principal": r.as("agent", "finance"), "a viewer": r.as("eve", "audit"), "nobody": r.browser(""),
		"who is named like a group": r.as("finance"),
	} {
		p := b.post("/approvals/"+id, form)
		assert.Contains(t, []int{http.StatusForbidden, http.StatusUnauthorized}, p.StatusCode, name)
		assert.Equal(t, "open", r.status(id), name)
	}
	p := r.as("agent", "finance", "audit").get("/approvals/" + id)
	assert.Contains(t, p.text, "on your behalf")
	assert.NotContains(t, p.text, `value="approve"`)
	p = r.as("eve", "audit").get("/approvals/" + id)
	assert.Contains(t, p.text, "Answers are wanted from alice, bob, members of finance.")
	require.Equal(t, http.StatusSeeOther, r.as("dora", "finance").post("/approvals/"+id, form).StatusCode)
	q, _ := r.Executor.Request(id)
	require.Len(t, q.Votes, 1)
	assert.Equal(t, "dora", q.Votes[0].By)
}

// TestRevealedStaysInside: a sensitive value is on the pages of who may answer, and on no page of another
// viewer, as HTML, JSON or text.
func TestRevealedStaysInside(t *testing.T) {
	r := start(t)
	id := r.ask("send", "ada", "x")
	require.Equal(t, runtime.Completed, r.callAs("c1", "note", "ada", "x").Kind)
	q, _ := r.Executor.Request(id)
	paths := []string{
		"/", "/ended", "/approvals/" + id, "/approvals/" + id + "/arguments", "/calls", "/calls/s/c1", "/calls/s/c1/arguments", "/calls/s/" + q.CallID, "/grants", "/tools/send", "/audit", "/audit/export", "/audit/3", "/health", "/runs/" + q.Run,
	}
	for _, b := range []*browser{r.as("eve", "audit"), r.as("mallory"), r.as("agent"), r.browser("")} {
		for _, path := range paths {
			for _, accept := range []string{"text/html", "application/json", "*/*"} {
				assert.NotContains(t, b.get(path, "Accept", accept).text, secret, path)
			}
		}
	}
	alice := r.as("alice")
	assert.Contains(t, alice.get("/approvals/"+id).text, secret)
	assert.Contains(t, alice.streamed(secret), secret, "who may answer reads it in approval.shown")
	events := r.as("eve", "audit").streamed(`"type":"tool.completed"`)
	assert.Contains(t, events, `"type":"approval.requested"`)
	assert.Contains(t, events, `"type":"tool.completed"`)
	assert.NotContains(t, events, secret)
	assert.Contains(t, alice.socket(secret), secret, "who may answer reads it on the stream, too")
	for _, viewer := range []*browser{r.as("eve", "audit"), r.as("mallory"), r.as("agent")} {
		// The reply to a message after it ends what a viewer gets who may see no event.
		events = viewer.socket(`"id":"last"`)
		assert.NotContains(t, events, secret)
		assert.Contains(t, events, `"type":"reply"`)
	}
	events = r.as("eve", "audit").socket(`"type":"tool.completed"`)
	assert.Contains(t, events, `"type":"approval.requested"`)
	assert.NotContains(t, events, secret)
	require.Equal(t, http.StatusSeeOther, alice.answer(id, "decision", "deny").StatusCode)
	for _, path := range paths {
		assert.NotContains(t, alice.get(path).text, secret, "the call is over")
	}
	assert.NotContains(t, r.reported.String()+r.printed.String(), secret)
}

// streamed reads the events of the host from the first one, until a line has last.
func (b *browser) streamed(last string) string {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context()) // the stream has no end of its own
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+b.Addr().String()+"/events?after=0", nil)
	require.NoError(b, err)
	if b.token != "" {
		req.Header.Set("Authorization", "Bearer "+b.token)
	}
	res, err := b.client.Do(req)
	require.NoError(b, err)
	defer func() { _ = res.Body.Close() }()
	var text strings.Builder
	for s := bufio.NewScanner(res.Body); s.Scan(); {
		text.WriteString(s.Text() + "\n")
		if strings.Contains(s.Text(), last) {
			break
		}
	}
	return text.String()
}

// socket reads what the WebSocket of the host sends from the first entry on, until a message has last. It asks
// after a request that there is not, under the id last.
func (b *browser) socket(last string) string {
	b.Helper()
	conn, _, err := websocket.Dial(b.Context(), "ws://"+b.Addr().String()+"/stream", &websocket.DialOptions{
		HTTPClient: &b.client, HTTPHeader: http.Header{"Authorization": {"Bearer " + b.token}},
	})
	require.NoError(b, err)
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(-1)
	for _, message := range []string{`{"type":"subscribe","after":0}`, `{"type":"approval.decide","id":"last","request":"no such","approve":false}`} {
		require.NoError(b, conn.Write(b.Context(), websocket.MessageText, []byte(message)))
	}
	var text strings.Builder
	for {
		_, message, err := conn.Read(b.Context())
		require.NoError(b, err)
		text.Write(message)
		if text.WriteByte('\n'); strings.Contains(string(message), last) {
			return text.String()
		}
	}
}

// TestRacing: of several clients that answer at once one is taken.
func TestRacing(t *testing.T) {
	r := start(t)
	id := r.ask("send", "ada", "x")
	alice := r.as("alice")
	binding := hidden(alice.get("/approvals/" + id).text).Get("binding")
	var wg sync.WaitGroup
	var mu sync.Mutex
	got := map[int]int{}
	for i := range 10 {
		decision := []string{"approve", "deny"}[i%2]
		b := r.as(fmt.Sprintf("racer%d", i), "finance")
		wg.Go(func() {
			p := b.post("/approvals/"+id, url.Values{"decision": {decision}, "binding": {binding}})
			mu.Lock()
			defer mu.Unlock()
			got[p.StatusCode]++
		})
	}
	wg.Wait()
	assert.Equal(t, map[int]int{http.StatusSeeOther: 1, http.StatusConflict: 9}, got)
}

// TestLateAnswer: an answer after the time of a request is told so, and the page says how it ended.
func TestLateAnswer(t *testing.T) {
	r := start(t)
	r.call("brief", "ada", "x")
	id := ""
	entries, err := r.Store.Read(t.Context(), 0, 100)
	require.NoError(t, err)
	for i := range entries {
		record, err := journal.Decode(entries[i].Leaf)
		require.NoError(t, err)
		if record.Request != "" {
			id = record.Request
		}
	}
	require.NotEmpty(t, id)
	alice := r.as("alice")
	p := alice.post("/approvals/"+id, url.Values{"decision": {"deny"}})
	assert.Equal(t, http.StatusGone, p.StatusCode)
	assert.Contains(t, p.text, "<code>expired</code>")
	q, _ := r.Executor.Request(id)
	assert.Equal(t, consent.StatusExpired, q.Status)
	p = alice.get("/approvals/" + id)
	assert.Contains(t, p.text, "expired: nobody answered in time")
	assert.NotContains(t, p.text, `value="deny"`)
}

// TestManyAnswers: an identity that answers too fast is slowed down, and no other one.
func TestManyAnswers(t *testing.T) {
	r := start(t)
	id := r.ask("send", "ada", "x")
	alice := r.as("alice")
	refused := 0
	for range 200 { // a second gives one more: a slow machine gives a few
		if p := alice.post("/approvals/"+id, url.Values{}); p.StatusCode == http.StatusTooManyRequests {
			assert.Equal(t, "1", p.Header.Get("Retry-After"))
			assert.Contains(t, p.text, "<code>too_many_requests</code>")
			refused++
			break
		}
	}
	if refused == 0 {
		t.Log("200 answers took so long that none was refused")
	}
	assert.Equal(t, http.StatusBadRequest, r.as("bob").post("/approvals/"+id, url.Values{}).StatusCode)
}

var ticketOf = regexp.MustCompile(`http://[^ ]*/login\?ticket=[A-Z0-9]+`)

// TestSignIn: a deep link without a cookie shows the command that prints a URL, and the URL leads back to the
// page. It works once, and is in no page, log or address after that.
func TestSignIn(t *testing.T) {
	r := start(t)
	id := r.ask("send", "ada", "x")
	b := r.browser("")
	p := b.get("/approvals/" + id)
	assert.Equal(t, http.StatusUnauthorized, p.StatusCode)
	assert.Contains(t, p.text, "ambit console open --path '/approvals/"+id+"'<")
	assert.Empty(t, p.Header.Get("Refresh"))
	assert.Equal(t, "0", b.get("/approvals/"+id, "Sec-Fetch-Site", "cross-site").Header.Get("Refresh"), "the cookie comes with the reload")
	for _, path := range []string{"/approvals/$(reboot)", "/approvals/%27;reboot;%27", "/approvals/`x`", "/approvals/a%0ab", "/x?y=$(z)"} {
		p := b.get(path)
		assert.Equal(t, http.StatusUnauthorized, p.StatusCode)
		for _, bad := range []string{"$(", "reboot", "`", "\nb"} {
			assert.NotContains(t, p.text, bad, path)
		}
	}
	assert.Equal(t, "application/problem+json", b.get("/", "Accept", "application/json").Header.Get("Content-Type"))

	printed := ticketOf.FindString(r.printed.String())
	require.NotEmpty(t, printed, "the URL is printed at the start")
	own := r.OwnLoginURL("/approvals/" + id)
	for i, address := range []string{printed, own} {
		u, err := url.Parse(address)
		require.NoError(t, err)
		in := b.get(u.RequestURI())
		require.Equal(t, http.StatusSeeOther, in.StatusCode)
		assert.Equal(t, []string{"/", "/approvals/" + id}[i], in.Header.Get("Location"))
		assert.Equal(t, http.StatusUnauthorized, r.browser("").get(u.RequestURI()).StatusCode, "it is used")
		p = b.get(in.Header.Get("Location"))
		assert.Equal(t, http.StatusOK, p.StatusCode)
		assert.Contains(t, p.text, "owner (admins), by owner")
		ticket := u.Query().Get("ticket")
		assert.NotContains(t, p.text+r.reported.String()+fmt.Sprint(p.Header, in.Header), ticket)
	}

	out := b.post("/logout", url.Values{"to": {"/"}})
	assert.Equal(t, http.StatusSeeOther, out.StatusCode)
	assert.Equal(t, http.StatusUnauthorized, b.get("/").StatusCode)
}
