//go:build unix

package engine_test

import (
	"context"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// sessionSizes are numbers of undoable calls in one session, in runs of ten.
var sessionSizes = []int{1_000, 10_000, 100_000}

// timedAtOnce is how many runs are made before the timer is started.
const timedAtOnce = 200

// A meter measures the processor time that the process used while the timer of a
// benchmark ran. Other programs on the machine change it less than they change that
// timer.
type meter struct {
	b     *testing.B
	used  time.Duration
	since time.Duration
}

// newMeter resets and starts the timer of a benchmark.
func newMeter(b *testing.B) *meter {
	b.ResetTimer()
	return &meter{b: b, since: processors(b)}
}

// pause stops the timer.
func (m *meter) pause() {
	m.b.StopTimer()
	m.used += processors(m.b) - m.since
}

// resume starts the timer again.
func (m *meter) resume() {
	m.since = processors(m.b)
	m.b.StartTimer()
}

// report stops the timer and reports the time per unit, of which there were n.
func (m *meter) report(n int, unit string) {
	m.pause()
	m.b.ReportMetric(float64(m.used.Nanoseconds())/float64(n), "cpu-ns/"+unit)
}

// processors returns the processor time that the process has used.
func processors(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// undoableExecutor returns an executor of a tool that can be undone.
func undoableExecutor(b *testing.B, opts ...engine.Option) *engine.Executor {
	b.Helper()
	reg, err := runtime.NewRegistry(readTool(benchRead, func(s *runtime.Spec) {
		s.Effect, s.Undo = runtime.SideEffectWrite, &runtime.UndoSpec{TTL: time.Hour}
	}))
	if err != nil {
		b.Fatal(err)
	}
	exec, err := engine.NewExecutor(reg, runtime.PolicyFunc(allowAll), append(opts, engine.WithPolicyTimeout(time.Minute))...)
	if err != nil {
		b.Fatal(err)
	}
	return exec
}

// runOfTen makes a run of ten calls that can be undone.
func runOfTen(b *testing.B, s *engine.Session) *engine.Run {
	b.Helper()
	run, err := s.StartRun(context.Background(), engine.RunConfig{})
	if err != nil {
		b.Fatal(err)
	}
	turn := run.Turn(engine.TurnConfig{})
	for range 10 {
		if out := turn.Execute(context.Background(), runtime.Call{Tool: "file_read", Input: benchInput}); out.Kind != runtime.Completed {
			b.Fatal(out)
		}
	}
	return run
}

// withHistory returns a session with n undoable calls in closed runs.
func withHistory(b *testing.B, exec *engine.Executor, n int) *engine.Session {
	b.Helper()
	s := exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"})
	for range n / 10 {
		if err := runOfTen(b, s).Close(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
	return s
}

// timedRuns measures the end of runs of ten calls, in a session with many undoable
// calls of other runs.
func timedRuns(b *testing.B, end func(*testing.B, *engine.Session, *engine.Run)) {
	for _, n := range sessionSizes {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			s := withHistory(b, undoableExecutor(b), n)
			m := newMeter(b)
			for done := 0; done < b.N; {
				m.pause()
				var runs []*engine.Run
				for range min(timedAtOnce, b.N-done) {
					runs = append(runs, runOfTen(b, s))
				}
				done += len(runs)
				m.resume()
				for _, run := range runs {
					end(b, s, run)
				}
			}
			m.report(b.N, "op")
		})
	}
}

// BenchmarkClose closes runs: the time does not depend on the calls of other runs.
func BenchmarkClose(b *testing.B) {
	timedRuns(b, func(b *testing.B, _ *engine.Session, run *engine.Run) {
		if err := run.Close(context.Background()); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkUndoRun undoes runs: the time does not depend on the calls of other runs.
func BenchmarkUndoRun(b *testing.B) {
	timedRuns(b, func(b *testing.B, s *engine.Session, run *engine.Run) {
		if res := undoingOf(s.Undo(context.Background(), action.UndoRequest{RunID: run.ID(), By: runtime.ProgramActor("ops")})); len(res.Undone) != 10 {
			b.Fatal(res)
		}
	})
}

// BenchmarkSweep makes and closes a run of ten calls in a session with many undoable
// calls that are remembered for dedupe. With each new run the calls of an earlier run
// expire.
func BenchmarkSweep(b *testing.B) {
	for _, n := range sessionSizes {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			lifetime := time.Duration(n/10) * time.Second
			reg, err := runtime.NewRegistry(readTool(benchRead, func(s *runtime.Spec) {
				s.Effect, s.Undo = runtime.SideEffectWrite, &runtime.UndoSpec{TTL: lifetime}
				s.Dedupe = runtime.Dedupe{Mode: runtime.DedupeWindow, Window: lifetime}
			}))
			if err != nil {
				b.Fatal(err)
			}
			clock := &handClock{now: time.Unix(1e9, 0)}
			exec, err := engine.NewExecutor(reg, runtime.PolicyFunc(allowAll), engine.WithClock(clock))
			if err != nil {
				b.Fatal(err)
			}
			s := exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"})
			made := 0
			step := func() {
				clock.move(time.Second)
				run, err := s.StartRun(context.Background(), engine.RunConfig{})
				if err != nil {
					b.Fatal(err)
				}
				turn := run.Turn(engine.TurnConfig{})
				for range 10 {
					made++
					in := []byte(`{"path":"docs/` + strconv.Itoa(made) + `.md","limit":200}`)
					if out := turn.Execute(context.Background(), runtime.Call{Tool: "file_read", Input: in}); out.Kind != runtime.Completed {
						b.Fatal(out)
					}
				}
				if err := run.Close(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
			for range n / 10 {
				step()
			}
			m := newMeter(b)
			for range b.N {
				step()
			}
			m.report(b.N, "op")
		})
	}
}

// BenchmarkRecover recovers such a session from its journal. The time per call does not
// depend on the number of calls.
func BenchmarkRecover(b *testing.B) {
	for _, n := range sessionSizes {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			var j journal.Memory
			exec := undoableExecutor(b, engine.WithJournal(&j))
			if err := exec.Recover(context.Background()); err != nil {
				b.Fatal(err)
			}
			withHistory(b, exec, n)
			if err := exec.Shutdown(context.Background()); err != nil {
				b.Fatal(err)
			}
			m := newMeter(b)
			for range b.N {
				if err := undoableExecutor(b, engine.WithJournal(&j)).Recover(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
			m.report(b.N*n, "call")
		})
	}
}
