package shadow_test

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/internal/facts"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/operator"
	"github.com/ambit-tools/ambit/runtime/shadow"
)

// differences collects differences. The executor reports one after the other.
type differences struct{ list []shadow.Difference }

func (d *differences) add(x shadow.Difference) { d.list = append(d.list, x) }

func TestShadowTellsWhereItDiffers(t *testing.T) {
	ask := runtime.Ask{ID: "sure", MaxCover: runtime.CoverTool}
	deny := runtime.Denial{Code: "no"}
	allowed := runtime.Decision{Effect: runtime.EffectAllow, Revision: "one"}
	for name, c := range map[string]struct {
		is   runtime.Decision
		want shadow.Decision
	}{
		"same":         {is: runtime.Decision{Effect: runtime.EffectAllow, Revision: "two"}},
		"denies":       {runtime.Decision{Denials: []runtime.Denial{deny, {Code: "and"}, deny}}, shadow.Decision{Denials: []string{"and", "no"}}},
		"says nothing": {runtime.Decision{}, shadow.Decision{}},
		"denies and asks": {
			runtime.Decision{Effect: runtime.EffectAsk, Asks: []runtime.Ask{ask}, Denials: []runtime.Denial{deny}},
			shadow.Decision{Denials: []string{"no"}},
		},
		"asks": {
			runtime.Decision{Effect: runtime.EffectAllow, Asks: []runtime.Ask{ask}},
			shadow.Decision{Effect: runtime.EffectAsk, Asks: []string{"sure"}},
		},
		"rewrites": {
			runtime.Decision{Effect: runtime.EffectAllow, Rewrites: []runtime.Rewrite{{Code: "cap", Pointer: "/limit", Value: []byte("1")}}},
			shadow.Decision{Effect: runtime.EffectAllow, Rewrites: []string{"/limit"}},
		},
		"obliges": {
			runtime.Decision{Effect: runtime.EffectAllow, Obligations: []runtime.Obligation{{Code: "notify"}}},
			shadow.Decision{Effect: runtime.EffectAllow, Obligations: []string{"notify"}},
		},
		"makes no sense": {runtime.Decision{Effect: 9}, shadow.Decision{Failed: "effect"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := &differences{}
			second := shadow.New(decide(c.is), d.add)
			r := newRig(t, decide(allowed), readTool(okRead), engine.WithDecisionTap(second))
			out := r.turn().Execute(t.Context(), callOf("c1", goodInput))
			require.Equal(t, runtime.Completed, out.Kind, out.Message)
			assert.Equal(t, "one", out.Revision)
			require.NoError(t, r.exec.Shutdown(t.Context()))
			stats := second.Stats()
			require.EqualValues(t, 1, stats.Compared)
			if name == "same" {
				assert.Empty(t, d.list)
				return
			}
			require.Len(t, d.list, 1)
			assert.EqualValues(t, 1, stats.Different)
			got := d.list[0]
			assert.Equal(t, []string{"c1", "file_read", "s", "r", "agent"}, []string{got.CallID, got.Tool, got.SessionID, got.RunID, got.Principal})
			assert.Equal(t, shadow.Decision{Effect: runtime.EffectAllow, Revision: "one"}, got.Active)
			assert.Equal(t, c.want, got.Shadow)
		})
	}
}

func TestShadowDifferencesAreRecorded(t *testing.T) {
	j := &journal.Memory{}
	start := func() *rig {
		second := shadow.New(decide(runtime.Decision{Denials: []runtime.Denial{{Code: "no"}}, Revision: "two"}), nil)
		return newRig(t, runtime.PolicyFunc(allowAll), readTool(okRead), engine.WithJournal(j), engine.WithDecisionTap(second))
	}
	r := start()
	r.turn().Execute(t.Context(), callOf("c1", goodInput))
	require.NoError(t, r.exec.Shutdown(t.Context()))
	entries, err := j.Call(t.Context(), journal.CallKey{Session: "s", Call: "c1"})
	require.NoError(t, err)
	found := 0
	for _, e := range entries {
		if e.Kind != journal.KindShadow {
			continue
		}
		found++
		rec, err := journal.Decode(e.Leaf)
		require.NoError(t, err)
		assert.JSONEq(t, `{"active":{"effect":"allow"},"shadow":{"effect":"deny","deny":["no"],"policy_revision":"two"}}`, string(rec.Decision))
	}
	assert.Equal(t, 1, found)
	require.NoError(t, start().exec.Shutdown(t.Context())) // and recovery reads it
}

// TestShadowSeesWhatThePolicySaw compares the two inputs. The arguments are not those
// of the handler, and the memo in the facts is not that of the policy.
func TestShadowSeesWhatThePolicySaw(t *testing.T) {
	type seen struct {
		in      runtime.PolicyInput
		limit   int64
		version uint64
		memo    any
	}
	look := func(into *[]seen, memo any) runtime.Policy {
		return runtime.PolicyFunc(func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
			s := seen{*in, in.Args.(*readInput).Limit, in.Facts().Version(), (*facts.Snapshot)(in.Facts()).Memo(func(any, []int) any { return memo })}
			s.in.Args = nil
			s.in.SetFacts(nil)
			*into = append(*into, s)
			return runtime.Decision{Effect: runtime.EffectAllow}, nil
		})
	}
	var was, is []seen
	spoil := func(_ context.Context, in *readInput) (*readInput, error) {
		in.Limit, in.Path = -1, "elsewhere"
		return &readInput{}, nil
	}
	r := newRig(t, look(&was, "policy"), readTool(spoil), engine.WithDecisionTap(shadow.New(look(&is, "shadow"), nil)))
	turn := r.turn()
	for i := range 50 {
		turn.Execute(t.Context(), callOf(fmt.Sprint("c", i), goodInput))
	}
	require.NoError(t, r.exec.Shutdown(t.Context()))
	require.Len(t, is, len(was))
	for i := range is {
		assert.Equal(t, "policy", was[i].memo)
		assert.Equal(t, "shadow", is[i].memo)
		is[i].memo = was[i].memo
		assert.Equal(t, was[i], is[i])
	}
}

func TestShadowThatFails(t *testing.T) {
	for name, f := range map[string]runtime.PolicyFunc{
		"error": func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
			return runtime.Decision{}, errors.New("mischief")
		},
		"panic": func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) { panic("mischief") },
		"exit": func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
			goruntime.Goexit()
			return runtime.Decision{}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := &differences{}
			second := shadow.New(f, func(x shadow.Difference) {
				d.add(x)
				panic("the report too")
			})
			r := newRig(t, runtime.PolicyFunc(allowAll), readTool(okRead), engine.WithDecisionTap(second))
			turn := r.turn()
			for i := range 20 {
				require.Equal(t, runtime.Completed, turn.Execute(t.Context(), callOf(fmt.Sprint("c", i), goodInput)).Kind)
			}
			require.NoError(t, r.exec.Shutdown(t.Context()))
			stats := second.Stats()
			assert.EqualValues(t, 20, stats.Compared)
			assert.EqualValues(t, 20, stats.Failed)
			if name == "exit" {
				return
			}
			require.Len(t, d.list, 20)
			assert.Equal(t, name, d.list[0].Shadow.Failed)
			require.ErrorContains(t, d.list[0].Err, "mischief")
			assert.Len(t, r.allFaults(), 20)
		})
	}
}

// TestShadowThatHangs shows that calls and shutdown do not wait for a shadow, that the
// number of waiting calls is bounded, and that calls that are not compared are counted.
func TestShadowThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		d := &differences{}
		second := shadow.New(runtime.PolicyFunc(
			func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
				<-release
				return runtime.Decision{}, nil
			}), d.add)
		r := newRig(t, runtime.PolicyFunc(allowAll), readTool(okRead), engine.WithDecisionTap(second))
		begin := time.Now()
		turn := r.turn()
		for i := range 1000 {
			require.Equal(t, runtime.Completed, turn.Execute(t.Context(), callOf(fmt.Sprint("c", i), goodInput)).Kind)
		}
		assert.Zero(t, time.Since(begin))
		require.NoError(t, r.exec.Shutdown(t.Context()))
		assert.Equal(t, runtime.DefaultPolicyTimeout, time.Since(begin))
		stats := second.Stats()
		assert.Zero(t, stats.Compared)
		assert.GreaterOrEqual(t, stats.Dropped, uint64(1000-2*256))
		close(release)
		synctest.Wait()
		assert.Empty(t, d.list, "nobody is told after the shutdown")
	})
}

func TestShadowThatIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &differences{}
		second := shadow.New(runtime.PolicyFunc(
			func(ctx context.Context, _ *runtime.PolicyInput) (runtime.Decision, error) {
				<-ctx.Done()
				return runtime.Decision{Effect: runtime.EffectAllow}, nil
			}), d.add)
		r := newRig(t, runtime.PolicyFunc(allowAll), readTool(okRead), engine.WithDecisionTap(second))
		r.turn().Execute(t.Context(), callOf("c1", goodInput))
		time.Sleep(runtime.DefaultPolicyTimeout)
		synctest.Wait()
		require.NoError(t, r.exec.Shutdown(t.Context()))
		require.Len(t, d.list, 1)
		assert.Equal(t, "timeout", d.list[0].Shadow.Failed)
	})
}

// TestShadowWithoutAPolicy compares nothing.
func TestShadowWithoutAPolicy(t *testing.T) {
	for _, second := range []*shadow.Shadow{nil, shadow.New(nil, nil)} {
		r := newRig(t, runtime.PolicyFunc(allowAll), readTool(okRead), engine.WithDecisionTap(second))
		require.Equal(t, runtime.Completed, r.turn().Execute(t.Context(), callOf("c1", goodInput)).Kind)
		require.NoError(t, r.exec.Shutdown(t.Context()))
		assert.Zero(t, second.Stats())
	}
}

// TestShadowOfConcurrentCalls makes calls that are refused, asked, rewritten and
// evaluated by WhatIf, concurrently, for the race detector.
func TestShadowOfConcurrentCalls(t *testing.T) {
	active := runtime.PolicyFunc(func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
		d := runtime.Decision{Effect: runtime.EffectAllow}
		switch in.Args.(*readInput).Limit % 4 {
		case 1:
			d.Denials = []runtime.Denial{{Code: "odd"}}
		case 2:
			d.Asks = []runtime.Ask{{ID: "even", MaxCover: runtime.CoverTool}}
		case 3:
			d.Rewrites = []runtime.Rewrite{{Code: "cap", Pointer: "/limit", Value: []byte("8")}}
		}
		return d, nil
	})
	second := shadow.New(active, func(d shadow.Difference) {
		// A call whose arguments were rewritten is compared with the new ones.
		assert.Fail(t, "the same policy differs from itself", "%+v", d)
	})
	r := newRig(t, active, readTool(okRead), engine.WithPendingRequests(), engine.WithDecisionTap(second))
	run := r.run()
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			turn := run.Turn(engine.TurnConfig{})
			for i := range 50 {
				in := callOf(fmt.Sprint("c", g, ".", i), fmt.Sprintf(`{"path":"p","limit":%d}`, 1+i%8))
				turn.WhatIf(t.Context(), in)
				out := turn.Execute(t.Context(), in)
				if out.Kind == runtime.Pending {
					r.exec.Decide(t.Context(), out.RequestID, action.Answer{By: operator.Program("alice"), Approve: true})
				}
			}
		})
	}
	all.Wait()
	require.NoError(t, r.exec.Shutdown(t.Context()))
	stats := second.Stats()
	assert.Positive(t, stats.Compared)
	assert.Zero(t, stats.Different)
}

// A bencher makes calls. It changes to a new session now and then, because a session keeps its calls.
type bencher struct {
	exec *engine.Executor
	turn *engine.Turn
	next int
}

func newBencher(b *testing.B, opts ...engine.Option) *bencher {
	reg, err := runtime.NewRegistry(readTool(okRead))
	require.NoError(b, err)
	g := &bencher{}
	g.exec, err = engine.NewExecutor(reg, runtime.PolicyFunc(allowAll), opts...)
	require.NoError(b, err)
	return g
}

func (g *bencher) call(b *testing.B) {
	if g.next%512 == 0 {
		run, err := g.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).StartRun(b.Context(), engine.RunConfig{})
		require.NoError(b, err)
		g.turn = run.Turn(engine.TurnConfig{Budget: time.Hour})
	}
	g.next++
	g.turn.Execute(b.Context(), callOf(strconv.Itoa(g.next), goodInput))
}

type nopSink struct{}

func (*nopSink) Emit(*runtime.Event) error { return nil }

// BenchmarkShadow measures what a shadow costs a call: the same calls with and without
// a shadow, alternating, and the median of the ratios. A shadow that hangs shows the
// cost in the call itself, a trivial shadow the cost when the processors are busy.
func BenchmarkShadow(b *testing.B) {
	keep := make([]byte, 32<<20)
	defer goruntime.KeepAlive(keep)
	for name, policy := range map[string]runtime.PolicyFunc{
		"trivial": allowAll,
		"hangs": func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
			<-b.Context().Done()
			return runtime.Decision{}, nil
		},
	} {
		b.Run(name, func(b *testing.B) {
			without := newBencher(b, engine.WithSink(&nopSink{}))
			second := shadow.New(policy, nil)
			with := newBencher(b, engine.WithSink(&nopSink{}), engine.WithDecisionTap(second))
			timed := func(g *bencher) float64 {
				start := time.Now()
				for range 200 {
					g.call(b)
				}
				return float64(time.Since(start))
			}
			var ratios []float64
			for b.Loop() {
				ratios = append(ratios, timed(with)/timed(without))
			}
			slices.Sort(ratios)
			b.ReportMetric(ratios[len(ratios)/2], "with/without")
			s := second.Stats()
			b.ReportMetric(float64(s.Dropped)/float64(s.Dropped+s.Compared), "dropped")
		})
	}
}
