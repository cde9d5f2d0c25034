package host_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/host"
	"github.com/ambit-tools/ambit/runtime/host/webhook"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// TestWebhooksOutliveTheProcess asks for consent while the receiver fails, and answers in the next process.
func TestWebhooksOutliveTheProcess(t *testing.T) {
	type got struct {
		id, kind, request, state, body string
	}
	requests := make(chan got, 100)
	var down atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		var body struct {
			Type string
			Data struct{ Request, State string }
		}
		_ = json.Unmarshal(text, &body)
		requests <- got{r.Header.Get("Webhook-Id"), body.Type, body.Data.Request, body.Data.State, string(text)}
		if down.Load() {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	defer server.Close()
	var f faults
	config := host.Config{
		Tools: noteTools(nil), Policies: policies(), Dir: filepath.Join(t.TempDir(), "var"), Report: f.report,
		Webhooks: []webhook.Endpoint{{URL: server.URL, Secret: "whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0", Transport: new(http.Transport)}},
	}
	defer config.Webhooks[0].Transport.(*http.Transport).CloseIdleConnections()
	down.Store(true)
	h, err := host.Open(t.Context(), config)
	require.NoError(t, err)
	asked := execute(t, h, "c1", "Draft hunter2")
	require.Equal(t, runtime.Pending, asked.Kind, asked.Message)
	first := <-requests
	require.NoError(t, h.Close(t.Context()))

	down.Store(false)
	h, err = host.Open(t.Context(), config)
	require.NoError(t, err)
	again := <-requests
	assert.Equal(t, first, again)
	assert.Equal(t, "approval.requested", again.kind)
	assert.Equal(t, asked.RequestID, again.request)
	h.Executor.Decide(t.Context(), asked.RequestID, action.Answer{By: runtime.ProgramActor("alice"), Message: "hunter2"})
	ended := <-requests
	for ended.id == first.id { // it may have come more than twice
		ended = <-requests
	}
	assert.Equal(t, []string{"approval.ended", asked.RequestID, "denied"}, []string{ended.kind, ended.request, ended.state})
	require.NoError(t, h.Close(t.Context()))
	for _, text := range append(f.list, first.body, ended.body) {
		assert.NotContains(t, text, "hunter2")
	}
}

// TestWrongWebhooks: the host does not open, and closes what it has opened.
func TestWrongWebhooks(t *testing.T) {
	dir := t.TempDir()
	config := host.Config{Tools: noteTools(nil), Policies: policies(), Dir: dir, Webhooks: []webhook.Endpoint{{URL: "http://receiver.example/"}}}
	_, err := host.Open(t.Context(), config)
	require.ErrorContains(t, err, "the webhook to receiver.example: its URL sends to receiver.example in clear text")
	config.Journal = new(journal.Memory)
	_, err = host.Open(t.Context(), config)
	require.ErrorContains(t, err, "Webhooks and Journal")
	config.Journal, config.Webhooks = nil, nil
	h, err := host.Open(t.Context(), config)
	require.NoError(t, err)
	require.NoError(t, h.Close(t.Context()))
}
