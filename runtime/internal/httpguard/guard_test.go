package httpguard_test

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/internal/httpguard"
	"github.com/ambit-tools/ambit/runtime/operator"
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
	for origin, want := range map[string]int{
		"": 200, "http://ambit.example": 200, "https://AMBIT.example": 200,
		"null": 403, "http://evil.example": 403, "http://ambit.example:81": 403, "http://ambit.example.evil": 403, "ambit.example": 403, "://": 403,
	} {
		assert.Equal(t, want, served(g, func(r *http.Request) { r.Header.Set("Origin", origin) }), origin)
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
	who operator.Actor
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
		"known":          {answer{operator.Actor{ID: "alice"}, nil}, 200, nil},
		"unknown":        {answer{operator.Actor{ID: "alice"}, httpguard.ErrUnknown}, 401, nil},
		"nobody":         {answer{}, 401, nil},
		"a group":        {answer{operator.Actor{ID: "group:finance"}, nil}, 401, nil},
		"failure":        {answer{operator.Actor{ID: "alice"}, secret}, 401, secret},
		"first":          {httpguard.First{answer{operator.Actor{ID: "alice"}, nil}, answer{err: secret}}, 200, nil},
		"second":         {httpguard.First{answer{err: httpguard.ErrUnknown}, answer{operator.Actor{ID: "bob"}, nil}}, 200, nil},
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
		late := s.Ticket(operator.Actor{ID: "root"})
		time.Sleep(5 * time.Minute) // of the clock of the bubble
		assert.Equal(t, http.StatusUnauthorized, take(late, "127.0.0.1:9").Code)
		ticket := s.Ticket(operator.Actor{ID: "root"})
		assert.Equal(t, http.StatusForbidden, take(ticket, "10.0.0.9:9").Code)
		w := take(ticket, net.JoinHostPort("::1", "9"))
		require.Equal(t, http.StatusSeeOther, w.Code)
		cookies := w.Result().Cookies()
		require.Len(t, cookies, 1)
		assert.True(t, cookies[0].HttpOnly)
		assert.Equal(t, http.SameSiteStrictMode, cookies[0].SameSite)
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.AddCookie(cookies[0])
		caller, err := s.Authenticate(r)
		require.NoError(t, err)
		assert.Equal(t, "root", caller.ID)
		time.Sleep(12*time.Hour + 1)
		_, err = s.Authenticate(r)
		assert.ErrorIs(t, err, httpguard.ErrUnknown)
	})
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
