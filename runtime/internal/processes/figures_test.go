package processes_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/runtimetest"
)

// start runs a command of a call. The functions end it, and return when it has ended.
func (b *bench) start(t *testing.T, tool, call, input string) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	c, a := b.attempt(t, tool, input)
	a.Call, a.Number, a.Due = call, 2, time.Now().Add(time.Hour)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = c.Run(ctx, a)
	}()
	synctest.Wait()
	return func() {
		cancel()
		<-done
	}
}

// TestFigures: a process that runs is listed with its call, its attempt and what it used at its last beat;
// what it has used stays in that of its tool when it ends, without what it has no more.
// SEMANTICS 6.13.1, 6.13.2
func TestFigures(t *testing.T) {
	b := newBench(t, acts(runtimetest.Act{
		Hang: true, Stubborn: true, Usage: runtime.ProcessUsage{User: 5 * time.Second, System: time.Second, PeakMemory: 70, Memory: 60, Processes: 4, ReadBytes: 8, WriteBytes: 9},
		Beats: []runtime.ProcessUsage{{User: time.Second, Memory: 10, PeakMemory: 20, Processes: 1}, {User: 2 * time.Second, Memory: 50, PeakMemory: 50, Processes: 3}},
	}))
	synctest.Test(t, func(t *testing.T) {
		assert.Equal(t, runtime.Stats{}, b.stats())
		began := time.Now()
		end := b.start(t, "text", "c", "{}")
		want := runtime.RunningProcess{
			Session: "s", Call: "c", Attempt: 2, Tool: "text", ID: b.runner.Started()[0], Since: began, Due: began.Add(time.Hour), Seen: began,
			Usage: runtime.ProcessUsage{User: time.Second, Memory: 10, PeakMemory: 20, Processes: 1},
		}
		assert.Equal(t, runtime.Stats{Processes: []runtime.RunningProcess{want}, Usage: map[string]runtime.ProcessUsage{"text": want.Usage}}, b.stats())
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		want.Seen, want.Usage = began.Add(time.Second), runtime.ProcessUsage{User: 2 * time.Second, Memory: 50, PeakMemory: 50, Processes: 3}
		later := b.start(t, "text", "b", "{}")
		other := b.start(t, "lines", "a", "{}")
		stats := b.stats()
		require.Len(t, stats.Processes, 3)
		assert.Equal(t, want, stats.Processes[0], "the first that was started")
		assert.Equal(t, "a", stats.Processes[1].Call)
		assert.Equal(t, runtime.ProcessUsage{User: 3 * time.Second, Memory: 60, PeakMemory: 50, Processes: 4}, stats.Usage["text"])
		for _, f := range []func(){end, later, other} {
			f()
		}
		ended := runtime.ProcessUsage{User: 5 * time.Second, System: time.Second, PeakMemory: 70, ReadBytes: 8, WriteBytes: 9}
		twice := runtime.ProcessUsage{User: 10 * time.Second, System: 2 * time.Second, PeakMemory: 70, ReadBytes: 16, WriteBytes: 18}
		assert.Equal(t, runtime.Stats{Usage: map[string]runtime.ProcessUsage{"text": twice, "lines": ended}}, b.stats())
	})
}

// TestFiguresNeverDecrease: what processes of a tool have used grows, whatever beats say, while they start,
// end, and are lost with what watched them.
// SEMANTICS 6.13.2
func TestFiguresNeverDecrease(t *testing.T) {
	const seed = 61
	r := rand.New(rand.NewPCG(seed, 1))
	var act runtimetest.Act
	b := newBench(t, func(*process.Job) runtimetest.Act { return act })
	synctest.Test(t, func(t *testing.T) {
		var last runtime.ProcessUsage
		var ends []func()
		for step := range 200 {
			switch n := r.IntN(3); {
			case n == 0 && len(ends) < 4:
				act = runtimetest.Act{Hang: true, Lost: r.IntN(2) == 0, Usage: runtime.ProcessUsage{}}
				for range 1 + r.IntN(5) {
					act.Beats = append(act.Beats, runtime.ProcessUsage{
						User: time.Duration(r.IntN(50)), System: time.Duration(r.IntN(50)), PeakMemory: r.Int64N(50), ReadBytes: r.Int64N(50), WriteBytes: r.Int64N(50),
					})
				}
				ends = append(ends, b.start(t, "text", strings.Repeat("c", step+1), "{}"))
			case n == 1 && len(ends) > 0:
				at := r.IntN(len(ends))
				ends[at]()
				ends = append(ends[:at], ends[at+1:]...)
			default:
				time.Sleep(time.Second)
				synctest.Wait()
			}
			u := b.stats().Usage["text"]
			require.True(t, u.User >= last.User && u.System >= last.System && u.PeakMemory >= last.PeakMemory &&
				u.ReadBytes >= last.ReadBytes && u.WriteBytes >= last.WriteBytes, "seed %d, step %d: %+v after %+v", seed, step, u, last)
			last = u
		}
		require.NotZero(t, last.User)
		for _, end := range ends {
			end()
		}
	})
}

// TestFiguresHaveNoSecret: nothing that a process is given or writes is in the figures.
// SEMANTICS 6.13.3
func TestFiguresHaveNoSecret(t *testing.T) {
	b := newBench(t, acts(runtimetest.Act{Out: "s3cret", Err: "s3cret", Hang: true}))
	synctest.Test(t, func(t *testing.T) {
		end := b.start(t, "text", "c", `{"words":["s3cret"],"input":"s3cret"}`)
		text, err := json.Marshal(b.stats())
		require.NoError(t, err)
		assert.NotContains(t, string(text), "s3cret")
		assert.Contains(t, string(text), `"text"`)
		end()
	})
}
