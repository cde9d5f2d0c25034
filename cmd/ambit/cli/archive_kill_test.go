package cli_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/cmd/ambit/cli"
	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/archive"
	"github.com/ambit-tools/ambit/runtime/store/audit"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// What tells a process of this test that it is the program, or a host of a folder.
const (
	programOf = "AMBIT_CLI_PROGRAM"
	hostOf    = "AMBIT_CLI_HOST"
)

func TestMain(m *testing.M) {
	switch dir := os.Getenv(hostOf); {
	case os.Getenv(programOf) != "":
		os.Exit(cli.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	case dir != "":
		if _, err := openHost(context.Background(), dir); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("open")
		_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed, or the test has ended
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// text takes any input.
type text struct{}

func (text) Decode(b []byte, l wire.Limits) (wire.Value, []wire.Violation) {
	return wire.ParseRaw(b, l)
}

// openHost opens the host of a folder. Its tool leaves a line in a file.
func openHost(ctx context.Context, dir string) (*host.Host, error) {
	tool := runtime.NewDynamicTool(&runtime.Spec{Name: "t", Version: "1", Pin: "t", Effect: runtime.SideEffectWrite}, text{}, func(ctx context.Context, _ wire.Value) (wire.Value, error) {
		info, _ := runtime.FromContext(ctx)
		f, err := os.OpenFile(filepath.Join(dir, "ran"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		_, err = f.WriteString(info.ID + "\n")
		return wire.Raw(`{}`), errors.Join(err, f.Close())
	})
	allow := runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	})
	return host.Open(ctx, host.Config{Tools: []*runtime.Tool{tool}, Policy: allow, Dir: dir, Retain: host.KeepAll, Report: func(error) {}})
}

// do makes a call in a run of its own.
func do(t *testing.T, h *host.Host, id string) {
	t.Helper()
	run, err := h.Executor.Session(engine.SessionConfig{ID: "s"}).StartRun(t.Context(), engine.RunConfig{})
	require.NoError(t, err)
	out := run.Turn(engine.TurnConfig{}).Execute(t.Context(), runtime.Call{ID: id, Tool: "t", Input: []byte(`{}`)})
	require.Equal(t, runtime.Completed, out.Kind, "call %s: %v %s", id, out.Reason, out.Message)
	require.NoError(t, run.Close(t.Context()))
}

// A killing is a host that archives on command, of which one or the other is killed.
type killing struct {
	dir   string
	to    string // of the command
	size  uint64 // that was anchored before
	calls int
}

// TestKilledArchives kills hosts that archive on command, and the commands that they were given. After each kill the store is as
// before the archive or as after it, the command was carried out once at most and has an answer, and the next archive succeeds.
// SEMANTICS 6.14.13
func TestKilledArchives(t *testing.T) {
	made := filepath.Join(t.TempDir(), "var")
	h, err := openHost(t.Context(), made)
	require.NoError(t, err)
	const calls = 150
	for i := range calls {
		do(t, h, fmt.Sprint("c", i))
	}
	require.NoError(t, h.Audit.Checkpoint(t.Context()))
	size := h.Store.Health().Head
	require.NoError(t, h.Close(t.Context()))

	rng := rand.New(rand.NewPCG(5, 6))
	var last [2]time.Duration
	tally := map[string]int{}
	for i, kills, n := 0, 0, battery.Count(t, 3, 20); kills < n; i++ {
		k := &killing{dir: filepath.Join(t.TempDir(), "var"), size: size, calls: calls}
		copyFolder(t, made, k.dir)
		if k.to = filepath.Join(k.dir, "archive"); i%4 < 2 {
			k.to = filepath.Join(k.to, "named.segment")
		}
		what := k.kill(t, rng, &last[i%2], i%2 == 0)
		after := k.check(t)
		if tally[what+", "+after]++; !strings.Contains(what, "not killed") {
			kills++
		}
		require.NoError(t, os.RemoveAll(k.dir))
	}
	t.Log(tally)
}

// kill runs a command and kills its host, or the command.
func (k *killing) kill(t *testing.T, rng *rand.Rand, last *time.Duration, killHost bool) (what string) {
	t.Helper()
	owner := exec.Command(os.Args[0])
	owner.Env = append(os.Environ(), hostOf+"="+k.dir)
	in, err := owner.StdinPipe()
	require.NoError(t, err)
	out, err := owner.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, owner.Start())
	said, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "open\n", said)

	var answer strings.Builder
	command := exec.Command(os.Args[0], "journal", "archive", "--store", filepath.Join(k.dir, "ambit.db"), "--before", "0s", "--to", k.to)
	command.Env, command.Stdout, command.Stderr = append(os.Environ(), programOf+"=1"), &answer, &answer
	require.NoError(t, command.Start())
	victim := command.Process
	if killHost {
		victim = owner.Process
	}
	ended, killed := battery.KillWhile(rng, last, command, victim)
	switch {
	case !killed:
		err := <-ended
		require.NoError(t, err, answer.String())
		what = "not killed"
	case killHost:
		_ = owner.Wait()
		h, err := openHost(t.Context(), k.dir) // which answers
		require.NoError(t, err)
		err = <-ended
		k.settle(t)
		require.NoError(t, h.Close(t.Context()))
		code := command.ProcessState.ExitCode()
		said, known := map[int]string{0: "archived: ", 1: "interrupted", 2: "--key is missing", 5: "the command waits for the next start"}[code] // 2 and 5: the host was gone
		require.True(t, known && strings.Contains(answer.String(), said), "%v\n%s", err, answer.String())
		return fmt.Sprint("host killed, the command ended with ", code)
	default:
		<-ended
		k.settle(t) // the host goes on
		what = "command killed"
	}
	require.NoError(t, owner.Process.Kill())
	_ = owner.Wait()
	_ = in.Close()
	return what
}

// settle returns when the inbox has no command.
func (k *killing) settle(t *testing.T) {
	t.Helper()
	for {
		left, err := filepath.Glob(filepath.Join(k.dir, "ambit.db.inbox", "*.command"))
		require.NoError(t, err)
		if len(left) == 0 {
			return
		}
		goruntime.Gosched()
	}
}

// check starts a host, compares what it has with what may be, and archives again.
func (k *killing) check(t *testing.T) (after string) {
	t.Helper()
	h, err := openHost(t.Context(), k.dir)
	require.NoError(t, err)
	k.settle(t)
	low, err := h.Store.Archived(t.Context())
	require.NoError(t, err)
	done := k.commands(t, h, low)
	segments, err := h.Store.Segments(t.Context())
	require.NoError(t, err)
	to := k.to
	switch {
	case low == 0:
		after = "before the archive"
		require.Empty(t, segments)
		require.True(t, done == nil || !done.Done, done)
	default:
		after = "after the archive"
		require.Len(t, segments, 1)
		require.GreaterOrEqual(t, low, k.size)
		require.NotNil(t, done, "nothing but a command archives")
		if done.Done {
			require.Equal(t, low, done.Archived.Last)
			require.Equal(t, segments[0].File, done.Archived.File)
		} else {
			require.Equal(t, "interrupted", done.Result)
		}
		to = filepath.Join(k.dir, "archive")
	}
	do(t, h, "c7") // it has run
	do(t, h, "one more")
	require.NoError(t, h.Audit.Checkpoint(t.Context()))
	do(t, h, "the last")
	var out, errs strings.Builder
	code := cli.Run([]string{"journal", "archive", "--store", filepath.Join(k.dir, "ambit.db"), "--before", "0s", "--to", to}, strings.NewReader(""), &out, &errs)
	require.Zero(t, code, errs.String())
	require.Contains(t, out.String(), fmt.Sprintf("archived: %d..", low+1))
	k.whole(t, h)
	require.NoError(t, h.Close(t.Context()))
	return after
}

// commands returns what became of the command, and requires that it was carried out once at most.
func (k *killing) commands(t *testing.T, h *host.Host, low uint64) (result *journal.CommandResult) {
	t.Helper()
	list, err := h.Store.Read(t.Context(), low, 1<<20)
	require.NoError(t, err)
	imported := 0
	for i := range list {
		r, err := journal.Decode(list[i].Leaf)
		require.NoError(t, err)
		switch list[i].Kind {
		case journal.KindCommandImported:
			imported++
		case journal.KindCommandDone:
			require.Nil(t, result, "the command has two answers")
			result = r.Command.Result
		}
	}
	require.LessOrEqual(t, imported, 1)
	require.Equal(t, imported == 1, result != nil, "a command that was begun has an answer")
	return result
}

// whole requires that the folder has the segments that the store names, and no other file, that they are proved, and that each call ran once.
func (k *killing) whole(t *testing.T, h *host.Host) {
	t.Helper()
	report, err := h.VerifyAudit(t.Context())
	require.NoError(t, err)
	require.True(t, report.OK, report.Bad)
	verifier, err := audit.ReadVerifier(filepath.Join(k.dir, "ambit.db.audit"+audit.PublicSuffix))
	require.NoError(t, err)
	segments, err := h.Store.Segments(t.Context())
	require.NoError(t, err)
	list, err := os.ReadDir(filepath.Join(k.dir, "archive"))
	require.NoError(t, err)
	require.Len(t, list, len(segments), "%v of %v", list, segments)
	for _, s := range segments {
		f, err := archive.Open(s.File)
		require.NoError(t, err)
		require.Equal(t, s.Digest, [32]byte(f.Digest()))
		require.NoError(t, errors.Join(f.Signed(verifier), f.Prove(t.Context()), f.Close()))
	}
	ran, err := os.ReadFile(filepath.Join(k.dir, "ran"))
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(ran)), "\n")
	times := map[string]int{}
	for _, id := range lines {
		times[id]++
		require.Equal(t, 1, times[id], id)
	}
	require.Len(t, lines, k.calls+2)
}

// copyFolder copies a folder whose files only this user may read.
func copyFolder(t *testing.T, from, to string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.Mkdir(filepath.Join(to, name), 0o700)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), data, 0o600)
	}))
}
