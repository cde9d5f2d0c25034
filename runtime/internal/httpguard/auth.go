package httpguard

import (
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/ambit-tools/ambit/runtime/operator"
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
	Verify func(text string) (who operator.Actor, revoked <-chan struct{}, ok bool, err error)
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
	return Caller{who, revoked}, err
}

const (
	cookieName  = "ambit"
	cookieLife  = 12 * time.Hour
	ticketLife  = 5 * time.Minute
	maxSessions = 1000 // of browsers, and of tickets
)

// LoginPath is where Sessions takes tickets.
const LoginPath = "/login"

// Sessions lets a browser in: a ticket in a URL becomes a cookie, once, for who comes from this
// machine. The zero value has neither tickets nor cookies.
type Sessions struct {
	mu      sync.Mutex
	tickets map[[sha256.Size]byte]session // by the hash of the ticket
	cookies map[[sha256.Size]byte]session
}

type session struct {
	who  operator.Actor
	ends time.Time
}

// Ticket returns a text that lets one browser act as who, within five minutes.
func (s *Sessions) Ticket(who operator.Actor) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return put(&s.tickets, session{who, time.Now().Add(ticketLife)})
}

// put keeps a session under a new secret, of 256 bits or more.
func put(in *map[[sha256.Size]byte]session, s session) string {
	now := time.Now()
	for k, old := range *in {
		if len(*in) >= maxSessions || now.After(old.ends) {
			delete(*in, k)
		}
	}
	if *in == nil {
		*in = map[[sha256.Size]byte]session{}
	}
	text := rand.Text() + rand.Text()
	(*in)[sha256.Sum256([]byte(text))] = s
	return text
}

// ServeHTTP takes a ticket and gives a cookie for it.
func (s *Sessions) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	from, ok := peer(r)
	if !ok || !from.IsLoopback() {
		ProblemOf(NotPermitted, "a ticket is for a browser on this machine").Write(w)
		return
	}
	key := sha256.Sum256([]byte(r.URL.Query().Get("ticket")))
	s.mu.Lock()
	ticket, ok := s.tickets[key]
	delete(s.tickets, key)
	var text string
	if ok = ok && time.Now().Before(ticket.ends); ok {
		text = put(&s.cookies, session{ticket.who, time.Now().Add(cookieLife)})
	}
	s.mu.Unlock()
	if !ok {
		ProblemOf(NotAuthenticated, "the ticket is unknown, or was used").Write(w)
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: cookieName, Value: text, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil, MaxAge: int(cookieLife.Seconds()),
	})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// Authenticate implements Authenticator.
func (s *Sessions) Authenticate(r *http.Request) (Caller, error) {
	cookie, err := r.Cookie(cookieName)
	if err != nil {
		return Caller{}, ErrUnknown
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// The look-up compares hashes: how long it takes tells nothing of a cookie.
	of, ok := s.cookies[sha256.Sum256([]byte(cookie.Value))]
	if !ok || time.Now().After(of.ends) {
		return Caller{}, ErrUnknown
	}
	return Caller{Actor: of.who}, nil
}
