package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// A recorder makes calls and answers, and records what happened and when.
type recorder struct {
	exec     *engine.Executor
	sessions []*engine.Session
	runs     []*engine.Run
	turns    []*engine.Turn
	clock    atomic.Int64

	mu       sync.Mutex
	history  []porcupine.Operation
	started  map[string]int64 // by call
	ended    map[string]int64
	asked    [][]linearStep // by session: calls that became pending
	inFlight [][]string     // by session and client: a call without an outcome
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

// did records an operation.
func (r *recorder) did(client int, in linearStep, from int64, out string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history = append(r.history, porcupine.Operation{ClientId: client, Input: in, Call: from, Output: out, Return: r.clock.Add(1)})
}

func (r *recorder) call(client int, in linearStep) {
	limit := 1
	if in.fails {
		limit = 2
	}
	r.fly(client, in.session, in.id)
	defer r.fly(client, in.session, "")
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

func (r *recorder) fly(client, session int, id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inFlight[session][client] = id
}

// answered returns the outcome as the model writes it.
func answered(out runtime.Outcome) string {
	switch out.Kind {
	case runtime.Denied:
		text := fmt.Sprint("denied ", out.AllReasons)
		if out.Reason == runtime.ReasonRunFinished && strings.Contains(out.Message, "the session has ended") {
			text += " of the session"
		}
		return text
	case runtime.Duplicate:
		return "duplicate of " + out.Of
	case runtime.Pending:
		return "pending"
	case runtime.Cancelled:
		return fmt.Sprint("cancelled ", out.Reason)
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
	if res.Kind != runtime.ResolutionAccepted {
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
	ends := map[[2]int]string{} // by client and its number of an operation
	rng := rand.New(rand.NewPCG(seed, 1<<32))
	for i := range sessions {
		s := r.exec.Session(engine.SessionConfig{ID: fmt.Sprint(i), Principal: "agent"})
		run, err := s.StartRun(t.Context(), engine.RunConfig{ID: "r"})
		require.NoError(t, err)
		r.sessions, r.runs, r.turns = append(r.sessions, s), append(r.runs, run), append(r.turns, run.Turn(engine.TurnConfig{}))
		r.inFlight = append(r.inFlight, make([]string, clients))
		first := (i*each + sessions - 1) / sessions
		for _, how := range [][]string{nil, {"close"}, {"end"}, {"close", "end"}, {"close", "close"}, {"end", "end"}}[rng.IntN(6)] {
			ends[[2]int{rng.IntN(clients), first + each/sessions/4 + rng.IntN(each/sessions/2)}] = how
		}
	}
	var wg sync.WaitGroup
	for client := range clients {
		rng := rand.New(rand.NewPCG(seed, uint64(client)))
		wg.Go(func() {
			for i := range each {
				in := linearStep{kind: "call", session: i * sessions / each, id: fmt.Sprint(client, "-", i)}
				in.tool = tools[rng.IntN(len(tools))].Name()
				in.arg, in.fails = linearArgs[rng.IntN(len(linearArgs))], rng.IntN(4) == 0
				r.operate(client, in, ends[[2]int{client, i}], rng)
			}
		})
	}
	wg.Wait()
	return r.whole(t, rig), rig.exec.Engine()
}

// operate ends the run or the session of in, or makes another operation in it, mostly the call in.
func (r *recorder) operate(client int, in linearStep, how string, rng *rand.Rand) {
	if how != "" {
		r.end(client, in, how)
		return
	}
	r.mu.Lock()
	asked := r.asked[in.session]
	r.mu.Unlock()
	switch which := rng.IntN(16); {
	case which < 4 && len(asked) > 0:
		r.answer(client, asked[rng.IntN(len(asked))])
	case which == 4:
		r.cancel(client, in, rng)
	case which >= 5 && which < 8:
		r.look(client, in, []string{"begin", "status", "grants"}[rng.IntN(3)])
	default:
		r.call(client, in)
	}
}

// maxSteps bounds the search in one history; most take some hundreds.
const maxSteps = 300_000

// TestLinearizable compares histories of many goroutines, some of which close the run or end the session, with the sequential rule
// machine.
// SEMANTICS 1.3.1, 1.3.2, 1.3.3, 1.4.5, 3.5.4
func TestLinearizable(t *testing.T) {
	histories := battery.Count(t, 20, 200)
	for unknown, checked := 0, 0; checked < histories; checked++ {
		seed := rand.Uint64()
		history, engine := record(t, seed)
		require.GreaterOrEqual(t, len(history), 700, "seed %d", seed)
		var steps atomic.Int64
		steps.Store(maxSteps)
		legal := porcupine.CheckOperations(linearModel(engine, &steps), history)
		switch {
		case legal:
		case steps.Load() >= 0:
			t.Errorf("seed %d: the history of a session is not linearizable", seed)
		default: // rarely so many operations overlap that the search does not end: another history is made
			checked--
			unknown++
			require.LessOrEqual(t, unknown, histories, "seed %d: the searches take too many steps", seed)
		}
	}
}
