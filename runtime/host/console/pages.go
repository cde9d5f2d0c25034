package console

import (
	"net/http"
	"net/url"

	"github.com/ambit-tools/ambit/internal/replan"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host"
	"github.com/ambit-tools/ambit/runtime/host/internal/httpguard"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// pages are what a console serves. Its methods are safe for concurrent use.
type pages struct {
	host   *host.Host
	exec   *engine.Executor
	store  *sqlite.Store
	link   links
	title  string
	report func(error)
	limit  httpguard.Limiter

	verification verification
	programs     replan.Programs
}

// A request is one for a page, and who sends it.
type request struct {
	w http.ResponseWriter
	*http.Request
	query url.Values    // admit has read it; nil for the page that says how to sign in
	by    runtime.Actor // as it was authenticated; the zero value for the page that says how to sign in
}

// mayAudit reports whether the viewer may read the journal of a target.
func (p *pages) mayAudit(q *request, of runtime.ActTarget) bool {
	return p.exec.May(q.Context(), runtime.ActAudit, q.by, of) == nil
}

// id returns the text of a wildcard of the route.
func (q *request) id(name string) string { return whole(q.PathValue(name)) }
