package runtimetest_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/runtimetest"
)

// TestFakeRunner runs the suite with the fake, whose acts are told by the first argument.
func TestFakeRunner(t *testing.T) {
	runtimetest.TestRunner(t, func(*testing.T) (process.Runner, func(runtimetest.Act) *process.Job) {
		var acts sync.Map
		job := func(a runtimetest.Act) *process.Job {
			j := &process.Job{Spec: &process.Spec{Limits: runtime.ProcessLimits{}.Defaults(time.Minute)}}
			acts.Store(j, a)
			return j
		}
		script := func(j *process.Job) runtimetest.Act {
			a, _ := acts.Load(j)
			return a.(runtimetest.Act)
		}
		return &runtimetest.FakeRunner{Script: script}, job
	})
}

// TestFakeRunnerUnderAVirtualClock: a hang of an hour, its grace and its end take no time.
func TestFakeRunnerUnderAVirtualClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &runtimetest.FakeRunner{Script: func(*process.Job) runtimetest.Act { return runtimetest.Act{Hang: true, Stubborn: true} }}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		began := time.Now()
		exit, err := r.Run(ctx, &process.Job{Spec: &process.Spec{}, Grace: 2 * time.Second})
		if err != nil || exit.Cause != process.Ended || exit.Signal != "SIGKILL" || time.Since(began) != time.Hour+2*time.Second {
			t.Fatalf("%+v, %v after %v", exit, err, time.Since(began))
		}
		if len(r.Started()) != 1 {
			t.Fatal(r.Started())
		}
	})
}

// TestFakeRunnerEnds: what a host may do to a process can be scripted.
func TestFakeRunnerEnds(t *testing.T) {
	used := runtime.ProcessUsage{Memory: 7}
	for _, c := range []struct {
		act      runtimetest.Act
		err      error
		category runtime.ExitCategory
		killed   bool
	}{
		{runtimetest.Act{Signal: "SIGSEGV"}, nil, runtime.ExitProcessKilled, true},
		{runtimetest.Act{Limit: runtime.LimitMemory}, nil, runtime.ExitResourceExhausted, true},
		{runtimetest.Act{Stale: true}, nil, runtime.ExitProcessKilled, true},
		{runtimetest.Act{Lost: true}, process.ErrLost, runtime.ExitProcessKilled, true},
		{runtimetest.Act{Code: 3, Usage: used, Beats: []runtime.ProcessUsage{{Memory: 2}}}, nil, runtime.ExitSystemError, false},
	} {
		r := &runtimetest.FakeRunner{Script: func(*process.Job) runtimetest.Act { return c.act }}
		var beats []runtime.ProcessUsage
		exit, err := r.Run(t.Context(), &process.Job{Spec: &process.Spec{}, Beat: func(u runtime.ProcessUsage) { beats = append(beats, u) }})
		if !errors.Is(err, c.err) || exit == nil || process.Exits(nil).Of(exit) != c.category || exit.Killed() != c.killed {
			t.Errorf("%+v: %+v, %v", c.act, exit, err)
		}
		if exit.Usage != c.act.Usage || !slices.Equal(beats, c.act.Beats) {
			t.Errorf("%+v: %+v and beats %v", c.act, exit.Usage, beats)
		}
	}
	lack := &process.LackError{What: runtime.LimitMemory, Need: 2, Have: 1}
	for _, fail := range []error{lack, process.ErrResources, process.ErrProgramChanged} {
		r := &runtimetest.FakeRunner{Script: func(*process.Job) runtimetest.Act { return runtimetest.Act{Fail: fail} }}
		if exit, err := r.Run(t.Context(), &process.Job{Spec: &process.Spec{}}); exit != nil || !errors.Is(err, fail) || len(r.Started()) != 0 {
			t.Errorf("%v: %+v, %v", fail, exit, err)
		}
	}
}

// TestFakeRunnerBeats: the first beat comes at once, each later one a second after that before it while the process runs.
func TestFakeRunnerBeats(t *testing.T) {
	r := &runtimetest.FakeRunner{Took: 2500 * time.Millisecond, Script: func(*process.Job) runtimetest.Act {
		return runtimetest.Act{Beats: []runtime.ProcessUsage{{Memory: 1}, {Memory: 2}, {Memory: 3}, {Memory: 4}}}
	}}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		told := map[time.Duration]int64{}
		job := &process.Job{Spec: &process.Spec{}, Beat: func(u runtime.ProcessUsage) { told[time.Since(began)] = u.Memory }}
		if _, err := r.Run(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		if want := map[time.Duration]int64{0: 1, time.Second: 2, 2 * time.Second: 3}; !maps.Equal(told, want) {
			t.Fatal(told)
		}
		job.Beat = nil
		if _, err := r.Run(t.Context(), job); err != nil {
			t.Fatal(err)
		}
	})
}

// instant is a clock in which every wait is over at once.
type instant struct{ waited []time.Duration }

func (c *instant) Now() time.Time { return time.Unix(0, 0) }

func (c *instant) AfterFunc(d time.Duration, f func()) runtime.Timer {
	c.waited = append(c.waited, d)
	f()
	return time.NewTimer(0)
}

// TestFakeRunnerWaitsByItsClock: an act that takes an hour of a clock takes no time of another.
func TestFakeRunnerWaitsByItsClock(t *testing.T) {
	clock := &instant{}
	r := &runtimetest.FakeRunner{Clock: clock, Took: time.Hour}
	if exit, err := r.Run(t.Context(), &process.Job{Spec: &process.Spec{}}); err != nil || exit.Code != 0 {
		t.Fatalf("%+v, %v", exit, err)
	}
	if len(clock.waited) != 1 || clock.waited[0] != time.Hour {
		t.Fatal(clock.waited)
	}
}
