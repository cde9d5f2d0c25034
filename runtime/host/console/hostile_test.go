package console_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
)

// hostile texts try to become markup, to hide, to change the direction of writing, to pass themselves off
// as escaped, or to be so long that nothing else is seen.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'><svg onload=alert(1)>`, `<svg><a xlink:href="javascript:alert(1)">x</a></svg>`,
	`</pre></td></table><h1>Approved</h1>`, `</title><script>alert(1)</script>`, `<!-- `, `--><b>`, `<style>*{display:none}</style>`, `<form action=http://evil.example>`,
	`{{.}}`, `{{template "head" .}}`, `javascript:alert(1)`, `http://evil.example/`, `&lt;b&gt;`, `&#x202e;`, "a\u0000b",
	"\u202egnp.exe", "\u2066a\u2069", "\u061cb", "zero\u200bwidth\ufeff", "soft\u00adhyphen", "line\u2028para\u2029next\u0085", "\x1b[2J\x1b]0;t\x07", "\u009b31m",
	"cr\rlf\r\n", "tab\tbell\a", `\u{202E}`, "e\u0301\u0301\u0301\u0301\u0301\u0301", "\u3164\u115f\u2800", "\ufe0f\U000e0041", "\xff\xc0\x80",
	strings.Repeat("long ", 200_000),
}

// TestHostileText: whatever an agent says is text on a page, and nothing in it is invisible.
func TestHostileText(t *testing.T) {
	r := start(t)
	alice := r.as("alice")
	for i, text := range hostile {
		id := r.ask("pair", text, text)
		for _, path := range []string{"/", "/approvals/" + id, "/approvals/" + id + "/arguments"} {
			p := alice.get(path)
			require.Equal(t, http.StatusOK, p.StatusCode, "%d %s", i, path)
			legible(t, p)
		}
		edited := r.Executor.Decide(t.Context(), id, action.Answer{By: runtime.Actor{ID: "bob"}, Approve: true, Message: text, Edit: []byte(`{"to":"x","text":"y","pin":"z"}`)})
		require.Equal(t, "recorded", edited.Kind.String())
		legible(t, alice.get("/approvals/"+id))
		one := r.as(fmt.Sprint("dora", i), "finance") // alice would answer too often
		legible(t, one.answer(id, "decision", "approve", "grant", "session", "cover", "exact", "message", text))
		require.Equal(t, http.StatusSeeOther, one.answer(id, "decision", "deny", "message", text[:min(len(text), 1000)]).StatusCode)
		legible(t, alice.get("/approvals/"+id))
	}
	eve := r.as("eve", "audit")
	for _, path := range []string{"/calls", "/grants", "/calls?tool=%3Cscript%3E"} {
		legible(t, eve.get(path))
	}
	for i, text := range hostile {
		r.callAs(fmt.Sprint("hostile", i), "note", text, text)
		legible(t, eve.get(fmt.Sprint("/calls/s/hostile", i)))
		legible(t, eve.get(fmt.Sprint("/calls/s/hostile", i, "/arguments")))
	}
	r.callAs("../\u202e<b>", "note", "x", "y")
	legible(t, eve.get("/calls"))
	legible(t, eve.get("/calls/s/"+url.PathEscape("../\u202e<b>")))
	for _, path := range []string{"/?tool=%3Cscript%3E%E2%80%AE", "/%E2%80%AE<b>", "/?after=%E2%80%AE", "/approvals/%E2%80%AE%3Cb%3E"} {
		legible(t, alice.get(path))
		legible(t, r.browser("").get(path))
	}
	assert.Empty(t, r.reported.String())
}

// legible checks that a page has the markup of its templates alone, nothing that cannot be seen, and no
// more than a browser takes well.
func legible(t *testing.T, p *page) {
	t.Helper()
	const most = 300_000
	require.True(t, utf8.ValidString(p.text))
	for _, c := range p.text {
		bad := c < ' ' && c != '\n' || c >= 0x7f && c < 0xa1 || c >= 0x2000 && c <= 0x200f || c >= 0x2028 && c <= 0x202f || c >= 0x2060 && c <= 0x206f || c == 0xfeff || c == 0xad || c == 0x61c || c >= 0xe0000
		if bad {
			t.Fatalf("%U is in %s", c, p.Request.URL)
		}
	}
	if !strings.HasPrefix(p.Header.Get("Content-Type"), "text/html") {
		return
	}
	require.Less(t, len(p.text), most, p.Request.URL)
	require.Len(t, ownScript.FindAllString(p.text, -1), 1)
	lower := strings.ToLower(ownScript.ReplaceAllString(p.text, ""))
	for _, tag := range []string{"<script", "<svg", "<img", "<style", "<b>", "<!--", "<h1>approved", "<form action", "href=\"javascript", "href=\"http", "onerror=alert(1)>", "action=\"http"} {
		require.NotContains(t, lower, tag, p.Request.URL)
	}
	require.Equal(t, 1, strings.Count(lower, "<h1>"))
	require.Equal(t, 1, strings.Count(lower, "<title>"))
}

// TestEscapedAsTheTerminalDoes: what changes the direction of writing is written out, and what looks so
// already is not taken for it.
func TestEscapedAsTheTerminalDoes(t *testing.T) {
	r := start(t)
	id := r.ask("send", "evil\u202etxt.exe", `\u{202E}`)
	text := r.as("alice").get("/approvals/" + id).text
	assert.Contains(t, text, `<pre>evil\u{202E}txt.exe</pre>`)
	assert.Contains(t, text, `<pre>\u{5C}u{202E}</pre>`)
}
