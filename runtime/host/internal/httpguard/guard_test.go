package httpguard_test

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/host/internal/httpguard"
)

// served says what a guard does with a request: the status, 200 when a handler saw it.
func served(g *httpguard.Guard, edit func(*http.Request)) int {
	r := httptest.NewRequest(http.MethodPost, "http://ambit.example/", nil)
	edit(r)
	w := httptest.NewRecorder()
	g.Anyone(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, r)
	return w.Code
}

// TestHosts: a name of the host is served with any port, in any case; other names are not.
func TestHosts(t *testing.T) {
	g := &httpguard.Guard{Hosts: []string{"ambit.example", "::1"}}
	for host, want := range map[string]int{
		"ambit.example": 200, "ambit.example:7411": 200, "AMBIT.example": 200, "[::1]:80": 200, "[::1]": 200,
		"": 421, "ambit.example.": 421, "ambit.example.evil": 421, "evil.ambit.example": 421, "127.0.0.1": 421, "ambit.example:80:80": 421,
	} {
		assert.Equal(t, want, served(g, func(r *http.Request) { r.Host = host }), host)
	}
}

// TestOrigins: a page of this host may ask, as may a program; a page of any other site may not.
func TestOrigins(t *testing.T) {
	g := &httpguard.Guard{Hosts: []string{"ambit.example"}}
	const own, evil = "http://ambit.example", "http://evil.example"
	for _, c := range []struct {
		method, site, origin string
		want                 int
	}{
		// Programs, and browsers that say no Sec-Fetch-Site: Origin decides.
		{"POST", "", "", 200},
		{"POST", "", own, 200},
		{"POST", "", "https://ambit.example", 200},
		{"POST", "", "null", 403},
		{"POST", "", evil, 403},
		{"POST", "", "http://ambit.example:81", 403},
		{"POST", "", "http://ambit.example.evil", 403},
		{"POST", "", "ambit.example", 403},
		{"POST", "", "://", 403},
		{"DELETE", "", evil, 403},
		// Forms: a page without referrer has the origin null, its own host too.
		{"POST", "same-origin", "null", 200},
		{"POST", "same-origin", own, 200},
		{"POST", "none", "null", 200},
		{"POST", "cross-site", "null", 403},
		{"POST", "cross-site", "", 403},
		{"POST", "cross-site", own, 403},
		{"POST", "same-site", "null", 403},
		{"POST", "unheard-of", "", 403},
		// What is read: a link may lead here; a page of another site reads nothing, and opens no socket.
		{"GET", "cross-site", "", 200},
		{"GET", "same-origin", "", 200},
		{"GET", "", own, 200},
		{"GET", "", "http://AMBIT.example", 200},
		{"GET", "cross-site", evil, 403},
		{"GET", "", evil, 403},
		{"GET", "", "null", 403},
		{"GET", "same-origin", "null", 403},
		{"HEAD", "cross-site", evil, 403},
		{"OPTIONS", "cross-site", evil, 403},
	} {
		assert.Equal(t, c.want, served(g, func(r *http.Request) {
			r.Method = c.method
			for name, value := range map[string]string{"Sec-Fetch-Site": c.site, "Origin": c.origin} {
				if value != "" {
					r.Header.Set(name, value)
				}
			}
		}), "%+v", c)
	}
}

// TestProxies: with proxies, requests come from their addresses.
func TestProxies(t *testing.T) {
	g := &httpguard.Guard{Hosts: []string{"ambit.example"}, Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24")}}
	for from, want := range map[string]int{"10.0.0.9:5": 200, "[::ffff:10.0.0.9]:5": 200, "10.0.1.9:5": 403, "pipe": 403, "": 403} {
		assert.Equal(t, want, served(g, func(r *http.Request) { r.RemoteAddr = from }), from)
	}
}

// answer is an authenticator that always answers the same.
type answer struct {
	who runtime.Actor
	err error
}

func (a answer) Authenticate(*http.Request) (httpguard.Caller, error) {
	return httpguard.Caller{Actor: a.who}, a.err
}

// TestKnown: who is not known is refused, and why that is reported to the host alone.
func TestKnown(t *testing.T) {
	secret := errors.New("dial tcp 10.0.0.1: refused")
	for name, c := range map[string]struct {
		auth     httpguard.Authenticator
		want     int
		reported error
	}{
		"known":          {answer{runtime.Actor{ID: "alice"}, nil}, 200, nil},
		"unknown":        {answer{runtime.Actor{ID: "alice"}, httpguard.ErrUnknown}, 401, nil},
		"nobody":         {answer{}, 401, nil},
		"a group":        {answer{runtime.Actor{ID: "group:finance"}, nil}, 401, nil},
		"failure":        {answer{runtime.Actor{ID: "alice"}, secret}, 401, secret},
		"first":          {httpguard.First{answer{runtime.Actor{ID: "alice"}, nil}, answer{err: secret}}, 200, nil},
		"second":         {httpguard.First{answer{err: httpguard.ErrUnknown}, answer{runtime.Actor{ID: "bob"}, nil}}, 200, nil},
		"none of two":    {httpguard.First{answer{err: httpguard.ErrUnknown}, answer{err: httpguard.ErrUnknown}}, 401, nil},
		"one that fails": {httpguard.First{answer{err: secret}, answer{err: httpguard.ErrUnknown}}, 401, secret},
	} {
		t.Run(name, func(t *testing.T) {
			var reported error
			g := &httpguard.Guard{Auth: c.auth, Report: func(err error) { reported = err }}
			w := httptest.NewRecorder()
			g.Known(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				caller, ok := httpguard.CallerOf(r.Context())
				assert.True(t, ok)
				assert.NotEmpty(t, caller.ID)
			})).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
			assert.Equal(t, c.want, w.Code)
			assert.Equal(t, c.reported, reported)
			assert.NotContains(t, w.Body.String(), "10.0.0.1")
		})
	}
}

// TestTickets: a ticket is good for five minutes and from this machine, and its cookie for twelve hours.
func TestTickets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s httpguard.Sessions
		take := func(ticket, from string) *httptest.ResponseRecorder {
			r := httptest.NewRequest(http.MethodGet, httpguard.LoginPath+"?"+url.Values{"ticket": {ticket}}.Encode(), nil)
			r.RemoteAddr = from
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			return w
		}
		late := s.Ticket(runtime.Actor{ID: "root"}, "/")
		time.Sleep(5 * time.Minute) // of the clock of the bubble
		assert.Equal(t, http.StatusUnauthorized, take(late, "127.0.0.1:9").Code)
		ticket := s.Ticket(runtime.Actor{ID: "root"}, "/")
		assert.Equal(t, http.StatusForbidden, take(ticket, "10.0.0.9:9").Code)
		w := take(ticket, net.JoinHostPort("::1", "9"))
		require.Equal(t, http.StatusSeeOther, w.Code)
		cookies := w.Result().Cookies()
		require.Len(t, cookies, 1)
		assert.True(t, cookies[0].HttpOnly)
		assert.Equal(t, http.SameSiteStrictMode, cookies[0].SameSite)
		assert.Equal(t, "/", cookies[0].Path)
		assert.False(t, cookies[0].Secure, "a browser would not send it on loopback without TLS")
		fresh := s.Ticket(runtime.Actor{ID: "root"}, "/")
		twice := httptest.NewRequest(http.MethodGet, httpguard.LoginPath+"?ticket="+fresh+"&ticket=x", nil)
		twice.RemoteAddr = net.JoinHostPort("::1", "9")
		refused := httptest.NewRecorder()
		s.ServeHTTP(refused, twice)
		assert.Equal(t, http.StatusBadRequest, refused.Code, "a query with two tickets has none")
		assert.Contains(t, refused.Body.String(), "comes twice")
		over := httptest.NewRequest(http.MethodGet, "https://localhost"+httpguard.LoginPath+"?ticket="+s.Ticket(runtime.Actor{ID: "root"}, "/"), nil)
		over.RemoteAddr = "127.0.0.1:9"
		w = httptest.NewRecorder()
		s.ServeHTTP(w, over)
		require.Len(t, w.Result().Cookies(), 1)
		assert.True(t, w.Result().Cookies()[0].Secure, "over TLS")
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.AddCookie(cookies[0])
		caller, err := s.Authenticate(r)
		require.NoError(t, err)
		assert.Equal(t, "root", caller.ID)
		assert.Equal(t, time.Now().Add(12*time.Hour), caller.Until)
		time.Sleep(12 * time.Hour)
		_, err = s.Authenticate(r)
		assert.ErrorIs(t, err, httpguard.ErrUnknown)
	})
}

// TestWhereLoginLeads: a ticket leads to a path of this host, and to nothing that a browser would take
// for another one; so does logging out.
func TestWhereLoginLeads(t *testing.T) {
	for path, want := range map[string]string{
		"/approvals/x": "/approvals/x", "/approvals/%2E%2E?a=b": "/approvals/%2E%2E?a=b", "": "/", "/": "/", "//evil.example": "/", "/\\evil.example": "/", "\\\\evil": "/",
		"https://evil.example/": "/", "javascript:alert(1)": "/", "/a\nb": "/", "/\u202e": "/", "/a b": "/", "/" + strings.Repeat("a", 1<<10): "/",
	} {
		var s httpguard.Sessions
		r := httptest.NewRequest(http.MethodGet, httpguard.LoginPath+"?ticket="+s.Ticket(runtime.Actor{ID: "root"}, path), nil)
		r.RemoteAddr = "127.0.0.1:9"
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		assert.Equal(t, want, w.Header().Get("Location"), path)
		out := httptest.NewRequest(http.MethodPost, httpguard.LogoutPath, strings.NewReader(url.Values{"to": {path}}.Encode()))
		out.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w = httptest.NewRecorder()
		s.Logout(w, out)
		assert.Equal(t, want, w.Header().Get("Location"), path)
	}
}

// refuser is a handler with a page for who is not known.
type refuser struct{ http.Handler }

func (refuser) Refuse(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }

// TestRefuser: a handler that has a page for who is not known answers in its own way, and is not reached.
func TestRefuser(t *testing.T) {
	g := &httpguard.Guard{Auth: answer{err: httpguard.ErrUnknown}}
	w := httptest.NewRecorder()
	g.Known(refuser{http.NotFoundHandler()}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	assert.Equal(t, http.StatusTeapot, w.Code)
}

// TestDeadlines: a request whose body never comes does not hold its handler for longer than the deadline.
func TestDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
		g := &httpguard.Guard{Hosts: []string{"ambit.example"}}
		g.Anyone(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "http://ambit.example/", nil))
		until := time.Now().Add(httpguard.Deadline)
		assert.Equal(t, []time.Time{until, until}, []time.Time{w.read, w.write})
	})
}

// deadlines keeps the deadlines that a handler sets.
type deadlines struct {
	*httptest.ResponseRecorder
	read, write time.Time
}

func (d *deadlines) SetReadDeadline(t time.Time) error  { d.read = t; return nil }
func (d *deadlines) SetWriteDeadline(t time.Time) error { d.write = t; return nil }

// TestEndOfSessions: logging out ends one cookie, EndAll all cookies and tickets of an id, and too many
// the one that would end first. What was opened with a cookie hears of it.
func TestEndOfSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s httpguard.Sessions
		const most = 1000
		login := func(ticket string) *http.Request {
			r := httptest.NewRequest(http.MethodGet, httpguard.LoginPath+"?"+url.Values{"ticket": {ticket}}.Encode(), nil)
			r.RemoteAddr = "127.0.0.1:9"
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			out := httptest.NewRequest(http.MethodPost, httpguard.LogoutPath, nil)
			for _, c := range w.Result().Cookies() {
				out.AddCookie(c)
			}
			time.Sleep(time.Second) // of the clock of the bubble: no two end at once
			return out
		}
		known := func(r *http.Request) <-chan struct{} {
			c, err := s.Authenticate(r)
			require.NoError(t, err)
			return c.Ended
		}
		unknown := func(r *http.Request, ended <-chan struct{}) {
			_, err := s.Authenticate(r)
			require.ErrorIs(t, err, httpguard.ErrUnknown)
			<-ended
		}
		ada, bob := runtime.Actor{ID: "ada"}, runtime.Actor{ID: "bob"}
		one, two, other := login(s.Ticket(ada, "/")), login(s.Ticket(ada, "/")), login(s.Ticket(bob, "/"))
		ofOne, ofTwo, ofOther := known(one), known(two), known(other)
		w := httptest.NewRecorder()
		s.Logout(w, one)
		require.Equal(t, http.StatusSeeOther, w.Code)
		require.Negative(t, w.Result().Cookies()[0].MaxAge)
		unknown(one, ofOne)
		known(two)
		s.Logout(httptest.NewRecorder(), one)
		s.Logout(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, httpguard.LogoutPath, nil))
		unused := s.Ticket(ada, "/")
		require.Equal(t, 2, s.EndAll("ada"))
		unknown(two, ofTwo)
		require.Empty(t, login(unused).Cookies())
		known(other)
		next := login(s.Ticket(ada, "/"))
		for range most - 2 {
			login(s.Ticket(ada, "/"))
		}
		known(other)
		ofNext := known(next)
		login(s.Ticket(ada, "/"))
		unknown(other, ofOther)
		known(next)
		login(s.Ticket(ada, "/"))
		unknown(next, ofNext)
	})
}

// TestMux: what no pattern matches is a problem, with the methods that a path takes.
func TestMux(t *testing.T) {
	m := httpguard.Mux{ServeMux: http.NewServeMux()}
	m.HandleFunc("GET /metrics", func(http.ResponseWriter, *http.Request) {})
	m.HandleFunc("/tree/", func(http.ResponseWriter, *http.Request) {})
	for path, want := range map[string]struct {
		status int
		allow  string
		code   string
	}{
		"GET /metrics": {200, "", ""}, "POST /metrics": {405, "GET, HEAD", `"method_not_allowed"`}, "GET /other": {404, "", `"not_found"`},
		"GET /tree": {307, "", ""}, "DELETE /tree/x": {200, "", ""},
	} {
		method, target, _ := strings.Cut(path, " ")
		w := httptest.NewRecorder()
		m.ServeHTTP(w, httptest.NewRequest(method, target, nil))
		assert.Equal(t, want.status, w.Code, path)
		assert.Equal(t, want.allow, w.Header().Get("Allow"), path)
		assert.Contains(t, w.Body.String(), want.code, path)
		assert.Equal(t, want.code != "", w.Header().Get("Content-Type") == "application/problem+json", path)
	}
}

// TestCookiesOfTwoApplications: a browser sends the cookies of a name to each port, so those of two applications on
// one machine have two names, and logging out of one leaves the other.
func TestCookiesOfTwoApplications(t *testing.T) {
	name := func(of string) string {
		s := httpguard.Sessions{Of: of}
		r := httptest.NewRequest(http.MethodGet, httpguard.LoginPath+"?ticket="+s.Ticket(runtime.Actor{ID: "root"}, "/"), nil)
		r.RemoteAddr = "127.0.0.1:9"
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		require.Len(t, w.Result().Cookies(), 1)
		out := httptest.NewRecorder()
		s.Logout(out, httptest.NewRequest(http.MethodPost, httpguard.LogoutPath, nil))
		assert.Equal(t, w.Result().Cookies()[0].Name, out.Result().Cookies()[0].Name)
		return w.Result().Cookies()[0].Name
	}
	assert.NotEqual(t, name("/a/ambit.db"), name("/b/ambit.db"))
	assert.Equal(t, name("/a/ambit.db"), name("/a/ambit.db"))
	assert.Regexp(t, "^ambit_[0-9a-f]{8}$", name("/a/ambit.db"))
}
