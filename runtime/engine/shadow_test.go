package engine_test

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/internal/facts"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// differences collects differences. The executor reports one after the other.
type differences struct{ list []engine.ShadowDifference }

func (d *differences) add(x engine.ShadowDifference) { d.list = append(d.list, x) }

func TestShadowTellsWhereItDiffers(t *testing.T) {
	ask := runtime.Ask{ID: "sure", MaxCover: runtime.CoverTool}
	deny := runtime.Denial{Code: "no"}
	allowed := runtime.Decision{Effect: runtime.EffectAllow, Revision: "one"}
	for name, c := range map[string]struct {
		is   runtime.Decision
		want engine.ShadowDecision
	}{
		"same":         {is: runtime.Decision{Effect: runtime.EffectAllow, Revision: "two"}},
		"denies":       {runtime.Decision{Denials: []runtime.Denial{deny, {Code: "and"}, deny}}, engine.ShadowDecision{Denials: []string{"and", "no"}}},
		"says nothing": {runtime.Decision{}, engine.ShadowDecision{}},
		"denies and asks": {
			runtime.Decision{Effect: runtime.EffectAsk, Asks: []runtime.Ask{ask}, Denials: []runtime.Denial{deny}},
			engine.ShadowDecision{Denials: []string{"no"}},
		},
		"asks": {
			runtime.Decision{Effect: runtime.EffectAllow, Asks: []runtime.Ask{ask}},
			engine.ShadowDecision{Effect: runtime.EffectAsk, Asks: []string{"sure"}},
		},
		"rewrites": {
			runtime.Decision{Effect: runtime.EffectAllow, Rewrites: []runtime.Rewrite{{Code: "cap", Pointer: "/limit", Value: []byte("1")}}},
			engine.ShadowDecision{Effect: runtime.EffectAllow, Rewrites: []string{"/limit"}},
		},
		"obliges": {
			runtime.Decision{Effect: runtime.EffectAllow, Obligations: []runtime.Obligation{{Code: "notify"}}},
			engine.ShadowDecision{Effect: runtime.EffectAllow, Obligations: []string{"notify"}},
		},
		"makes no sense": {runtime.Decision{Effect: 9}, engine.ShadowDecision{Failed: "effect"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := &differences{}
			r := newRigWith(t, decide(allowed), []*runtime.Tool{readTool(okRead)}, engine.WithShadow(decide(c.is), d.add))
			out := r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
			require.Equal(t, runtime.Completed, out.Kind, out.Message)
			assert.Equal(t, "one", out.Revision)
			require.NoError(t, r.exec.Shutdown(t.Context()))
			stats := r.exec.ShadowStats()
			require.EqualValues(t, 1, stats.Compared)
			if name == "same" {
				assert.Empty(t, d.list)
				return
			}
			require.Len(t, d.list, 1)
			assert.EqualValues(t, 1, stats.Different)
			got := d.list[0]
			assert.Equal(t, []string{"c1", "file_read", "s", "r", "agent"}, []string{got.CallID, got.Tool, got.SessionID, got.RunID, got.Principal})
			assert.Equal(t, engine.ShadowDecision{Effect: runtime.EffectAllow, Revision: "one"}, got.Active)
			assert.Equal(t, c.want, got.Shadow)
		})
	}
}

func TestShadowDifferencesAreRecorded(t *testing.T) {
	j := &journal.Memory{}
	tools := []*runtime.Tool{readTool(okRead)}
	start := func() *rig {
		r := newRigWith(t, runtime.PolicyFunc(allowAll), tools, engine.WithJournal(j),
			engine.WithShadow(decide(runtime.Decision{Denials: []runtime.Denial{{Code: "no"}}, Revision: "two"}), nil))
		r.recover()
		return r
	}
	r := start()
	r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
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
	spoil := func(_ context.Context, in *readInput) (*readOutput, error) {
		in.Limit, in.Path = -1, "elsewhere"
		return &readOutput{}, nil
	}
	r := newRigWith(t, look(&was, "policy"), []*runtime.Tool{readTool(spoil)}, engine.WithShadow(look(&is, "shadow"), nil))
	turn := r.turn()
	for i := range 50 {
		turn.Execute(t.Context(), callOf(fmt.Sprint("c", i), "file_read", goodInput))
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
			r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{readTool(okRead)}, engine.WithShadow(f, func(x engine.ShadowDifference) {
				d.add(x)
				panic("the report too")
			}))
			turn := r.turn()
			for i := range 20 {
				require.Equal(t, runtime.Completed, turn.Execute(t.Context(), callOf(fmt.Sprint("c", i), "file_read", goodInput)).Kind)
			}
			require.NoError(t, r.exec.Shutdown(t.Context()))
			stats := r.exec.ShadowStats()
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
		r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{readTool(okRead)}, engine.WithShadow(runtime.PolicyFunc(
			func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
				<-release
				return runtime.Decision{}, nil
			}), d.add))
		begin := time.Now()
		turn := r.turn()
		for i := range 1000 {
			require.Equal(t, runtime.Completed, turn.Execute(t.Context(), callOf(fmt.Sprint("c", i), "file_read", goodInput)).Kind)
		}
		assert.Zero(t, time.Since(begin))
		require.NoError(t, r.exec.Shutdown(t.Context()))
		assert.Equal(t, runtime.DefaultPolicyTimeout, time.Since(begin))
		stats := r.exec.ShadowStats()
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
		r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{readTool(okRead)}, engine.WithShadow(runtime.PolicyFunc(
			func(ctx context.Context, _ *runtime.PolicyInput) (runtime.Decision, error) {
				<-ctx.Done()
				return runtime.Decision{Effect: runtime.EffectAllow}, nil
			}), d.add))
		r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
		time.Sleep(runtime.DefaultPolicyTimeout)
		synctest.Wait()
		require.NoError(t, r.exec.Shutdown(t.Context()))
		require.Len(t, d.list, 1)
		assert.Equal(t, "timeout", d.list[0].Shadow.Failed)
	})
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
	r := newRigWith(t, active, []*runtime.Tool{readTool(okRead)}, engine.WithPendingRequests(), engine.WithShadow(active, func(d engine.ShadowDifference) {
		// A call whose arguments were rewritten is compared with the new ones.
		assert.Fail(t, "the same policy differs from itself", "%+v", d)
	}))
	run := r.run()
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			turn := run.Turn(engine.TurnConfig{})
			for i := range 50 {
				in := callOf(fmt.Sprint("c", g, ".", i), "file_read", fmt.Sprintf(`{"path":"p","limit":%d}`, 1+i%8))
				turn.WhatIf(t.Context(), in)
				out := turn.Execute(t.Context(), in)
				if out.Kind == runtime.Pending {
					r.exec.Decide(t.Context(), out.RequestID, engine.Answer{By: "alice", Approve: true})
				}
			}
		})
	}
	all.Wait()
	require.NoError(t, r.exec.Shutdown(t.Context()))
	stats := r.exec.ShadowStats()
	assert.Positive(t, stats.Compared)
	assert.Zero(t, stats.Different)
}

// BenchmarkShadow measures what a shadow costs a call: the same calls with and without
// a shadow, alternating, and the median of the ratios. A shadow that hangs shows the
// cost in the call itself, a trivial shadow the cost when the processors are busy.
func BenchmarkShadow(b *testing.B) {
	keep := make([]byte, 32<<20)
	defer goruntime.KeepAlive(keep)
	for name, shadow := range map[string]runtime.PolicyFunc{
		"trivial": allowAll,
		"hangs": func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
			<-b.Context().Done()
			return runtime.Decision{}, nil
		},
	} {
		b.Run(name, func(b *testing.B) {
			without := newBencher(b, engine.WithSink(&nopSink{}))
			with := newBencher(b, engine.WithSink(&nopSink{}), engine.WithShadow(shadow, nil))
			timed := func(g *bencher) float64 {
				start := time.Now()
				for range 200 {
					g.call(b.Context())
				}
				return float64(time.Since(start))
			}
			var ratios []float64
			for b.Loop() {
				ratios = append(ratios, timed(with)/timed(without))
			}
			slices.Sort(ratios)
			b.ReportMetric(ratios[len(ratios)/2], "with/without")
			s := with.exec.ShadowStats()
			b.ReportMetric(float64(s.Dropped)/float64(s.Dropped+s.Compared), "dropped")
		})
	}
}
