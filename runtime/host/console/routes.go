package console

import (
	"net/http"

	"github.com/ambit-tools/ambit/runtime/host/internal/httpguard"
	"github.com/ambit-tools/ambit/runtime/host/stream"
)

// A route is a page, or what a form does. Only a route by POST changes something.
type route struct {
	method, path string // below the prefix
	serve        func(*pages, *request) error
}

var routes = []route{
	{http.MethodGet, "/{$}", (*pages).approvals},
	{http.MethodGet, "/ended", (*pages).ended},
	{http.MethodGet, "/approvals/{id}", (*pages).approval},
	{http.MethodGet, "/approvals/{id}/arguments", (*pages).arguments},
	{http.MethodPost, "/approvals/{id}", (*pages).answer},
	{http.MethodGet, "/calls", (*pages).calls},
	{http.MethodGet, "/calls/{session}/{call}", (*pages).call},
	{http.MethodGet, "/calls/{session}/{call}/arguments", (*pages).callArguments},
	{http.MethodGet, "/calls/{session}/{call}/undo", (*pages).undoReview},
	{http.MethodPost, "/calls/{session}/{call}/undo", (*pages).undo},
	{http.MethodPost, "/calls/{session}/{call}/cancel", (*pages).cancel},
	{http.MethodPost, "/calls/{session}/{call}/resolve", (*pages).resolve},
	{http.MethodGet, "/calls/{session}/{call}/artifact", (*pages).artifact},
	{http.MethodGet, "/runs/{run}", (*pages).run},
	{http.MethodGet, "/grants", (*pages).grants},
	{http.MethodPost, "/grants/{id}/revoke", (*pages).revoke},
	{http.MethodGet, "/audit", (*pages).journal},
	{http.MethodGet, "/audit/export", (*pages).export},
	{http.MethodGet, "/audit/{seq}", (*pages).entry},
	{http.MethodPost, "/audit/verify", (*pages).verify},
	{http.MethodGet, "/health", (*pages).health},
	{http.MethodGet, "/tools", (*pages).tools},
	{http.MethodGet, "/tools/{name}", (*pages).tool},
}

// newMux returns the handler of all routes.
func newMux(p *pages) *http.ServeMux {
	mux := http.NewServeMux()
	for _, r := range routes {
		mux.HandleFunc(r.method+" "+p.link.prefix+r.path, func(w http.ResponseWriter, req *http.Request) {
			caller, _ := stream.CallerOf(req) // the guard has let it pass
			q := &request{w: w, Request: req, by: caller.Actor}
			err := p.admit(q)
			if err == nil {
				err = r.serve(p, q)
			}
			if err != nil {
				p.refuse(q, err)
			}
		})
	}
	mux.HandleFunc("GET "+p.link.prefix+"/static/", serveAsset)
	return mux
}

var _ httpguard.Refuser = (*console)(nil)

// A console is the handler of all that is below the prefix.
type console struct {
	pages *pages
	mux   *http.ServeMux
}

// ServeHTTP implements http.Handler.
func (c *console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header())
	h, pattern := c.mux.Handler(r)
	if pattern != "" {
		c.mux.ServeHTTP(w, r)
		return
	}
	caller, _ := stream.CallerOf(r)
	code := httpguard.NotFound
	if allow := allowed(h, r); allow != "" {
		w.Header().Set("Allow", allow)
		code = httpguard.MethodNotAllowed
	}
	c.pages.refuse(&request{w: w, Request: r, by: caller.Actor}, problem(code, ""))
}

// allowed returns the methods that the path of a refused request takes.
func allowed(h http.Handler, r *http.Request) string {
	said := unsaid{http.Header{}}
	h.ServeHTTP(said, r)
	return said.header.Get("Allow")
}

// unsaid keeps the headers of an answer that is not sent.
type unsaid struct{ header http.Header }

func (u unsaid) Header() http.Header         { return u.header }
func (u unsaid) WriteHeader(int)             {}
func (u unsaid) Write(b []byte) (int, error) { return len(b), nil }

// Refuse answers a request that does not say who sends it. It implements httpguard.Refuser: a person sees
// how to sign in, a program a problem.
func (c *console) Refuse(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header())
	if isAsset(c.pages.link, r) { // the page that says how to sign in has a style, too
		serveAsset(w, r)
		return
	}
	c.pages.signIn(&request{w: w, Request: r})
}
