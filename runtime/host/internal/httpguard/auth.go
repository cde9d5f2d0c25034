package httpguard

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/ambit-tools/ambit/runtime"
)

// First asks authenticators in turn; the first that knows the caller answers.
type First []Authenticator

// Authenticate implements Authenticator.
func (f First) Authenticate(r *http.Request) (Caller, error) {
	err := ErrUnknown
	for _, a := range f {
		c, failed := a.Authenticate(r)
		if failed == nil {
			return c, nil
		}
		if err == ErrUnknown {
			err = failed
		}
	}
	return Caller{}, err
}

// A Bearer knows callers by a token in the header Authorization.
type Bearer struct {
	Verify func(text string) (who runtime.Actor, revoked <-chan struct{}, ok bool, err error)
}

// Authenticate implements Authenticator.
func (b Bearer) Authenticate(r *http.Request) (Caller, error) {
	scheme, text, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return Caller{}, ErrUnknown
	}
	who, revoked, ok, err := b.Verify(strings.TrimSpace(text))
	if err == nil && !ok {
		err = ErrUnknown
	}
	return Caller{Actor: who, Ended: revoked}, err
}

const (
	cookieLife  = 12 * time.Hour
	ticketLife  = 5 * time.Minute
	maxSessions = 1000 // of browsers, and of tickets
)

// LoginPath is where Sessions takes tickets.
const LoginPath = "/login"

// LogoutPath is where Sessions ends a cookie.
const LogoutPath = "/logout"

// Sessions lets a browser in: a ticket in a URL becomes a cookie, once, for who comes from this
// machine. The zero value has neither tickets nor cookies.
type Sessions struct {
	// Of names the application. Browsers do not tell ports apart: a cookie of another application on this
	// machine has another name. It is set before the first request.
	Of string

	mu      sync.Mutex
	tickets map[hash]*session
	cookies map[hash]*session
}

// A hash is that of a ticket or a cookie, neither of which is kept.
type hash [sha256.Size]byte

type session struct {
	who   runtime.Actor
	path  string // of a ticket: where the browser goes then
	ends  time.Time
	ended chan struct{} // closed when it is revoked
}

// cookieName is the name of the cookies.
func (s *Sessions) cookieName() string {
	if s.Of == "" {
		return "ambit"
	}
	const most = 4 // bytes
	sum := sha256.Sum256([]byte(s.Of))
	return "ambit_" + hex.EncodeToString(sum[:most])
}

// Ticket returns a text that lets one browser act as who, within five minutes, and sends it to a path
// of this host.
func (s *Sessions) Ticket(who runtime.Actor, path string) string {
	text := newSecret()
	s.Enter(sha256.Sum256([]byte(text)), who, path)
	return text
}

// Enter makes a ticket of a text that another process has made, of which only the hash comes here.
func (s *Sessions) Enter(sum [sha256.Size]byte, who runtime.Actor, path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	put(&s.tickets, sum, &session{who: who, path: path, ends: time.Now().Add(ticketLife)})
}

// newSecret returns a text of 256 bits or more.
func newSecret() string { return rand.Text() + rand.Text() }

// IsPath reports whether a browser may be sent to a path: it is on this host, whatever the browser
// makes of it.
func IsPath(path string) bool {
	const most = 1 << 10
	if !strings.HasPrefix(path, "/") || len(path) > most || strings.HasPrefix(path[1:], "/") {
		return false
	}
	return !strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' })
}

// local returns a path if a browser may be sent there, and the first page otherwise.
func local(path string) string {
	if IsPath(path) {
		return path
	}
	return "/"
}

// put keeps a session. Of too many it ends the one that would end first.
func put(in *map[hash]*session, key hash, of *session) {
	now := time.Now()
	end(*in, func(_ hash, old *session) bool { return !now.Before(old.ends) })
	if len(*in) >= maxSessions {
		var first hash
		for k, old := range *in {
			if of, some := (*in)[first]; !some || old.ends.Before(of.ends) {
				first = k
			}
		}
		end(*in, func(k hash, _ *session) bool { return k == first })
	}
	if *in == nil {
		*in = map[hash]*session{}
	}
	of.ended = make(chan struct{})
	(*in)[key] = of
}

// end revokes the sessions that match, and returns how many these are.
func end(in map[hash]*session, match func(hash, *session) bool) (n int) {
	for k, s := range in {
		if match(k, s) {
			close(s.ended)
			delete(in, k)
			n++
		}
	}
	return n
}

// EndAll revokes the tickets and cookies of an id, and returns how many these were.
func (s *Sessions) EndAll(id string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := func(_ hash, old *session) bool { return old.who.ID == id }
	return end(s.tickets, of) + end(s.cookies, of)
}

// Logout revokes the cookie of a request, and sends the browser to the path of the field "to", or the
// first page. A request without a cookie has nothing to end.
func (s *Sessions) Logout(w http.ResponseWriter, r *http.Request) {
	if cookie, err := r.Cookie(s.cookieName()); err == nil {
		key := hash(sha256.Sum256([]byte(cookie.Value)))
		s.mu.Lock()
		end(s.cookies, func(k hash, _ *session) bool { return k == key })
		s.mu.Unlock()
	}
	w.Header().Set("Cache-Control", "no-store")
	s.setCookie(w, r, "", -1)
	r.Body = http.MaxBytesReader(w, r.Body, 4<<10)
	to := ""
	if r.ParseForm() == nil && Once(r.PostForm) == nil { // the cookie is gone in any case
		to = r.PostForm.Get("to")
	}
	http.Redirect(w, r, local(to), http.StatusSeeOther)
}

// setCookie gives a browser a cookie. A negative life takes it away.
func (s *Sessions) setCookie(w http.ResponseWriter, r *http.Request, text string, seconds int) {
	http.SetCookie(w, &http.Cookie{
		Name: s.cookieName(), Value: text, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil, MaxAge: seconds,
	})
}

// ServeHTTP takes a ticket and gives a cookie for it.
func (s *Sessions) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	from, ok := peer(r)
	if !ok || !from.IsLoopback() {
		ProblemOf(NotPermitted, "a ticket is for a browser on this machine").Write(w)
		return
	}
	query, problem := Query(r)
	if problem != nil {
		problem.Write(w)
		return
	}
	key := hash(sha256.Sum256([]byte(query.Get("ticket"))))
	s.mu.Lock()
	ticket, ok := s.tickets[key]
	delete(s.tickets, key)
	var text string
	if ok = ok && time.Now().Before(ticket.ends); ok {
		text = newSecret()
		put(&s.cookies, sha256.Sum256([]byte(text)), &session{who: ticket.who, ends: time.Now().Add(cookieLife)})
	}
	s.mu.Unlock()
	if !ok {
		ProblemOf(NotAuthenticated, "the ticket is unknown, or was used").Write(w)
		return
	}
	s.setCookie(w, r, text, int(cookieLife.Seconds()))
	http.Redirect(w, r, local(ticket.path), http.StatusSeeOther)
}

// Authenticate implements Authenticator.
func (s *Sessions) Authenticate(r *http.Request) (Caller, error) {
	cookie, err := r.Cookie(s.cookieName())
	if err != nil {
		return Caller{}, ErrUnknown
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// The look-up compares hashes: how long it takes tells nothing of a cookie.
	of, ok := s.cookies[sha256.Sum256([]byte(cookie.Value))]
	if !ok || !time.Now().Before(of.ends) {
		return Caller{}, ErrUnknown
	}
	return Caller{Actor: of.who, Ended: of.ended, Until: of.ends}, nil
}
