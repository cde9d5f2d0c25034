package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/bind"
	"github.com/ambit-tools/ambit/runtime/internal/callctx"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
	"github.com/ambit-tools/ambit/runtime/wire"
)

var (
	long       = strings.Repeat("x", 5_000)
	stored     = &runtime.StoredOutput{ArtifactRef: runtime.ArtifactRef{SHA256: "abc"}}
	errOffline = errors.New("offline")
)

// A found is what a reconcile handler finds, and what becomes of the call.
type found struct {
	value   wire.Value
	err     error
	hangs   bool
	mask    error
	store   error
	outcome runtime.Outcome
	late    bool
	fails   error // nil: it does not
}

// question returns a question to a handler that finds it. A handler that hangs returns after release.
func (row found) question(t *testing.T, release <-chan struct{}) reconcileQuestion {
	tool := &tools.Tool{Spec: &runtime.Spec{Name: "a", Deadline: time.Minute, Artifact: &runtime.Artifact{Over: 1_000}}, Hooks: &bind.Hooks{
		Reconcile: func(context.Context, callctx.Info, wire.Value) (wire.Value, error) {
			if row.hangs {
				<-release
			}
			return row.value, row.err
		},
	}}
	return reconcileQuestion{
		Tool: tool, Args: recoveryText("in"), Obligations: []runtime.Obligation{{Code: "notify"}},
		Mask: func(out wire.Raw) (wire.Raw, error) {
			if len(out) < len(long) {
				out = wire.Raw(`"masked"`)
			}
			return out, row.mask
		},
		Store: func(_ context.Context, v wire.Value, out wire.Raw) (*runtime.StoredOutput, error) {
			assert.Equal(t, recoveryText(long), v)
			assert.Len(t, out, len(long)+2)
			return stored, row.store
		},
	}
}

// TestQuestion: what a reconcile handler finds is the outcome of the call, masked, and stored where it is long. A handler
// that fails or does not return leaves the call unknown.
// SEMANTICS 1.4.8
func TestQuestion(t *testing.T) {
	for name, row := range map[string]found{
		"output":  {value: recoveryText("done"), outcome: runtime.Outcome{Kind: runtime.Completed, Output: wire.Raw(`"masked"`)}},
		"nothing": {err: fmt.Errorf("gone: %w", errNothing), outcome: runtime.Outcome{Kind: runtime.Failed}},
		"fails":   {err: errOffline, fails: errOffline},
		"hangs":   {hangs: true, late: true, fails: context.DeadlineExceeded},
		"masked":  {value: recoveryText("done"), mask: errOffline, fails: errOffline},
		"long":    {value: recoveryText(long), outcome: runtime.Outcome{Kind: runtime.Completed, Artifact: stored}},
		"full":    {value: recoveryText(long), store: errOffline, fails: errOffline},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				q, s, held := row.question(t, release), new(sched.Scheduler), new(sched.Gate)
				q.Hold, q.LetGo = held.Force, held.Leave
				a, late, err := q.Ask(context.Background(), s)
				synctest.Wait()
				assert.Equal(t, row.hangs, held.WaitFor(s, 0) > 0, "for as long as the handler runs")
				close(release)
				synctest.Wait()
				assert.Zero(t, held.WaitFor(s, 0))
				assert.Equal(t, row.late, late)
				if row.fails != nil {
					assert.Error(t, err)
					assert.Zero(t, a, "what was found is not used")
					if row.fails == errOffline {
						assert.ErrorIs(t, err, errOffline)
					}
					return
				}
				assert.NoError(t, err)
				assert.Equal(t, row.outcome.Kind, a.Outcome.Kind)
				assert.Equal(t, row.outcome.Output, a.Outcome.Output)
				assert.Equal(t, row.outcome.Artifact, a.Outcome.Artifact)
				assert.Equal(t, row.value, a.Value)
				if a.Value != nil {
					assert.Equal(t, q.Obligations, a.Outcome.Obligations)
				}
			})
		})
	}
}
