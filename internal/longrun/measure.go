package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"sync"
	"time"

	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/audit"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// Figures are what a child measures, by name.
type figures map[string]float64

// A measurement is what a child does. calls is how many calls the store has, or the session.
type measurement func(ctx context.Context, m made) (figures, error)

// measurements are those of children by name.
var measurements = map[string]measurement{
	"generate": func(ctx context.Context, m made) (figures, error) { return figures{}, generate(ctx, m) },
	"start":    start, "session": session, "export": export, "durable": durable, "archive": writeSegment,
}

// start opens a store and recovers an executor: how long that takes, and the heap that is left after it.
func start(ctx context.Context, m made) (figures, error) {
	began := time.Now()
	s, log, err := m.open(ctx)
	if err != nil {
		return nil, err
	}
	exec, err := newExecutor(ctx, log.Journal())
	if err != nil {
		return nil, err
	}
	f := figures{"seconds": time.Since(began).Seconds(), "heap": heap()}
	goruntime.KeepAlive(exec)
	return f, errors.Join(exec.Shutdown(ctx), log.Close(ctx), s.Close())
}

// heap returns the bytes that are in use after a collection.
func heap() float64 {
	goruntime.GC()
	goruntime.GC()
	var s goruntime.MemStats
	goruntime.ReadMemStats(&s)
	return float64(s.HeapAlloc)
}

// A long session makes its calls against a journal that keeps nothing, so that what grows is the executor.
type long struct {
	exec *engine.Executor
	run  *engine.Run
	made int
}

func newLong(ctx context.Context) (*long, error) {
	var inner journal.Memory
	exec, err := newExecutor(ctx, journal.Wrap(&inner, func(context.Context, []journal.Entry) error { return nil }))
	if err != nil {
		return nil, err
	}
	run, err := startRun(ctx, exec, "s", "r")
	return &long{exec: exec, run: run}, err
}

// calls makes calls and returns how long one took.
func (l *long) calls(ctx context.Context, n int) (float64, error) {
	began := time.Now()
	for range n {
		l.made++
		if err := call(ctx, l.run, fmt.Sprintf("call-%020d", l.made)); err != nil {
			return 0, err
		}
	}
	return float64(time.Since(began).Nanoseconds()) / float64(n), nil
}

// session compares a call of a session of many calls with one of a session of 1,000, in turns, and what the heap grew by for each.
func session(ctx context.Context, m made) (figures, error) {
	few, err := newLong(ctx)
	if err != nil {
		return nil, err
	}
	many, err := newLong(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := few.calls(ctx, 1000); err != nil {
		return nil, err
	}
	if _, err := many.calls(ctx, 1000); err != nil {
		return nil, err
	}
	before := heap()
	if _, err := many.calls(ctx, m.calls-1000); err != nil {
		return nil, err
	}
	f := figures{"bytes": (heap() - before) / float64(m.calls-1000)}
	var small, large []float64
	for range 40 {
		for _, t := range []struct {
			of *long
			to *[]float64
		}{{few, &small}, {many, &large}} {
			ns, err := t.of.calls(ctx, 100)
			if err != nil {
				return nil, err
			}
			*t.to = append(*t.to, ns)
		}
	}
	f["few"], f["many"] = slices.Min(small), slices.Min(large) // what else runs on the machine only adds
	return f, errors.Join(few.exec.Shutdown(ctx), many.exec.Shutdown(ctx))
}

// export writes all entries to nowhere.
func export(ctx context.Context, m made) (figures, error) {
	r, err := sqlite.OpenReader(m.path)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	_, err = audit.Export(ctx, io.Discard, r, 0)
	return figures{"seconds": time.Since(began).Seconds()}, errors.Join(err, r.Close())
}

// durable makes calls against a new store on disk: by one caller, and by 32 at once.
func durable(ctx context.Context, m made) (f figures, err error) {
	s, err := sqlite.Open(filepath.Join(filepath.Dir(m.path), fmt.Sprintf("durable-%d.db", os.Getpid())))
	if err != nil {
		return nil, err
	}
	exec, err := newExecutor(ctx, s)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	defer func() { err = errors.Join(err, exec.Shutdown(ctx), s.Close()) }()
	const callers, each = 32, 40
	runs := make([]*engine.Run, callers)
	for i := range runs {
		if runs[i], err = startRun(ctx, exec, fmt.Sprint("s", i), ""); err != nil {
			return nil, err
		}
	}
	var one []float64
	for i := range 500 {
		began := time.Now()
		if err := call(ctx, runs[0], fmt.Sprint("one-", i)); err != nil {
			return nil, err
		}
		one = append(one, float64(time.Since(began).Microseconds()))
	}
	errs := make([]error, callers)
	began := time.Now()
	var wg sync.WaitGroup
	for i, run := range runs {
		wg.Go(func() {
			for n := range each {
				errs[i] = errors.Join(errs[i], call(ctx, run, fmt.Sprintf("all-%d", n)))
			}
		})
	}
	wg.Wait()
	return figures{"one": median(one), "all": callers * each / time.Since(began).Seconds()}, errors.Join(errs...)
}

// median returns the one in the middle.
func median(list []float64) float64 {
	list = slices.Clone(list)
	slices.Sort(list)
	return list[len(list)/2]
}
