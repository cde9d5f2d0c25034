//go:build unix

package workspace_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/content"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
	"github.com/ambit-tools/ambit/runtime/workspace"
)

// What the handler of an owner does.
const (
	doWrite    = 1 // waits, then writes file a and, around the workspace, file raw
	doRollBack = 2 // writes file b, waits, then fails
	doSucceed  = 3 // writes all of them
)

// An ownedTurn is a turn of a process that owns a workspace and, unless it has no
// journal, a store.
type ownedTurn struct {
	dir   string
	ws    *workspace.Workspace
	turn  *engine.Turn
	close func()
}

// newOwner opens what is in a directory as its next owner.
func newOwner(t *testing.T, dir string, journaled bool, handler func(o *ownedTurn, ctx context.Context, n int64) error) *ownedTurn {
	o := &ownedTurn{dir: dir}
	objects, err := content.Open(filepath.Join(dir, "state", "content"))
	require.NoError(t, err)
	o.ws, err = workspace.Open(filepath.Join(dir, "ws"), objects)
	require.NoError(t, err)
	opts := []engine.Option{engine.WithParticipant("files", o.ws), engine.WithPolicyTimeout(time.Minute)}
	closeStore := func() error { return nil }
	if journaled {
		store, err := sqlite.Open(filepath.Join(dir, "store"))
		require.NoError(t, err)
		opts, closeStore = append(opts, engine.WithJournal(store)), store.Close
	}
	spec := &runtime.Spec{Name: "n", Version: "1.0.0", Effect: runtime.SideEffectWrite, Deadline: 10 * time.Minute}
	reg, err := runtime.NewRegistry(runtime.NewTool(spec, &valueRule, func(ctx context.Context, in *value) (*value, error) {
		return in, handler(o, ctx, in.N)
	}))
	require.NoError(t, err)
	executor, err := engine.NewExecutor(reg, allowAll, opts...)
	require.NoError(t, err)
	require.NoError(t, executor.Recover(t.Context()))
	run, err := executor.Session(engine.SessionConfig{Principal: "agent"}).StartRun(t.Context(), engine.RunConfig{})
	require.NoError(t, err)
	o.turn = run.Turn(engine.TurnConfig{})
	o.close = func() {
		_ = executor.Shutdown(context.WithoutCancel(t.Context())) // a former owner has nothing to give back
		_ = errors.Join(o.ws.Close(), closeStore(), objects.Close())
	}
	return o
}

func (o *ownedTurn) call(t *testing.T, n int) runtime.Outcome {
	return o.turn.Execute(t.Context(), runtime.Call{Tool: "n", Input: fmt.Appendf(nil, `{"n":%d}`, n)})
}

// write writes a file through the workspace.
func (o *ownedTurn) write(ctx context.Context, name, text string) error {
	return o.ws.WriteFile(ctx, name, []byte(text), 0o600)
}

// writeRaw writes a file around the workspace, under the fence of the call.
func (o *ownedTurn) writeRaw(ctx context.Context, text string) error {
	return runtime.Commit(ctx, func() error { return os.WriteFile(filepath.Join(o.dir, "raw"), []byte(text), 0o600) })
}

// What tells the process of TestFormerOwner what it is to do.
const (
	ownerDir  = "AMBIT_TEST_OWNER_DIR"
	ownerDoes = "AMBIT_TEST_OWNER_DOES"
)

// TestFormerOwner is not a test but the process that TestSuccessorIsNotOverwritten
// stops and takes over from.
func TestFormerOwner(t *testing.T) {
	dir, does := os.Getenv(ownerDir), 0
	if dir == "" {
		return
	}
	var journaled bool
	_, err := fmt.Sscan(os.Getenv(ownerDoes), &does, &journaled)
	require.NoError(t, err)
	said := func(err error) {
		fmt.Println(map[bool]string{true: "fenced", false: "other"}[errors.Is(err, runtime.ErrFenced)], err)
	}
	o := newOwner(t, dir, journaled, func(o *ownedTurn, ctx context.Context, n int64) error {
		if n == doRollBack {
			require.NoError(t, o.write(ctx, "b", "same"))
		}
		fmt.Println("ready")
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		if n == doRollBack {
			return errors.New("no")
		}
		said(o.write(ctx, "a", "former"))
		if journaled {
			said(o.writeRaw(ctx, "former"))
		}
		return nil
	})
	o.call(t, does)
	o.close()
	fmt.Println("end")
}

// TestSuccessorIsNotOverwritten stops the owner of a workspace in the middle of a
// call, lets another process take over, whose call is committed, and lets the
// former owner go on: it writes nothing, and rolls nothing back. With a journal
// the lock of the store has failed to keep the successor out.
func TestSuccessorIsNotOverwritten(t *testing.T) {
	for _, journaled := range []bool{true, false} {
		for name, does := range map[string]int{"write": doWrite, "roll back": doRollBack} {
			t.Run(fmt.Sprintf("%s, journaled %v", name, journaled), func(t *testing.T) {
				dir := t.TempDir()
				require.NoError(t, os.Mkdir(filepath.Join(dir, "ws"), 0o755))
				require.NoError(t, os.WriteFile(filepath.Join(dir, "ws", "b"), []byte("before"), 0o600))
				former := exec.Command(os.Args[0], "-test.run=^TestFormerOwner$")
				former.Env = append(os.Environ(), ownerDir+"="+dir, fmt.Sprintf("%s=%d %v", ownerDoes, does, journaled))
				in, err := former.StdinPipe()
				require.NoError(t, err)
				out, err := former.StdoutPipe()
				require.NoError(t, err)
				require.NoError(t, former.Start())
				lines := bufio.NewScanner(out)
				require.True(t, lines.Scan())
				require.Equal(t, "ready", lines.Text())
				require.NoError(t, former.Process.Signal(syscall.SIGSTOP))

				if journaled {
					require.NoError(t, os.Remove(filepath.Join(dir, "store.lock")))
				}
				o := newOwner(t, dir, journaled, func(o *ownedTurn, ctx context.Context, _ int64) error {
					return errors.Join(o.write(ctx, "a", "successor"), o.write(ctx, "b", "same"), o.writeRaw(ctx, "successor"))
				})
				outcome := o.call(t, doSucceed)
				require.Equal(t, runtime.Completed, outcome.Kind, outcome.Message)

				require.NoError(t, former.Process.Signal(syscall.SIGCONT))
				_, err = io.WriteString(in, "\n")
				require.NoError(t, err)
				last := ""
				for lines.Scan() {
					last = lines.Text()
					assert.NotRegexp(t, "^other", last)
					if last == "end" {
						break
					}
				}
				assert.Equal(t, "end", last)
				require.NoError(t, in.Close())
				_, err = io.Copy(io.Discard, out)
				require.NoError(t, err)
				require.NoError(t, former.Wait())
				for file, want := range map[string]string{"ws/a": "successor", "ws/b": "same", "raw": "successor"} {
					text, err := os.ReadFile(filepath.Join(dir, file))
					require.NoError(t, err)
					assert.Equal(t, want, string(text), file)
				}
				o.close()
			})
		}
	}
}

// TestLaterWorkspaceOwns opens a directory twice in one process.
func TestLaterWorkspaceOwns(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "ws"), 0o755))
	handler := func(o *ownedTurn, ctx context.Context, n int64) error {
		err := o.write(ctx, "a", fmt.Sprint(n))
		if o.ws != nil && err != nil {
			assert.ErrorIs(t, err, workspace.ErrTakenOver)
			assert.ErrorIs(t, err, runtime.ErrFenced)
			assert.ErrorContains(t, err, fmt.Sprintf("process %d on host", os.Getpid()))
		}
		return err
	}
	first := newOwner(t, dir, false, handler)
	defer first.close()
	require.Equal(t, runtime.Completed, first.call(t, 1).Kind)
	second := newOwner(t, dir, false, handler)
	defer second.close()
	require.Equal(t, runtime.Completed, second.call(t, 2).Kind)
	require.Equal(t, runtime.Failed, first.call(t, 3).Kind)
	text, err := second.ws.ReadFile(t.Context(), "a")
	require.NoError(t, err)
	assert.Equal(t, "2", string(text))
}
