package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// A recorder makes calls and answers, and records what happened and when.
type recorder struct {
	exec  *engine.Executor
	turns []*engine.Turn
	clock atomic.Int64

	mu       sync.Mutex
	history  []porcupine.Operation
	started  map[string]int64 // by call
	ended    map[string]int64
	asked    [][]linearStep // by session: calls that became pending
	requests map[string]string
}

// tools returns tools with counts, groups, duplicates, grants and approvals.
func (r *recorder) tools() []*runtime.Tool {
	handler := func(ctx context.Context, in *readInput) (*readOutput, error) {
		info, _ := runtime.FromContext(ctx)
		r.mark(r.started, info.ID)
		defer r.mark(r.ended, info.ID)
		if in.Limit == 2 {
			return nil, errors.New("mischief")
		}
		return okRead(ctx, in)
	}
	tool := func(name string, change func(*runtime.Spec)) *runtime.Tool {
		return readTool(handler, named(name), change)
	}
	return []*runtime.Tool{
		tool("count", func(s *runtime.Spec) { s.Rules.MaxCalls = 9 }),
		tool("left", func(s *runtime.Spec) { s.Rules.ExclusiveGroups = []string{"g"} }),
		tool("right", func(s *runtime.Spec) { s.Rules.ExclusiveGroups = []string{"g"} }),
		tool("once", func(s *runtime.Spec) { s.Dedupe.Mode = runtime.DedupeAlways }),
		tool("sure", func(s *runtime.Spec) { asking()(s); s.Rules.MaxCalls = 6 }),
		tool("trust", func(s *runtime.Spec) { asking()(s); s.Rules.MaxCalls = 12 }),
	}
}

func (r *recorder) mark(where map[string]int64, id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	where[id] = r.clock.Add(1)
}

// did records an operation, and the end of the handler that it started.
func (r *recorder) did(client int, in linearStep, from int64, out string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock.Add(1)
	op := porcupine.Operation{ClientId: client, Input: in, Call: from, Output: out, Return: now}
	if out == "started" {
		op.Return = r.started[in.id]
		end := in
		end.kind = "finish"
		r.history = append(r.history, porcupine.Operation{ClientId: client, Input: end, Call: r.ended[in.id], Output: "", Return: now})
	}
	r.history = append(r.history, op)
}

func (r *recorder) call(client int, in linearStep) {
	limit := 1
	if in.fails {
		limit = 2
	}
	from := r.clock.Add(1)
	out := r.turns[in.session].Execute(context.Background(), callOf(in.id, in.tool, fmt.Sprintf(`{"path":%q,"limit":%d}`, in.arg, limit)))
	if out.Kind == runtime.Pending {
		r.mu.Lock()
		r.asked[in.session] = append(r.asked[in.session], in)
		r.requests[in.id] = out.RequestID
		r.mu.Unlock()
	}
	r.did(client, in, from, answered(out))
}

// answered returns the outcome as the model writes it.
func answered(out runtime.Outcome) string {
	switch out.Kind {
	case runtime.Denied:
		return fmt.Sprint("denied ", out.AllReasons)
	case runtime.Duplicate:
		return "duplicate of " + out.Of
	case runtime.Pending:
		return "pending"
	}
	return "started"
}

func (r *recorder) answer(client int, in linearStep) {
	in.kind = "answer"
	a := yes("alice")
	if in.tool == "trust" {
		a.Grant, a.Cover = consent.ForSession, runtime.CoverTool
	}
	from := r.clock.Add(1)
	r.mu.Lock()
	request := r.requests[in.id]
	r.mu.Unlock()
	res := r.exec.Decide(context.Background(), request, a)
	if res.Kind != consent.Accepted {
		r.did(client, in, from, res.Reason.String())
		return
	}
	r.did(client, in, from, answered(*res.Outcome))
}

// record lets goroutines make operations in several sessions, one session after the
// other, and returns the history.
func record(t *testing.T, seed uint64) ([]porcupine.Operation, *rules.Engine) {
	const sessions, clients, each = 8, 8, 100
	r := &recorder{started: map[string]int64{}, ended: map[string]int64{}, asked: make([][]linearStep, sessions), requests: map[string]string{}}
	tools := r.tools()
	rig := newRigWith(t, runtime.PolicyFunc(allowAll), tools, engine.WithPendingRequests())
	r.exec = rig.exec
	for i := range sessions {
		run, err := r.exec.Session(engine.SessionConfig{ID: fmt.Sprint(i), Principal: "agent"}).StartRun(t.Context(), engine.RunConfig{ID: "r"})
		require.NoError(t, err)
		r.turns = append(r.turns, run.Turn(engine.TurnConfig{}))
	}
	var wg sync.WaitGroup
	for client := range clients {
		rng := rand.New(rand.NewPCG(seed, uint64(client)))
		wg.Go(func() {
			for i := range each {
				in := linearStep{kind: "call", session: i * sessions / each, id: fmt.Sprint(client, "-", i)}
				in.tool = tools[rng.IntN(len(tools))].Name()
				in.arg, in.fails = linearArgs[rng.IntN(len(linearArgs))], rng.IntN(4) == 0
				r.mu.Lock()
				asked := r.asked[in.session]
				r.mu.Unlock()
				if len(asked) > 0 && rng.IntN(4) == 0 {
					r.answer(client, asked[rng.IntN(len(asked))])
					continue
				}
				r.call(client, in)
			}
		})
	}
	wg.Wait()
	return r.history, rig.exec.Engine()
}

// maxSteps bounds the search in one history; most take some hundreds.
const maxSteps = 300_000

// TestLinearizable compares histories of many goroutines with the sequential rule
// machine.
func TestLinearizable(t *testing.T) {
	histories := battery.Count(t, 20, 200)
	illegal, unknown := 0, 0
	for checked := 0; checked < histories; checked++ {
		seed := rand.Uint64()
		history, engine := record(t, seed)
		require.GreaterOrEqual(t, len(history), 800)
		var steps atomic.Int64
		steps.Store(maxSteps)
		legal := porcupine.CheckOperations(linearModel(engine, &steps), history)
		switch {
		case legal:
		case steps.Load() >= 0:
			illegal++
		default: // rarely so many operations overlap that the search does not end: another history is made
			checked--
			unknown++
			require.LessOrEqual(t, unknown, histories, "seed %d: the searches take too many steps", seed)
		}
	}
	assert.Zero(t, illegal)
}
