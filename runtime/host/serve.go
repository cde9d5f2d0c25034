package host

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/host/internal/httpguard"
	"github.com/ambit-tools/ambit/runtime/host/stream"
	"github.com/ambit-tools/ambit/runtime/host/tokens"
)

// A Serve says what a host serves over HTTP: the stream of events at /stream (WebSocket) and /events
// (server-sent events), /metrics, /health, and what Mount adds. The zero value serves nothing.
//
// Every request passes the list of host names, the check of its origin, a deadline of 30 seconds, and
// authentication. /health, /login and /logout need no authentication.
type Serve struct {
	Addr string // to listen on, such as 127.0.0.1:7411
	// TLS is required for an address that is not loopback, unless TrustedProxies is set.
	TLS *tls.Config
	// Auth finds out who sends a request. The default, the bearer tokens of the store and the
	// cookies of LoginURL, is wrong when people have accounts elsewhere.
	Auth stream.Authenticator
	// Hosts are the names by which the host is reached, beside that of Addr and, on loopback, localhost.
	Hosts []string
	// TrustedProxies are the addresses of a proxy that ends TLS in front of the host. Requests from
	// elsewhere are refused.
	TrustedProxies []netip.Prefix
	// ProxyUser is the header in which these proxies say who sends a request; empty: none is read. The
	// proxy must replace one that a client sends. On loopback every local process can set it.
	ProxyUser string
	// ProxyGroups is the header with the groups of ProxyUser, separated by commas; empty: there are none.
	ProxyGroups string
	// Mount adds handlers, such as a console. stream.CallerOf tells them who sends a request. They are
	// called once the executor has recovered.
	Mount []func(h *Host) (pattern string, handler http.Handler)
}

const (
	headerTimeout  = 10 * time.Second
	idleTimeout    = 2 * time.Minute
	maxHeader      = 64 << 10
	shutdownPeriod = 5 * time.Second
)

// check refuses what would let any client of a network read or answer.
func (s *Serve) check() error {
	if s.Addr == "" {
		if s.TLS != nil || s.Auth != nil || len(s.Mount) > 0 {
			return errors.New("host: Serve has no Addr: nothing would be served")
		}
		return nil
	}
	if (s.ProxyUser != "" && len(s.TrustedProxies) == 0) || (s.ProxyGroups != "" && s.ProxyUser == "") {
		return errors.New("host: Serve.ProxyUser is believed from Serve.TrustedProxies alone, and Serve.ProxyGroups belongs to it: set both")
	}
	name, _, err := net.SplitHostPort(s.Addr)
	if err != nil {
		return fmt.Errorf("host: Serve.Addr is %q: name an address and a port, such as 127.0.0.1:7411", s.Addr)
	}
	if loopback(name) {
		return nil
	}
	if s.TLS == nil && len(s.TrustedProxies) == 0 {
		return fmt.Errorf("host: Serve.Addr %q is no loopback address, and tokens would cross the network in clear: set Serve.TLS, or Serve.TrustedProxies when a proxy ends TLS in front of it", s.Addr)
	}
	if unspecified(name) && len(s.Hosts) == 0 {
		return fmt.Errorf("host: Serve.Addr %q names no host: set Serve.Hosts to the names by which it is reached", s.Addr)
	}
	return nil
}

func loopback(name string) bool {
	a, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && a.IsLoopback()
}

func unspecified(name string) bool {
	a, err := netip.ParseAddr(name)
	return name == "" || err == nil && a.IsUnspecified()
}

// hosts returns the names by which the host is reached.
func (s *Serve) hosts() []string {
	name, _, _ := net.SplitHostPort(s.Addr) // check has looked at it
	var list []string
	if loopback(name) {
		list = []string{"localhost", "127.0.0.1", "::1"}
	}
	if !unspecified(name) {
		list = append(list, name)
	}
	for _, h := range s.Hosts {
		list = append(list, strings.ToLower(h))
	}
	return list
}

// free returns an error when nothing can listen at the address, before a start has made anything.
func (s *Serve) free() error {
	if s.Addr == "" {
		return nil
	}
	listener, err := net.Listen("tcp", s.Addr)
	if err != nil {
		return fmt.Errorf("host: Serve: %w", err)
	}
	return listener.Close()
}

// listen begins to listen; commands of the inbox ask for the address.
func (h *Host) listen() (net.Listener, error) {
	if h.cfg.Serve.Addr == "" {
		return nil, nil
	}
	listener, err := net.Listen("tcp", h.cfg.Serve.Addr)
	if err != nil {
		return nil, fmt.Errorf("host: Serve: %w", err)
	}
	h.addr = listener.Addr()
	h.closing("the listener", func(context.Context) error {
		_ = listener.Close() // the server has closed it, unless Open failed before there was one
		return nil
	})
	return listener, nil
}

// newServer returns a server that waits neither for headers nor for idle clients. The guard sets the deadlines for
// bodies and answers, request by request: streams have deadlines of their own.
func newServer(ctx context.Context, handler http.Handler) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug), // it tells what clients do
	}
}

// serve begins to serve. The server is closed before anything that it reads.
func (h *Host) serve(listener net.Listener) {
	s := &h.cfg.Serve
	if s.TLS != nil {
		listener = tls.NewListener(listener, s.TLS.Clone())
	}
	ctx, cancel := context.WithCancel(context.Background())
	server := newServer(ctx, h.handler())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			h.cfg.report(fmt.Errorf("host: Serve: %w", err))
		}
	}()
	h.closing("the server", func(ctx context.Context) error {
		cancel() // ends the streams, of which Shutdown would wait for some and not know the rest
		within, stop := context.WithTimeout(ctx, shutdownPeriod)
		defer stop()
		err := server.Shutdown(within)
		if err != nil {
			err = server.Close()
		}
		<-done
		h.sockets.Wait()
		return err
	})
}

// handler returns all that is served, behind the guard.
func (h *Host) handler() http.Handler {
	s := &h.cfg.Serve
	auth := s.Auth
	if auth == nil {
		known := httpguard.First{httpguard.Bearer{Verify: h.Tokens.Verify}, &h.sessions}
		if s.ProxyUser != "" {
			known = append(known, httpguard.ProxyHeader{User: s.ProxyUser, Groups: s.ProxyGroups, Proxies: s.TrustedProxies})
		}
		auth = known
	}
	h.sessions.Of = h.cfg.path("")
	if whole, err := filepath.Abs(h.sessions.Of); err == nil { // two applications may have the same relative path
		h.sessions.Of = whole
	}
	guard := &httpguard.Guard{Auth: auth, Hosts: s.hosts(), Proxies: s.TrustedProxies, Report: h.cfg.report}
	events := stream.New(h.Executor, h.Feed)
	mux := http.NewServeMux()
	mux.Handle("GET /stream", guard.Known(h.counted(events.Socket())))
	mux.Handle("GET /events", guard.Known(events.Events()))
	mux.Handle("GET /metrics", guard.Known(h.metrics.Handler(h.Executor)))
	mux.Handle("GET "+httpguard.LoginPath, &h.sessions)
	mux.HandleFunc("POST "+httpguard.LogoutPath, h.sessions.Logout)
	var root http.Handler // what is mounted for people
	for _, mount := range s.Mount {
		pattern, handler := mount(h)
		handler = guard.Known(handler)
		if mux.Handle(pattern, handler); pattern == "/" {
			root = handler
		}
	}
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, r *http.Request) {
		if root != nil && strings.Contains(r.Header.Get("Accept"), "text/html") {
			root.ServeHTTP(w, r)
			return
		}
		h.health(w, r)
	})
	return guard.Anyone(httpguard.Mux{ServeMux: mux})
}

// counted lets the host wait for handlers of connections that the server does not know any more.
func (h *Host) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.sockets.Add(1)
		defer h.sockets.Done()
		next.ServeHTTP(w, r)
	})
}

// health says whether calls can be recorded, which they must be to run.
func (h *Host) health(w http.ResponseWriter, _ *http.Request) {
	if h.Store.Health().Lost != nil || h.Executor.Stats().Journal != nil {
		httpguard.ProblemOf(httpguard.JournalUnavailable, "").Write(w)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(map[string]string{"status": "ok"}) // the client is gone otherwise
}

// Addr returns the address that the host listens on; nil when it serves nothing.
func (h *Host) Addr() net.Addr { return h.addr }

// LoginURL returns a URL that lets one browser on this machine in, once and within five minutes, as the
// user who owns the store, in the name id and with groups. It is empty when the host serves
// nothing, or not on loopback, or has an Auth of its own.
func (h *Host) LoginURL(id string, groups ...string) string {
	base := h.loginBase()
	if base == "" {
		return ""
	}
	ticket := h.sessions.Ticket(runtime.Actor{ID: id, Groups: slices.Clone(groups), Method: runtime.MethodOwner}, "/")
	return base + "?ticket=" + ticket
}

// OwnLoginURL is LoginURL for the user of the operating system that this process runs as, with the id
// and the groups that Config.Identity gives. It leads to a path of this host, such as that of a console.
// It is empty when the host has no store of its own, too.
func (h *Host) OwnLoginURL(path string) string {
	base := h.loginBase()
	if base == "" || h.inbox == nil {
		return ""
	}
	id, groups := h.inbox.Owner()
	if id == "" {
		return ""
	}
	return base + "?ticket=" + h.sessions.Ticket(runtime.Actor{ID: id, Groups: groups, Method: runtime.MethodOwner}, path)
}

// loginBase returns where tickets are taken; nothing when none are.
func (h *Host) loginBase() string {
	s := &h.cfg.Serve
	if h.addr == nil || s.Auth != nil {
		return ""
	}
	if name, _, err := net.SplitHostPort(s.Addr); err != nil || !loopback(name) {
		return ""
	}
	u := url.URL{Scheme: "http", Host: h.addr.String(), Path: httpguard.LoginPath}
	if s.TLS != nil {
		u.Scheme = "https"
	}
	return u.String()
}

// logins lets commands of the inbox open the browser of who gives them.
type logins struct{ *Host }

// Enter implements inbox.Logins.
func (l logins) Enter(sum [sha256.Size]byte, who runtime.Actor, path string) string {
	base := l.loginBase()
	if base != "" {
		l.sessions.Enter(sum, who, path)
	}
	return base
}

// EndSessions revokes what LoginURL gave in the name id: URLs that no browser has used, and the cookies
// of those that did. The streams that these opened end. It returns how many there were.
func (h *Host) EndSessions(id string) int { return h.sessions.EndAll(id) }

// openTokens opens the bearer tokens of the store.
func (h *Host) openTokens() error {
	h.Tokens = tokens.Open(tokens.FileOf(h.cfg.path("")))
	if err := h.Tokens.Check(); err != nil {
		return fmt.Errorf("host: the tokens: %w", err)
	}
	return nil
}
