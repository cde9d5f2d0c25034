package webhook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/host/feed"
	"github.com/ambit-tools/ambit/runtime/host/webhook"
	"github.com/ambit-tools/ambit/runtime/journal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// secret signs, and token is in the URL: neither may be in a report.
const (
	secret = "whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0"
	token  = "hunter2"
)

// endpoint returns an endpoint that sends to a receiver.
func endpoint(to http.RoundTripper) webhook.Endpoint {
	return webhook.Endpoint{URL: "https://receiver.example/" + token, Secret: secret, Transport: to}
}

// A delivery is one request that a receiver got.
type delivery struct {
	at     time.Time
	header http.Header
	id     string
	body   string
}

// A receiver answers with what answer says, 204 when it is nil.
type receiver struct {
	answer func(ctx context.Context, n int) (*http.Response, error)

	mu  sync.Mutex
	got []delivery
}

func (r *receiver) RoundTrip(req *http.Request) (*http.Response, error) {
	text, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	n := len(r.got)
	r.got = append(r.got, delivery{time.Now(), req.Header, req.Header.Get("Webhook-Id"), string(text)})
	r.mu.Unlock()
	if r.answer != nil {
		return r.answer(req.Context(), n)
	}
	return status(http.StatusNoContent), nil
}

func (r *receiver) all() []delivery {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]delivery(nil), r.got...)
}

// status returns an answer.
func status(code int) *http.Response {
	return &http.Response{StatusCode: code, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("no"))}
}

// A memory is a Position that a crash does not lose.
type memory struct {
	mu    sync.Mutex
	at    uint64
	known bool
	lost  bool // positions are not saved any more
}

func (m *memory) Load() (uint64, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.at, m.known, nil
}

func (m *memory) Save(at uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lost {
		return fmt.Errorf("the disk is full")
	}
	m.at, m.known = at, true
	return nil
}

// reports collects what a sender reports.
type reports struct {
	mu   sync.Mutex
	list []string
}

func (r *reports) add(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, err.Error())
}

func (r *reports) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.list...)
}

// at is when all entries were written.
var at = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// asked is a change of the book of requests: consent is asked for the call c1.
var asked = consent.Event{
	Seq: 1, Kind: consent.EventAsked, At: at, Request: "Q1", Call: "c1",
	Asked: &consent.Request{
		ID: "Q1", CallID: "c1", Tool: "send", Session: "s 1", Run: "r1", Principal: "agent", Effect: "destructive", Expires: at.Add(time.Hour),
		Terms: consent.Terms{Args: []byte(`{"to":"ada","pin":"(sensitive)"}`), Requirement: consent.Requirement{Approvers: []string{"group:finance"}}},
	},
}

// add appends records to the journal of a feed.
func add(t testing.TB, f *feed.Feed, records ...journal.Record) {
	t.Helper()
	for i := range records {
		records[i].At = at
		leaf, err := journal.Encode(&records[i])
		require.NoError(t, err)
		entry := journal.Entry{Seq: f.Head() + 1, At: at, Kind: records[i].Kind, Session: records[i].Session, Call: records[i].Call, Leaf: leaf, Private: []byte(token)}
		require.NoError(t, f.Journal().Append(context.WithoutCancel(t.Context()), []journal.Entry{entry}))
	}
}

// failed is the record of an undo that failed.
func failed(call string) journal.Record {
	return journal.Record{Kind: "tool.undo_failed", Session: "s 1", Run: "r1", Turn: 3, RequestID: "web-1", Call: call, Tool: "send", By: "alice", Rejection: "handler_error", Err: token}
}

// decoded returns a body.
func decoded(t testing.TB, body string) (m map[string]any) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(body), &m))
	return m
}
