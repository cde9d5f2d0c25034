package console

import (
	"net/http"
	"regexp"

	"github.com/ambit-tools/ambit/runtime/host/internal/httpguard"
)

// plainPath is a path that a shell takes as it is. A link may lead to any other, and the page shows a
// command to be copied.
var plainPath = regexp.MustCompile(`^/[A-Za-z0-9/._~%-]{0,500}$`)

// signIn tells who is not signed in how to sign in, and come back to the page.
func (p *pages) signIn(q *request) {
	r := httpguard.ProblemOf(httpguard.NotAuthenticated, "")
	if !wantsPage(q.Request) {
		r.Write(q.w)
		return
	}
	path := p.link.Home()
	if escaped := q.URL.EscapedPath(); q.Method == http.MethodGet && plainPath.MatchString(escaped) {
		path = escaped
	}
	// The cookie is not sent when a page of another site leads here. The reload is of this site.
	again := q.Method == http.MethodGet && q.Header.Get("Sec-Fetch-Site") == "cross-site"
	if again {
		q.w.Header().Set("Refresh", "0")
	}
	q.w.Header().Set("WWW-Authenticate", `Bearer realm="ambit"`)
	p.render(q, r.Status, "signin", "Sign in", struct {
		Path  string
		Again bool
	}{path, again})
}
