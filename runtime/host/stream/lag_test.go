package stream

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host/feed"
	"github.com/ambit-tools/ambit/runtime/host/internal/httpguard"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// allowed lets everybody in and do everything.
type allowed struct{}

func (allowed) Authenticate(*http.Request) (Caller, error) {
	return Caller{Actor: runtime.Actor{ID: "eve", Method: "test"}}, nil
}

func (allowed) Authorize(context.Context, *runtime.ActRequest) (runtime.ActDecision, error) {
	return runtime.ActDecision{Allow: true}, nil
}

// noCodec decodes nothing: no call is made.
type noCodec struct{}

func (noCodec) Decode([]byte, wire.Limits) (wire.Value, []wire.Violation) { return nil, nil }

// A stuck reader takes the first message, and the next ones when it is let go.
type stuck struct {
	bytes.Buffer
	head  http.Header
	first bool
	goOn  chan struct{}
}

func (s *stuck) Header() http.Header              { return s.head }
func (*stuck) WriteHeader(int)                    {}
func (*stuck) Flush()                             {}
func (*stuck) SetReadDeadline(time.Time) error    { return nil }
func (*stuck) SetWriteDeadline(t time.Time) error { return nil }
func (s *stuck) Write(b []byte) (int, error) {
	if s.first {
		<-s.goOn
	}
	s.first = true
	return s.Buffer.Write(b)
}

// TestLag: a reader that takes nothing while more comes than its buffer holds is told how many entries
// it missed and after which to resume. Its stream ends, and nothing but that waits for it.
func TestLag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := feed.New(new(journal.Memory), 0)
		registry, err := runtime.NewRegistry(runtime.NewDynamicTool(&runtime.Spec{Name: "note"}, noCodec{}, func(_ context.Context, in wire.Value) (wire.Value, error) { return in, nil }))
		require.NoError(t, err)
		exec, err := engine.NewExecutor(registry, runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
			return runtime.Decision{}, nil
		}), engine.WithOperators(allowed{}))
		require.NoError(t, err)
		defer func() { require.NoError(t, exec.Shutdown(t.Context())) }()
		reader := &stuck{head: http.Header{}, goOn: make(chan struct{})}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			guard := httpguard.Guard{Auth: allowed{}}
			guard.Known(New(exec, f).Events()).ServeHTTP(reader, httptest.NewRequest(http.MethodGet, "/events", nil))
		}()
		synctest.Wait()
		j := f.Journal()
		const all = 3 * maxFrames
		for seq := uint64(1); seq <= all; seq++ { // Append returns, whatever the reader does
			require.NoError(t, j.Append(t.Context(), []journal.Entry{{Seq: seq, Kind: "tool.started", Session: "s", Call: "c", Leaf: []byte(`{}`)}}))
		}
		time.Sleep(patience + 1) // of the clock of the bubble
		close(reader.goOn)
		<-ended
		got := reader.String()
		assert.Equal(t, 3, strings.Count(got, "id: "), got)
		assert.Contains(t, got, "id: 0\nevent: stream.opened\n")
		assert.Contains(t, got, "id: 1\nevent: tool.started\n", "it was under way")
		assert.Contains(t, got, "id: 1\nevent: stream.lagged\n", "resuming after 1 misses nothing")
		assert.Contains(t, got, `"data":{"position":1,"missed":767}`)
	})
}
