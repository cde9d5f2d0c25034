package httpguard

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/runtime"
)

// Deadline is how long a request may take that no handler gave more time.
const Deadline = 30 * time.Second

// ErrUnknown says that a request does not say who sends it, or not truly. It is found with errors.Is.
var ErrUnknown = errors.New("the request does not say who sends it")

// A Caller is who sends a request.
type Caller struct {
	runtime.Actor
	// Ended is closed when what authenticated the caller is revoked; nil: never.
	Ended <-chan struct{}
	// Until is when that is good no longer; zero: it has no end.
	Until time.Time
}

// An Authenticator finds out who sends a request. Its method is safe for concurrent use. Any error
// refuses the request, and one that is not ErrUnknown is reported.
type Authenticator interface {
	Authenticate(r *http.Request) (Caller, error)
}

// A Guard is what requests pass. Its fields are set before the first one.
type Guard struct {
	Auth    Authenticator
	Hosts   []string       // names by which the host is reached, without ports
	Proxies []netip.Prefix // from which requests come; none: from anywhere
	Report  func(error)    // is told of errors of Auth
}

type callerKey struct{}

// CallerOf returns who sends a request that a guard has let pass.
func CallerOf(ctx context.Context) (Caller, bool) {
	c, ok := ctx.Value(callerKey{}).(Caller)
	return c, ok
}

// A Refuser is a handler with a page of its own for a request that does not say who sends it.
type Refuser interface {
	http.Handler
	Refuse(w http.ResponseWriter, r *http.Request)
}

// Known lets the requests through of callers who are known. They have passed Anyone. A [Refuser]
// answers the rest itself.
func (g *Guard) Known(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, err := g.Auth.Authenticate(r)
		if err == nil && (caller.ID == "" || strings.HasPrefix(caller.ID, "group:")) {
			err = ErrUnknown
		}
		if err != nil {
			if !errors.Is(err, ErrUnknown) {
				g.Report(err)
			}
			if of, ok := next.(Refuser); ok {
				of.Refuse(w, r)
				return
			}
			ProblemOf(NotAuthenticated, "").Write(w)
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, caller)))
	})
}

// Anyone lets the requests through that are for this host and from no page of another site.
func (g *Guard) Anyone(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		until := time.Now().Add(Deadline)
		c := http.NewResponseController(w)
		_, _ = c.SetReadDeadline(until), c.SetWriteDeadline(until) // a server of net/http has both
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		switch {
		case !g.fromProxy(r):
			ProblemOf(NotPermitted, "requests come through the proxy").Write(w)
		case !slices.Contains(g.Hosts, hostname(r.Host)):
			ProblemOf(ForeignHost, "").Write(w)
		case !sameOrigin(r):
			ProblemOf(ForeignOrigin, "").Write(w)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// fromProxy reports whether a request comes from where requests may come from.
func (g *Guard) fromProxy(r *http.Request) bool {
	if len(g.Proxies) == 0 {
		return true
	}
	return peerIn(r, g.Proxies)
}

// peer returns the address that a connection comes from.
func peer(r *http.Request) (netip.Addr, bool) {
	a, err := netip.ParseAddrPort(r.RemoteAddr)
	return a.Addr().Unmap(), err == nil
}

// hostname returns the name in a Host header, in lower case and without the port.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}

// forms refuses what pages of other sites make a browser do here.
var forms http.CrossOriginProtection

// sameOrigin reports whether a request comes from a page of this host, or from no page. What changes
// something is judged by Sec-Fetch-Site where the browser sends it, which no page can set: a form of
// this host has the origin null, because answers have the referrer policy no-referrer. For the rest,
// browsers send Origin with every request of another site's page that could read the answer. A page
// may navigate here, which sends no Origin.
func sameOrigin(r *http.Request) bool {
	if forms.Check(r) != nil {
		return false
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions: // of these Check lets all through
	default:
		return true
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, r.Host)
}
