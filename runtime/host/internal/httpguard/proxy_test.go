package httpguard_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/host/internal/httpguard"
)

// TestProxyHeader: a header says who sends a request when it comes from a listed address, and says it once.
func TestProxyHeader(t *testing.T) {
	p := httpguard.ProxyHeader{User: "X-User", Groups: "X-Groups", Proxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/28")}}
	for name, c := range map[string]struct {
		from   string
		header http.Header
		want   runtime.Actor // none: it is not known
	}{
		"the proxy":      {"192.0.2.1:9", http.Header{"X-User": {"alice"}, "X-Groups": {"finance, ops,"}}, runtime.Actor{ID: "alice", Groups: []string{"finance", "ops"}, Method: httpguard.Proxied}},
		"IPv4 in IPv6":   {"[::ffff:192.0.2.1]:9", http.Header{"X-User": {" alice "}}, runtime.Actor{ID: "alice", Method: httpguard.Proxied}},
		"somebody":       {"198.51.100.1:9", http.Header{"X-User": {"alice"}}, runtime.Actor{}},
		"no header":      {"192.0.2.1:9", http.Header{"X-Groups": {"finance"}}, runtime.Actor{}},
		"an empty one":   {"192.0.2.1:9", http.Header{"X-User": {" "}}, runtime.Actor{}},
		"two of them":    {"192.0.2.1:9", http.Header{"X-User": {"alice", "bob"}}, runtime.Actor{}},
		"groups twice":   {"192.0.2.1:9", http.Header{"X-User": {"alice"}, "X-Groups": {"a", "b"}}, runtime.Actor{}},
		"forwarded only": {"198.51.100.1:9", http.Header{"X-User": {"alice"}, "X-Forwarded-For": {"192.0.2.1"}}, runtime.Actor{}},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.RemoteAddr, r.Header = c.from, c.header
			got, err := p.Authenticate(r)
			if c.want.ID == "" {
				require.ErrorIs(t, err, httpguard.ErrUnknown)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, got.Actor)
		})
	}
}
