package host_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/host"
	"github.com/ambit-tools/ambit/runtime/host/stream"
	"github.com/ambit-tools/ambit/runtime/host/tokens"
)

// proxied is what only a proxy on another machine could use.
var proxied = []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}

// TestServeIsRefused: what would show calls to a network in clear, or to nobody, does not start, and the
// error names what would allow it.
func TestServeIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		serve host.Serve
		says  string
	}{
		"all interfaces":     {host.Serve{Addr: ":0"}, "Serve.TrustedProxies"},
		"another machine's":  {host.Serve{Addr: "192.0.2.7:80"}, "set Serve.TLS"},
		"any":                {host.Serve{Addr: "0.0.0.0:0", Hosts: []string{"ambit.example"}}, "set Serve.TLS"},
		"any of IPv6":        {host.Serve{Addr: "[::]:0"}, "set Serve.TLS"},
		"a name":             {host.Serve{Addr: "ambit.example:80"}, "set Serve.TLS"},
		"TLS without a name": {host.Serve{Addr: ":0", TLS: &tls.Config{}}, "set Serve.Hosts"},
		"proxy, no name":     {host.Serve{Addr: ":0", TrustedProxies: proxied}, "set Serve.Hosts"},
		"header, no proxy":   {host.Serve{Addr: "127.0.0.1:0", ProxyUser: "X-User"}, "Serve.TrustedProxies"},
		"no port":            {host.Serve{Addr: "127.0.0.1"}, "Serve.Addr"},
		"no address":         {host.Serve{TLS: &tls.Config{}}, "no Addr"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := host.Open(t.Context(), host.Config{Tools: noteTools(nil), Policies: policies(), Dir: t.TempDir(), Serve: c.serve})
			assert.ErrorContains(t, err, c.says)
		})
	}
	taken := serving(t, host.Serve{})
	_, err := host.Open(t.Context(), host.Config{Tools: noteTools(nil), Policies: policies(), Dir: t.TempDir(), Serve: host.Serve{Addr: taken.Addr().String()}})
	assert.ErrorContains(t, err, "Serve")
}

// serving opens a host that serves on loopback.
func serving(t *testing.T, s host.Serve) *host.Host {
	t.Helper()
	s.Addr = "127.0.0.1:0"
	h, err := host.Open(t.Context(), host.Config{Tools: noteTools(nil), Policies: policies(), Dir: t.TempDir(), Report: func(error) {}, Serve: s})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, h.Close(context.Background())) })
	return h
}

// ask asks a host for a path, and returns the status and the body.
func ask(t *testing.T, client *http.Client, h *host.Host, path string, headers ...string) (int, string) {
	t.Helper()
	res := send(t, client, h, http.MethodGet, path, headers...)
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	return res.StatusCode, string(body)
}

// send sends a request to a host.
func send(t *testing.T, client *http.Client, h *host.Host, method, path string, headers ...string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+h.Addr().String()+path, nil)
	require.NoError(t, err)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := client.Do(req)
	require.NoError(t, err)
	return res
}

func noKeepAlive() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
}

// TestServe: metrics and what is mounted are for those who are known, and health is for anybody.
func TestServe(t *testing.T) {
	var mounted *host.Host
	h := serving(t, host.Serve{Mount: []func(*host.Host) (string, http.Handler){func(h *host.Host) (string, http.Handler) {
		mounted = h
		return "GET /whoami", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			caller, _ := stream.CallerOf(r)
			_ = json.NewEncoder(w).Encode(caller.Actor)
		})
	}}})
	assert.Same(t, h, mounted)
	token, text, err := tokens.New("alice", []string{"finance"})
	require.NoError(t, err)
	require.NoError(t, h.Tokens.Add(t.Context(), token))
	client := noKeepAlive()
	status, body := ask(t, client, h, "/health")
	assert.Equal(t, []any{200, "{\"status\":\"ok\"}\n"}, []any{status, body})
	execute(t, h, "c1", "Shopping")
	for _, path := range []string{"/metrics", "/whoami"} {
		status, _ = ask(t, client, h, path)
		assert.Equal(t, http.StatusUnauthorized, status, path)
	}
	status, body = ask(t, client, h, "/metrics", "Authorization", "Bearer "+text)
	assert.Equal(t, http.StatusOK, status)
	assert.Contains(t, body, `tool="note_write"`)
	_, body = ask(t, client, h, "/whoami", "Authorization", "bearer "+text)
	assert.JSONEq(t, `{"id":"alice","groups":["finance"],"method":"token"}`, body)
	status, _ = ask(t, client, h, "/whoami", "Authorization", "Bearer "+text, "Origin", "http://evil.example")
	assert.Equal(t, http.StatusForbidden, status)
}

// TestLogin: a ticket is for one browser, once, and its cookie lets that one in.
func TestLogin(t *testing.T) {
	h := serving(t, host.Serve{Mount: []func(*host.Host) (string, http.Handler){func(*host.Host) (string, http.Handler) {
		return "GET /{$}", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			caller, _ := stream.CallerOf(r)
			_ = json.NewEncoder(w).Encode(caller.Actor)
		})
	}}})
	path := h.LoginURL("root", "admins")[len("http://"+h.Addr().String()):]
	browser, other := noKeepAlive(), noKeepAlive()
	var err error
	browser.Jar, err = cookiejar.New(nil)
	require.NoError(t, err)
	status, body := ask(t, browser, h, path)
	assert.Equal(t, http.StatusOK, status, "it is sent on to the first page")
	assert.JSONEq(t, `{"id":"root","groups":["admins"],"method":"`+string(runtime.MethodOwner)+`"}`, body)
	status, _ = ask(t, other, h, path)
	assert.Equal(t, http.StatusUnauthorized, status, "the ticket was used")
	status, _ = ask(t, other, h, "/")
	assert.Equal(t, http.StatusUnauthorized, status)
	status, _ = ask(t, other, h, "/login")
	assert.Equal(t, http.StatusUnauthorized, status)
}

// TestOwnLogin: the user of this process signs in under the id and with the groups of Config.Identity, and
// comes to the page that was asked for.
func TestOwnLogin(t *testing.T) {
	h, err := host.Open(t.Context(), host.Config{
		Tools: noteTools(nil), Policies: policies(), Dir: t.TempDir(), Report: func(error) {},
		Identity: func(string) (string, []string) { return "ada", []string{"finance"} },
		Serve: host.Serve{Addr: "127.0.0.1:0", Mount: []func(*host.Host) (string, http.Handler){func(*host.Host) (string, http.Handler) {
			return "GET /page/{id}", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				caller, _ := stream.CallerOf(r)
				_ = json.NewEncoder(w).Encode(caller.Actor)
			})
		}}},
	})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, h.Close(context.Background())) })
	browser := noKeepAlive()
	browser.Jar, err = cookiejar.New(nil)
	require.NoError(t, err)
	status, body := ask(t, browser, h, h.OwnLoginURL("/page/1")[len("http://"+h.Addr().String()):])
	assert.Equal(t, http.StatusOK, status)
	assert.JSONEq(t, `{"id":"ada","groups":["finance"],"method":"`+string(runtime.MethodOwner)+`"}`, body)
	assert.Empty(t, serving(t, host.Serve{Auth: nobodyKnown{}}).OwnLoginURL("/"), "people have accounts elsewhere")
}

// nobodyKnown knows nobody.
type nobodyKnown struct{}

func (nobodyKnown) Authenticate(*http.Request) (stream.Caller, error) {
	return stream.Caller{}, stream.ErrUnknown
}

// TestEndOfSessionsEndsStreams: a form of this host logs a browser out, and the host ends all of an id:
// the streams that their cookies opened end. A form of another site logs nobody out.
func TestEndOfSessionsEndsStreams(t *testing.T) {
	h := serving(t, host.Serve{})
	login := func() (*http.Client, io.ReadCloser) {
		browser := noKeepAlive()
		var err error
		browser.Jar, err = cookiejar.New(nil)
		require.NoError(t, err)
		browser.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		res := send(t, browser, h, http.MethodGet, h.LoginURL("root")[len("http://"+h.Addr().String()):])
		require.NoError(t, res.Body.Close())
		res = send(t, browser, h, http.MethodGet, "/events")
		require.Equal(t, http.StatusOK, res.StatusCode)
		return browser, res.Body
	}
	one, events := login()
	_, others := login()
	res := send(t, one, h, http.MethodPost, "/logout", "Sec-Fetch-Site", "cross-site", "Origin", "null")
	require.NoError(t, res.Body.Close())
	assert.Equal(t, http.StatusForbidden, res.StatusCode)
	res = send(t, one, h, http.MethodPost, "/logout", "Sec-Fetch-Site", "same-origin", "Origin", "null")
	require.NoError(t, res.Body.Close())
	assert.Equal(t, http.StatusSeeOther, res.StatusCode)
	_, _ = io.Copy(io.Discard, events) // it ends
	require.NoError(t, events.Close())
	status, _ := ask(t, one, h, "/metrics")
	assert.Equal(t, http.StatusUnauthorized, status)
	assert.Equal(t, 1, h.EndSessions("root"))
	_, _ = io.Copy(io.Discard, others)
	require.NoError(t, others.Close())
}

// TestProblemsOfPaths: what is not served is told as a problem.
func TestProblemsOfPaths(t *testing.T) {
	h := serving(t, host.Serve{})
	for path, want := range map[string]string{"GET /": "not_found", "POST /metrics": "method_not_allowed", "GET /../etc": "not_found"} {
		method, target, _ := strings.Cut(path, " ")
		res := send(t, noKeepAlive(), h, method, target)
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		assert.Contains(t, string(body), `"code":"`+want+`"`, path)
	}
}

// TestHealthOfAJournal: a host whose journal is closed says so, with a code and without the error.
func TestHealthOfAJournal(t *testing.T) {
	h, err := host.Open(t.Context(), host.Config{
		Tools: noteTools(nil), Policies: policies(), Dir: t.TempDir(), Report: func(error) {}, Serve: host.Serve{Addr: "127.0.0.1:0"},
	})
	require.NoError(t, err)
	defer func() { assert.Error(t, h.Close(context.Background())) }()
	execute(t, h, "c1", "Shopping")
	require.NoError(t, h.Store.Close())
	execute(t, h, "c2", "Shopping")
	status, body := ask(t, noKeepAlive(), h, "/health")
	assert.Equal(t, http.StatusServiceUnavailable, status)
	assert.JSONEq(t, `{"type":"about:blank","title":"The journal cannot be read or written now","status":503,"code":"journal_unavailable"}`, body)
}

// group is an authenticator that takes everybody for a group.
type group struct{}

func (group) Authenticate(*http.Request) (stream.Caller, error) {
	return stream.Caller{Actor: runtime.Actor{ID: "group:finance", Method: "own"}}, nil
}

// TestNobodyIsAGroup: an id that reads as a group is refused, whoever authenticated it; so is what does
// not come from the proxy.
func TestNobodyIsAGroup(t *testing.T) {
	client := noKeepAlive()
	h := serving(t, host.Serve{Auth: group{}})
	status, _ := ask(t, client, h, "/metrics")
	assert.Equal(t, http.StatusUnauthorized, status)
	assert.Empty(t, h.LoginURL("root"), "another one authenticates")
	status, body := ask(t, client, serving(t, host.Serve{TrustedProxies: proxied}), "/health")
	assert.Equal(t, http.StatusForbidden, status)
	assert.Contains(t, body, `"not_permitted"`)
}

// TestProxyUser: behind a proxy a request comes from whom the header names, and from a client of no proxy it does not.
func TestProxyUser(t *testing.T) {
	client := noKeepAlive()
	here := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	h := serving(t, host.Serve{TrustedProxies: here, ProxyUser: "X-User", Mount: []func(*host.Host) (string, http.Handler){
		func(*host.Host) (string, http.Handler) {
			return "/who", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				who, _ := stream.CallerOf(r)
				_, _ = io.WriteString(w, who.ID+" by "+string(who.Method))
			})
		},
	}})
	_, body := ask(t, client, h, "/who", "X-User", "alice")
	assert.Equal(t, "alice by proxy", body)
	status, _ := ask(t, client, h, "/who", "X-Forwarded-User", "alice")
	assert.Equal(t, http.StatusUnauthorized, status)
	status, _ = ask(t, client, serving(t, host.Serve{}), "/metrics", "X-User", "alice")
	assert.Equal(t, http.StatusUnauthorized, status)
	status, _ = ask(t, client, serving(t, host.Serve{TrustedProxies: proxied, ProxyUser: "X-User"}), "/metrics", "X-User", "alice")
	assert.Equal(t, http.StatusForbidden, status)
}
