package interop

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/host/feed"
	"github.com/ambit-tools/ambit/runtime/host/webhook"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// TestWebhooksVerify: the library of Standard Webhooks verifies a message by the new secret and by the earlier one, and by no other.
func TestWebhooksVerify(t *testing.T) {
	const now, before, other = "whsec_bm93LW5vdy1ub3ctbm93LW5vdy1ub3ctbm93", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_b3RoZXItb3RoZXItb3RoZXItb3RoZXItb3RoZXI="
	type request struct {
		header http.Header
		body   []byte
	}
	got := make(chan request, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		got <- request{r.Header, body}
	}))
	defer server.Close()
	f := feed.New(new(journal.Memory), 0)
	defer f.Close()
	to := webhook.Endpoint{URL: server.URL, Secret: now, Earlier: []string{before}}
	s, err := webhook.Start(f, to, webhook.FileFor(filepath.Join(t.TempDir(), "store"), &to), func(err error) { t.Error(err) })
	require.NoError(t, err)
	leaf, err := journal.Encode(&journal.Record{Kind: "tool.unknown", Session: "s1", Call: "c1"})
	require.NoError(t, err)
	require.NoError(t, f.Journal().Append(t.Context(), []journal.Entry{{Seq: 1, Kind: "tool.unknown", Session: "s1", Call: "c1", Leaf: leaf}}))
	sent := <-got
	s.Close()
	for secret, accepted := range map[string]bool{now: true, before: true, other: false} {
		verifier, err := standardwebhooks.NewWebhook(secret)
		require.NoError(t, err)
		assert.Equal(t, accepted, verifier.Verify(sent.body, sent.header) == nil, secret)
		assert.Error(t, verifier.Verify(append(sent.body, ' '), sent.header))
	}
}
