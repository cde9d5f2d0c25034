package engine

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// TestOneFunctionEmitsEvents: no other code of the engine gives events to sinks, but for those of no
// call, which recordConsent records.
// SEMANTICS 2.1.2
func TestOneFunctionEmitsEvents(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	var emit []string
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		if !strings.HasSuffix(name, "_test.go") && regexp.MustCompile(`delivery\.(Emit|EmitAs|Begin)\(`).Match(text) {
			emit = append(emit, name)
		}
	}
	require.Equal(t, []string{"durable.go", "transition.go"}, emit)
}

// TestTransitionFollowsTheTable tries random events on a call. The state changes and
// the event is emitted exactly when the table allows it.
// SEMANTICS 2.1.1, 2.1.2, 2.1.9
func TestTransitionFollowsTheTable(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 1))
	for range 2000 {
		var sink runtime.MemorySink
		var faults atomic.Int64
		e := &Executor{engine: new(rules.Engine)}
		e.delivery.Sinks, e.delivery.OnFault = []runtime.Sink{&sink}, func(*action.CallError) { faults.Add(1) }
		e.delivery.Open(&e.sched)
		c := &call{work: work{ident: ident{exec: e, run: &Run{session: &Session{exec: e}, by: &callOrigin{}}, turn: new(Turn), record: &callRecord{}}}}
		state, events, refused := runtime.StateDeclared, 0, 0
		for range 40 {
			kind, to := runtime.EventKind(rng.IntN(int(runtime.EventSinkDropped)+1)), runtime.State(rng.IntN(int(runtime.StateRolledBack)+1))
			if events == 0 && rng.IntN(2) == 0 {
				kind, to = runtime.EventInvoked, runtime.StateDeclared
			}
			ok := kind.Legal(state, to) && (kind == runtime.EventInvoked) == (events == 0)
			c.transition(kind, to, &note{At: time.Time{}})
			if ok {
				state = to
				events++
			} else {
				refused++
			}
			require.Equal(t, state, c.progress.State(), "seed %d", seed)
			require.Len(t, sink.Events(), events, "seed %d", seed)
			require.NoError(t, e.Flush(t.Context()))
			require.EqualValues(t, refused, faults.Load(), "seed %d", seed)
		}
		last := runtime.StateDeclared
		for _, ev := range sink.Events() {
			require.Equal(t, last, ev.From)
			last = ev.To
		}
	}
}
