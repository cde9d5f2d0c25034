package runtimetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
)

// A RunnerOpener makes a runner, and a job of it that does what an act says. The job is for the
// tier that the runner is to be tested in; the suite sets what a test is about.
type RunnerOpener func(t *testing.T) (r process.Runner, job func(Act) *process.Job)

// TestRunner holds a runner to what [process.Runner] promises.
func TestRunner(t *testing.T, open RunnerOpener) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, open RunnerOpener)
	}{
		{"exit", testExit}, {"input", testInput}, {"input without an end", testOpenInput}, {"kept output", testKept}, {"chunks", testChunks}, {"a slow receiver", testSlow},
		{"recorded before it runs", testRecorded}, {"not recorded", testNotRecorded}, {"grace", testGrace}, {"stubborn", testStubborn},
		{"at once", testNow}, {"ended before", testEndedBefore}, {"kill", testKill}, {"kill of another", testKillOther}, {"beats", testBeats},
		{"accepted levels", testAccepts}, {"protected", testProtected}, {"many at once", testMany},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open) })
	}
}

func start(t *testing.T, r process.Runner, job *process.Job) *process.Exit {
	t.Helper()
	exit, err := r.Run(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	return exit
}

func testExit(t *testing.T, open RunnerOpener) {
	r, job := open(t)
	for _, code := range []int{0, 1, 42, 255} {
		exit := start(t, r, job(Act{Out: "out", Err: "err", Code: code}))
		if exit.Code != code || exit.Signal != "" || exit.Cause != process.Exited {
			t.Fatalf("%+v, want code %d", exit, code)
		}
		if string(exit.Stdout.Head) != "out\n" || string(exit.Stderr.Head) != "err\n" || exit.Stdout.Truncated {
			t.Fatalf("%q and %q were written", exit.Stdout.Head, exit.Stderr.Head)
		}
		if exit.Stdout.SHA256 != sha256.Sum256([]byte("out\n")) {
			t.Fatal("the digest of stdout is another")
		}
		if len(exit.Levels.Limits) == 0 {
			t.Fatal("the exit does not say what was enforced")
		}
	}
}

func testInput(t *testing.T, open RunnerOpener) {
	r, job := open(t)
	j := job(Act{Echo: true})
	j.Stdin = strings.NewReader("from a test")
	if exit := start(t, r, j); string(exit.Stdout.Head) != "from a test" {
		t.Fatalf("%q came back", exit.Stdout.Head)
	}
}

// testOpenInput has an input that never comes: the end of the process is the end of the run.
func testOpenInput(t *testing.T, open RunnerOpener) {
	r, job := open(t)
	input, feed := io.Pipe()
	defer feed.Close()
	j := job(Act{Code: 3})
	j.Stdin = input
	if exit := start(t, r, j); exit.Code != 3 {
		t.Fatalf("%+v", exit)
	}
}

func testKept(t *testing.T, open RunnerOpener) {
	r, job := open(t)
	j := job(Act{Out: "0123456", Times: 1000})
	j.Spec.Limits.Output = 64
	exit := start(t, r, j)
	all := strings.Repeat("0123456\n", 1000)
	o := exit.Stdout
	if !o.Truncated || o.Size != 8000 || string(o.Head) != all[:32] || string(o.Tail) != all[len(all)-32:] || o.SHA256 != sha256.Sum256([]byte(all)) {
		t.Fatalf("kept %q and %q of %d", o.Head, o.Tail, o.Size)
	}
}

func testChunks(t *testing.T, open RunnerOpener) {
	r, job := open(t)
	j := job(Act{Out: "a line", Err: "another", Times: 500})
	j.Spec.Limits.Output = 1 << 16
	var got [2]bytes.Buffer
	j.Output = func(c process.Chunk) {
		if c.Offset != int64(got[c.Stream].Len()) || len(c.Data) > 8<<10 {
			t.Errorf("a chunk of %d bytes at %d of %s, after %d", len(c.Data), c.Offset, c.Stream, got[c.Stream].Len())
		}
		got[c.Stream].Write(c.Data)
	}
	start(t, r, j)
	if got[0].String() != strings.Repeat("a line\n", 500) || got[1].String() != strings.Repeat("another\n", 500) {
		t.Fatalf("%d and %d bytes were passed on", got[0].Len(), got[1].Len())
	}
}

// testSlow has a receiver that takes nothing until the process has ended: the process is not
// slowed down, and what comes later has its place.
func testSlow(t *testing.T, open RunnerOpener) {
	r, job := open(t)
	j := job(Act{Out: strings.Repeat("x", 1023), Times: 1000})
	j.Spec.Limits.Output = 1 << 19
	var total int64
	j.Output = func(c process.Chunk) {
		if c.Offset < total {
			t.Errorf("a chunk at %d, after %d", c.Offset, total)
		}
		total = c.Offset + int64(len(c.Data))
	}
	exit := start(t, r, j)
	if total > 1<<19 {
		t.Fatalf("%d bytes were passed on, above the cap", total)
	}
	if exit.Stdout.Size != 1024*1000 {
		t.Fatalf("%d bytes were counted", exit.Stdout.Size)
	}
}

func testRecorded(t *testing.T, open RunnerOpener) {
	r, job := open(t)
	j := job(Act{Out: "ran"})
	j.Mark = "call-1"
	recorded := false
	var id runtime.ProcessID
	j.Started = func(_ context.Context, p runtime.ProcessID) error { id, recorded = p, true; return nil }
	j.Output = func(process.Chunk) {
		if !recorded {
			t.Error("it ran before it was recorded")
		}
	}
	exit := start(t, r, j)
	if id.PID <= 0 || id.Start == "" || id.Boot == "" || id.Mark != "call-1" || exit.ID != id {
		t.Fatalf("recorded as %+v, ended as %+v", id, exit.ID)
	}
}

func testNotRecorded(t *testing.T, open RunnerOpener) {
	r, job := open(t)
	j := job(Act{Out: "ran"})
	disk := errors.New("the disk is full")
	j.Started = func(context.Context, runtime.ProcessID) error { return disk }
	j.Output = func(process.Chunk) { t.Error("it ran") }
	exit, err := r.Run(t.Context(), j)
	if exit != nil || !errors.Is(err, process.ErrStarted) || !errors.Is(err, disk) {
		t.Fatalf("%+v, %v", exit, err)
	}
}

// running starts a job and ends its context once it has written a line.
func running(t *testing.T, r process.Runner, j *process.Job, cause error) *process.Exit {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	j.Output = func(process.Chunk) { cancel(cause) }
	exit, err := r.Run(ctx, j)
	if err != nil {
		t.Fatal(err)
	}
	if exit.Cause != process.Ended || exit.Code == 0 {
		t.Fatalf("%+v", exit)
	}
	return exit
}

func testGrace(t *testing.T, open RunnerOpener) {
	r, job := open(t)
	j := job(Act{Out: "on", Hang: true})
	j.Grace = time.Hour
	if exit := running(t, r, j, context.DeadlineExceeded); exit.Signal != "SIGTERM" {
		t.Fatalf("%+v", exit)
	}
}

func testStubborn(t *testing.T, open RunnerOpener) {
	r, job := open(t)
	j := job(Act{Out: "on", Hang: true, Stubborn: true})
	j.Grace = 50 * time.Millisecond
	if exit := running(t, r, j, context.DeadlineExceeded); exit.Signal != "SIGKILL" {
		t.Fatalf("%+v", exit)
	}
}

func testNow(t *testing.T, open RunnerOpener) {
	r, job := open(t)
	j := job(Act{Out: "on", Hang: true})
	j.Grace = time.Hour
	if exit := running(t, r, j, process.ErrNow); exit.Signal != "SIGKILL" {
		t.Fatalf("%+v", exit)
	}
}

func testEndedBefore(t *testing.T, open RunnerOpener) {
	r, job := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if exit, err := r.Run(ctx, job(Act{})); exit != nil || !errors.Is(err, context.Canceled) {
		t.Fatalf("%+v, %v", exit, err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	j := job(Act{Out: "ran"})
	j.Started = func(context.Context, runtime.ProcessID) error { cancel(); return nil }
	if exit, err := r.Run(ctx, j); exit != nil || !errors.Is(err, context.Canceled) {
		t.Fatalf("%+v, %v", exit, err)
	}
}

// testKill kills a process as a later process of the executor would.
func testKill(t *testing.T, open RunnerOpener) {
	r, job := open(t)
	j := job(Act{Out: "on", Hang: true, Stubborn: true})
	j.Mark = fmt.Sprint("kill-", time.Now().UnixNano())
	ids, on := make(chan runtime.ProcessID, 1), make(chan struct{}, 100)
	j.Started = func(_ context.Context, id runtime.ProcessID) error { ids <- id; return nil }
	j.Output = func(process.Chunk) { on <- struct{}{} }
	lost := make(chan error, 1)
	var exit *process.Exit
	go func() {
		var err error
		exit, err = r.Run(context.WithoutCancel(t.Context()), j)
		lost <- err
	}()
	id := <-ids
	<-on
	for range 2 { // what is gone needs no kill
		if err := r.Kill(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-lost; !errors.Is(err, process.ErrLost) {
		t.Fatalf("%v, want ErrLost", err)
	}
	if exit == nil || exit.Cause != process.Lost || !exit.Killed() || string(exit.Stdout.Head) != "on\n" {
		t.Fatalf("%+v: with ErrLost comes what is known of the end", exit)
	}
}

// testKillOther asks for a process of the same pid that started at another time, or in another
// boot: it is left alone.
func testKillOther(t *testing.T, open RunnerOpener) {
	r, job := open(t)
	j := job(Act{Out: "on", Hang: true})
	j.Grace = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	var id runtime.ProcessID
	j.Started = func(_ context.Context, p runtime.ProcessID) error { id = p; return nil }
	j.Output = func(process.Chunk) {
		later, before := id, id
		later.Start += "1"
		before.Boot = "another"
		for _, other := range []runtime.ProcessID{later, before} {
			if err := r.Kill(ctx, other); err != nil {
				t.Error(err)
			}
		}
		cancel()
	}
	exit, err := r.Run(ctx, j)
	if err != nil || exit.Signal != "SIGTERM" {
		t.Fatalf("%+v, %v: it did not live until it was asked to end", exit, err)
	}
}

// testBeats has a process that runs until it has been told of twice: its runner tells what it uses, and
// nothing more once it has returned.
func testBeats(t *testing.T, open RunnerOpener) {
	r, job := open(t)
	j := job(Act{Out: "on", Hang: true, Beats: make([]runtime.ProcessUsage, 3)})
	j.Grace = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var beats int
	var returned bool
	j.Beat = func(runtime.ProcessUsage) {
		if returned {
			t.Error("a beat of a process of which nothing is left")
		}
		if beats++; beats == 2 {
			cancel()
		}
	}
	exit, err := r.Run(ctx, j)
	returned = true
	if err != nil || exit.Cause != process.Ended || beats < 2 {
		t.Fatalf("%+v, %v after %d beats", exit, err, beats)
	}
}

func testAccepts(t *testing.T, open RunnerOpener) {
	r, job := open(t)
	spec := *job(Act{}).Spec
	levels, err := r.Enforces(&spec)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range levels.Limits {
		spec.Accepts = map[runtime.LimitName]runtime.Level{l.Name: l.Level}
		if _, err := r.Enforces(&spec); err != nil {
			t.Fatalf("%s is %s, and is refused: %v", l.Name, l.Level, err)
		}
		if l.Level == runtime.LevelEnforced {
			continue
		}
		spec.Accepts[l.Name] = l.Level - 1
		j := job(Act{})
		j.Spec = &spec
		if _, err := r.Run(t.Context(), j); err == nil || !strings.Contains(err.Error(), string(l.Name)) {
			t.Fatalf("%s is %s, and %s was accepted as %v", l.Name, l.Level, l.Level-1, err)
		}
	}
}

func testProtected(t *testing.T, open RunnerOpener) {
	r, job := open(t)
	j := job(Act{})
	dir := t.TempDir()
	j.Spec.Reads, j.Spec.Protected = []string{dir}, []string{dir + "/store.db"}
	if _, err := r.Run(t.Context(), j); err == nil || !strings.Contains(err.Error(), "store.db") {
		t.Fatalf("a store that the command could read: %v", err)
	}
}

func testMany(t *testing.T, open RunnerOpener) {
	r, job := open(t)
	errs := make(chan error, 8)
	for i := range cap(errs) {
		j := job(Act{Out: fmt.Sprint(i), Code: i})
		go func() {
			exit, err := r.Run(t.Context(), j)
			if err == nil && (exit.Code != i || string(exit.Stdout.Head) != fmt.Sprint(i, "\n")) {
				err = fmt.Errorf("%+v, want code %d", exit, i)
			}
			errs <- err
		}()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}
