package interop

import (
	"bufio"
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/cloudevents/sdk-go/v2/event"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host"
	"github.com/ambit-tools/ambit/runtime/host/stream"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// everybody is known, and may do everything.
type everybody struct{}

func (everybody) Authenticate(*http.Request) (stream.Caller, error) {
	return stream.Caller{Actor: runtime.Actor{ID: "eve", Method: "test"}}, nil
}

func (everybody) Authorize(context.Context, *runtime.ActRequest) (runtime.ActDecision, error) {
	return runtime.ActDecision{Allow: true}, nil
}

// anyCodec takes any input.
type anyCodec struct{}

func (anyCodec) Decode(b []byte, l wire.Limits) (wire.Value, []wire.Violation) {
	return wire.ParseRaw(b, l)
}

// TestStreamIsCloudEvents: the SDK of CloudEvents reads every message of a stream and finds it valid,
// that of a call with a strange name too.
func TestStreamIsCloudEvents(t *testing.T) {
	note := runtime.NewDynamicTool(&runtime.Spec{Name: "note", Effect: runtime.SideEffectWrite}, anyCodec{}, func(_ context.Context, in wire.Value) (wire.Value, error) {
		return in, nil
	})
	h, err := host.Open(t.Context(), host.Config{
		Tools: []*runtime.Tool{note}, Dir: t.TempDir(), Report: func(error) {}, Operators: everybody{},
		Policy: runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
			return runtime.Decision{Effect: runtime.EffectAllow}, nil
		}),
		Serve: host.Serve{Addr: "127.0.0.1:0", Auth: everybody{}},
	})
	require.NoError(t, err)
	defer func() { assert.NoError(t, h.Close(context.Background())) }()
	run, err := h.Executor.Session(engine.SessionConfig{ID: "s / é?"}).StartRun(t.Context(), engine.RunConfig{})
	require.NoError(t, err)
	out := run.Turn(engine.TurnConfig{}).Execute(t.Context(), runtime.Call{ID: "c \"1\"", Tool: "note", Input: []byte(`{"to":"ada"}`)})
	require.Equal(t, runtime.Completed, out.Kind)

	res, err := http.Get("http://" + h.Addr().String() + "/events?after=0")
	require.NoError(t, err)
	defer func() { assert.NoError(t, res.Body.Close()) }()
	lines := bufio.NewScanner(res.Body)
	ids := map[string]bool{}
	for lines.Scan() {
		text, isData := strings.CutPrefix(lines.Text(), "data: ")
		if !isData {
			continue
		}
		var ev event.Event
		require.NoError(t, ev.UnmarshalJSON([]byte(text)), text)
		require.NoError(t, ev.Validate(), text)
		assert.Equal(t, event.ApplicationJSON, ev.DataContentType())
		assert.False(t, ids[ev.Source()+ev.ID()], "source and id name one event")
		ids[ev.Source()+ev.ID()] = true
		var data struct {
			Position uint64
			Session  string
		}
		require.NoError(t, ev.DataAs(&data))
		if ev.Type() == "stream.opened" {
			continue
		}
		assert.Equal(t, ev.ID(), strconv.FormatUint(data.Position, 10))
		assert.Equal(t, "s / é?", data.Session)
		assert.False(t, ev.Time().IsZero())
		if ev.Type() == "tool.completed" {
			break
		}
	}
	assert.Len(t, ids, 6)
}
