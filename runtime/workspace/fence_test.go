package workspace_test

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/content"
	"github.com/ambit-tools/ambit/runtime/internal/simfs"
	"github.com/ambit-tools/ambit/runtime/workspace"
)

const (
	orphans = 4
	tooLate = 100 // how often each orphan tries again after it was refused
)

// An offender writes files of its call until it is refused, and goes on trying.
type offender struct {
	ws       *workspace.Workspace
	began    atomic.Int64 // calls of which the handler began before their end
	wrote    atomic.Int64
	attempts atomic.Int64
	other    atomic.Pointer[error]
}

func (o *offender) write(ctx context.Context, call int64) error {
	tx, err := o.ws.BeginTx(context.WithoutCancel(ctx), workspace.Key{Session: "s", Call: strconv.FormatInt(call, 10)})
	if err != nil {
		return err
	}
	o.began.Add(1)
	// It takes no notice of the end of its context.
	ctx = workspace.WithTx(context.WithoutCancel(ctx), tx)
	var wg sync.WaitGroup
	for writer := range orphans {
		wg.Go(func() {
			for refused := 0; refused < tooLate; {
				o.attempts.Add(1)
				err := o.ws.WriteFile(ctx, fmt.Sprintf("%d-%d", call, writer), []byte{byte(o.wrote.Load())}, 0o600)
				switch {
				case err == nil:
					o.wrote.Add(1)
				case errors.Is(err, runtime.ErrFenced):
					refused++
				default:
					o.other.Store(&err)
					return
				}
			}
		})
	}
	wg.Wait()
	return tx.Rollback(context.WithoutCancel(ctx))
}

// TestNoWriteAfterTheOutcome lets orphaned handlers write while their calls time
// out. Once a call has its outcome no file of it may change.
// SEMANTICS 6.1.5
func TestNoWriteAfterTheOutcome(t *testing.T) {
	timeouts := battery.Count(t, 400, 3000)
	d := simfs.New(1)
	root := d.Root()
	for _, name := range []string{"ws", "undo", "content"} {
		require.NoError(t, root.Mkdir(name, 0o755))
	}
	ws, err := root.Sub("ws")
	require.NoError(t, err)
	undo, err := root.Sub("undo")
	require.NoError(t, err)
	store, err := root.Sub("content")
	require.NoError(t, err)
	var owner, late atomic.Int64
	d.Watch(func(op, name string) {
		call, _, ok := strings.Cut(name, "-")
		n, err := strconv.ParseInt(call, 10, 64)
		if op != "rename" || !ok || err != nil {
			return
		}
		goruntime.Gosched() // any work between looking and writing
		if owner.Load() > n {
			late.Add(1)
		}
	})
	o := &offender{ws: workspace.On(ws, undo, content.On(store), nil)}
	turn, wait := newTurn(t, 50*time.Microsecond, o.write)
	for i := int64(1); i <= int64(timeouts); i++ {
		owner.Store(i)
		out := turn.Execute(t.Context(), runtime.Call{Tool: "n", Input: fmt.Appendf(nil, `{"n":%d}`, i)})
		require.Equal(t, runtime.TimedOut, out.Kind, out.Message)
		owner.Store(i + 1)
	}
	wait()
	if err := o.other.Load(); err != nil {
		require.NoError(t, *err)
	}
	t.Logf("%d timeouts, %d attempts, %d writes, %d late", timeouts, o.attempts.Load(), o.wrote.Load(), late.Load())
	assert.Zero(t, late.Load(), "late writes")
	assert.Positive(t, o.wrote.Load())
	assert.Positive(t, o.began.Load())
	assert.GreaterOrEqual(t, o.attempts.Load(), o.began.Load()*orphans*tooLate)
	left, err := readTree(ws)
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestOutsideOfACall(t *testing.T) {
	b := newBench(t)
	err := b.ws.WriteFile(t.Context(), "a", nil, 0o600)
	require.ErrorIs(t, err, runtime.ErrNoCall)
}
