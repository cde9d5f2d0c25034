package replay_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/simulated"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// A store is a journal that outlives the executors that write it: its keys are
// those of the store that it continues.
type store struct {
	*journal.Memory
	keys *journal.Memory

	mu      sync.Mutex
	durable []uint64 // the last position of each Append: a process may end after any
}

func newStore() *store { return &store{Memory: &journal.Memory{}, keys: &journal.Memory{}} }

// Append implements journal.Journal.
func (s *store) Append(ctx context.Context, entries []journal.Entry) error {
	err := s.Memory.Append(ctx, entries)
	if err == nil && len(entries) > 0 {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.durable = append(s.durable, entries[len(entries)-1].Seq)
	}
	return err
}

// Key implements journal.Keeper.
func (s *store) Key(ctx context.Context, name string) ([]byte, error) { return s.keys.Key(ctx, name) }

// upTo returns what the store held when its entry at a position was the last one.
func (s *store) upTo(t *testing.T, last uint64) *store {
	t.Helper()
	entries, err := s.Read(t.Context(), 0, int(last))
	require.NoError(t, err)
	left := &store{Memory: &journal.Memory{}, keys: s.keys}
	require.NoError(t, left.Append(t.Context(), entries))
	return left
}

// last returns the position of the last entry, or of the end of one of the batches
// before that.
func (s *store) last(before int) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.durable[max(len(s.durable)-1-before, 0)]
}

// played runs the operations of a seed. Unless it is loose, processes are killed on
// the way.
func played(t *testing.T, seed uint64, file *dsl.File, policy runtime.Policy, loose bool) *store {
	rng := rand.New(rand.NewPCG(seed, 3))
	return playedBy(&play{recorder: newRecorderOf(t, file, policy, settings(rng)...), rng: rng, loose: loose}, file, policy)
}

// playedBy runs the operations of a play.
func playedBy(p *play, file *dsl.File, policy runtime.Policy) *store {
	rng, loose := p.rng, p.loose
	for range 40 {
		if !loose && rng.IntN(20) == 0 {
			p.kill(file, policy)
		}
		p.step()
	}
	return p.end()
}

// settings are random options of an executor.
func settings(rng *rand.Rand) []engine.Option {
	return []engine.Option{
		engine.WithPendingRequests(), engine.WithReminders(rng.IntN(4) - 1),
		engine.WithMinimumBudget([]time.Duration{0, 5 * time.Second, 9 * time.Second}[rng.IntN(3)]),
	}
}

// kill ends the process now, or a few writes earlier. Another one goes on with what
// the journal holds.
func (p *play) kill(file *dsl.File, policy runtime.Policy) {
	at := p.clock.Now().Add([]time.Duration{0, time.Second, 5 * time.Second, 2 * time.Minute}[p.rng.IntN(4)])
	left := p.journal.upTo(p.t, p.journal.last(p.rng.IntN(6)))
	p.end()
	p.recorder = successor(p.recorder, left, at)
	p.open(file, policy, settings(p.rng)...)
	p.session(engine.SessionConfig{ID: "s", Principal: "agent"})
	p.resume()
}

// successor is a recorder of the process that continues a store.
func successor(of *recorder, left *store, at time.Time) *recorder {
	return &recorder{
		t: of.t, clock: simulated.ClockAt(at), journal: left, cancels: map[string]context.CancelFunc{}, gone: map[string]chan struct{}{}, runs: of.runs,
	}
}

// resume continues the latest run where it is open, and starts another one where not.
func (r *recorder) resume() {
	run, open := r.ses.Run(fmt.Sprint("r", r.runs))
	if !open {
		r.newRun()
		return
	}
	r.run = run
	r.newTurn(engine.TurnConfig{})
}
