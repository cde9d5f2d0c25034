package runtimetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
)

// A FakeRunner is a [process.Runner] that starts nothing: a process is an Act. Without a
// Clock it waits with that of package time, which is virtual in a bubble of testing/synctest. The
// zero value runs an empty Act for every job. It is safe for concurrent use.
type FakeRunner struct {
	// Script returns what a job does. Nil: it ends with code 0.
	Script func(*process.Job) Act

	// Clock is what the runner waits with; nil is that of package time.
	Clock runtime.Clock

	// Took is how long an act takes that does not hang.
	Took time.Duration

	// Host is nil for a host that enforces everything, or what Enforces answers.
	Host func(*process.Spec) (process.Enforcement, error)

	mu      sync.Mutex
	pid     int
	started []runtime.ProcessID
	running map[int]*fakeProcess
}

type fakeProcess struct {
	id   runtime.ProcessID
	kill chan struct{}
	once sync.Once
	gone chan struct{}
}

var _ process.Runner = (*FakeRunner)(nil)

// Enforces implements process.Runner.
func (r *FakeRunner) Enforces(spec *process.Spec) (process.Enforcement, error) {
	if err := spec.Check(); err != nil {
		return process.Enforcement{}, err
	}
	if r.Host != nil {
		return r.Host(spec)
	}
	e := process.Enforcement{Tier: spec.Tier, Namespaces: true}
	for _, name := range runtime.LimitNames() {
		e.Limits = append(e.Limits, process.LimitLevel{Name: name})
	}
	return e, e.Holds(spec)
}

// Run implements process.Runner.
func (r *FakeRunner) Run(ctx context.Context, job *process.Job) (*process.Exit, error) {
	levels, err := r.Enforces(job.Spec)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("runtimetest: %w", context.Cause(ctx))
	}
	var act Act
	if r.Script != nil {
		act = r.Script(job)
	}
	if act.Fail != nil {
		return nil, act.Fail
	}
	p := r.begin(job.Mark)
	defer r.end(p)
	if job.Started != nil {
		if err := job.Started(ctx, p.id); err != nil {
			return nil, fmt.Errorf("%w: %w", process.ErrStarted, err)
		}
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("runtimetest: %w", context.Cause(ctx))
	}
	r.mu.Lock()
	r.started = append(r.started, p.id)
	r.mu.Unlock()
	return r.play(ctx, job, act, p, levels)
}

// play writes what an act writes and waits as it does.
func (r *FakeRunner) play(ctx context.Context, job *process.Job, act Act, p *fakeProcess, levels process.Enforcement) (*process.Exit, error) {
	streams := process.NewStreams(job)
	exit := &process.Exit{Code: act.Code, ID: p.id, Levels: levels, Usage: act.Usage}
	beats := act.Beats
	if job.Beat == nil {
		beats = nil
	}
	if len(beats) > 0 {
		job.Beat(beats[0])
		beats = beats[1:]
	}
	_, _ = io.WriteString(streams.Writer(process.Stdout), act.text(act.Out))
	_, _ = io.WriteString(streams.Writer(process.Stderr), act.text(act.Err))
	if act.Echo && job.Stdin != nil {
		_, _ = io.Copy(streams.Writer(process.Stdout), job.Stdin)
	}
	for _, w := range act.Writes {
		select {
		case <-r.after(w.After):
			_, _ = io.WriteString(streams.Writer(w.Stream), w.Text)
		case <-ctx.Done():
		case <-p.kill:
		}
	}
	err := r.wait(ctx, act, job, beats, p, exit)
	streams.Close()
	exit.Stdout, exit.Stderr = streams.Kept()
	return exit, err
}

// wait returns when an act has ended, by itself or as it is made to. Meanwhile it tells the beats.
func (r *FakeRunner) wait(ctx context.Context, act Act, job *process.Job, beats []runtime.ProcessUsage, p *fakeProcess, exit *process.Exit) error {
	grace := job.Grace
	var over, second <-chan time.Time
	if len(beats) > 0 {
		second = r.after(time.Second)
	}
	if !act.Hang {
		over = r.after(r.Took)
	}
	done := ctx.Done()
	var hard <-chan time.Time
	for {
		select {
		case <-over:
			return act.end(exit)
		case <-second:
			job.Beat(beats[0])
			if beats, second = beats[1:], nil; len(beats) > 0 {
				second = r.after(time.Second)
			}
		case <-p.kill:
			exit.Cause, exit.Code = process.Lost, -1
			return fmt.Errorf("%w: it was killed", process.ErrLost)
		case <-done:
			done, exit.Cause = nil, process.Ended
			now := errors.Is(context.Cause(ctx), process.ErrNow) || grace <= 0
			if !act.Stubborn && !now {
				exit.Code, exit.Signal = -1, "SIGTERM"
				return nil
			}
			if now {
				grace = 0
			}
			hard = r.after(grace)
		case <-hard:
			exit.Code, exit.Signal = -1, "SIGKILL"
			return nil
		}
	}
}

// after is time.After by the clock of the runner.
func (r *FakeRunner) after(d time.Duration) <-chan time.Time {
	if r.Clock == nil {
		return time.After(d)
	}
	c := make(chan time.Time, 1)
	r.Clock.AfterFunc(d, func() { c <- r.Clock.Now() })
	return c
}

// Kill implements process.Runner.
func (r *FakeRunner) Kill(ctx context.Context, id runtime.ProcessID) error {
	r.mu.Lock()
	p := r.running[id.PID]
	r.mu.Unlock()
	if p == nil || p.id != id {
		return nil
	}
	p.once.Do(func() { close(p.kill) })
	select {
	case <-p.gone:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("runtimetest: process %d has not ended: %w", id.PID, context.Cause(ctx))
	}
}

// Started returns the processes that ran, in the order in which they began.
func (r *FakeRunner) Started() []runtime.ProcessID {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]runtime.ProcessID{}, r.started...)
}

func (r *FakeRunner) begin(mark string) *fakeProcess {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pid++
	p := &fakeProcess{kill: make(chan struct{}), gone: make(chan struct{})}
	p.id = runtime.ProcessID{PID: r.pid, Start: fmt.Sprint(r.pid), Boot: "fake", Namespace: "fake", Mark: mark}
	if r.running == nil {
		r.running = map[int]*fakeProcess{}
	}
	r.running[r.pid] = p
	return p
}

func (r *FakeRunner) end(p *fakeProcess) {
	r.mu.Lock()
	delete(r.running, p.id.PID)
	r.mu.Unlock()
	close(p.gone)
}
