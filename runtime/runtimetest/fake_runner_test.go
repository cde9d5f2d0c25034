package runtimetest_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ambit-tools/ambit/runtime/process"
	"github.com/ambit-tools/ambit/runtime/runtimetest"
)

// TestFakeRunner runs the suite with the fake, whose acts are told by the first argument.
func TestFakeRunner(t *testing.T) {
	runtimetest.TestRunner(t, func(*testing.T) (process.Runner, func(runtimetest.Act) *process.Job) {
		var acts sync.Map
		job := func(a runtimetest.Act) *process.Job {
			j := &process.Job{Spec: &process.Spec{Limits: process.Limits{}.Defaults(time.Minute)}}
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
