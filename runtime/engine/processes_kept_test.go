package engine_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/runtimetest"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// TestKeptOutput: the end of a process that failed or was killed names an artifact with what it wrote, in each attempt.
// That of one whose call has its output names none.
// SEMANTICS 6.6.9
func TestKeptOutput(t *testing.T) {
	for name, row := range map[string]struct {
		tool string
		act  runtimetest.Act
		kind runtime.OutcomeKind
		kept int
	}{
		"completed": {"look", runtimetest.Act{Out: "said", Err: "complained"}, runtime.Completed, 0},
		"failed":    {"look", runtimetest.Act{Out: "said", Err: "complained", Code: 9}, runtime.Failed, 1},
		"invalid":   {"value", runtimetest.Act{Out: "said", Err: "complained"}, runtime.Failed, 1},
		"killed":    {"once", runtimetest.Act{Out: "said", Err: "complained", Hang: true, Stubborn: true}, runtime.TimedOut, 1},
		"retried":   {"make", runtimetest.Act{Out: "said", Err: "complained", Code: 3}, runtime.Failed, 2},
		"silent":    {"look", runtimetest.Act{Code: 9}, runtime.Failed, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := prepareWorkshop(t, act(row.act))
			w.config.Spool = filepath.Join(w.tools, "spool")
			synctest.Test(t, func(t *testing.T) {
				w.open(t, runtime.PolicyFunc(allowAll), engine.WithArtifacts(new(runtime.MemoryArtifacts)))
				assert.Equal(t, row.kind, w.call("c", row.tool).Kind)
				require.NoError(t, w.only.Close(t.Context()))
				require.NoError(t, w.exec.Shutdown(t.Context()))
				started, ended := w.processes(t, "c")
				require.Len(t, ended, len(started))
				kept := 0
				for _, r := range ended {
					if r.Process.Kept == nil {
						continue
					}
					kept++
					data, err := w.exec.Artifact(t.Context(), *r.Process.Kept)
					require.NoError(t, err)
					assert.JSONEq(t, `{"stdout":{"size":5,"head":"said\n"},"stderr":{"size":11,"head":"complained\n"}}`, string(data))
				}
				assert.Equal(t, row.kept, kept)
				left, _ := os.ReadDir(w.config.Spool)
				assert.Empty(t, left)
			})
		})
	}
}

// TestKeptOutputIsHidden: sensitive values are not in what is kept, and nothing is where the policy masks the output.
// SEMANTICS 6.6.9
func TestKeptOutputIsHidden(t *testing.T) {
	for name, row := range map[string]struct {
		decision runtime.Decision
		want     string
	}{
		"sensitive": {runtime.Decision{Effect: runtime.EffectAllow}, `{"stdout":{"size":10,"head":"(sensitive)"},"stderr":{"size":0,"head":""}}`},
		"masked": {runtime.Decision{Effect: runtime.EffectAllow, Obligations: []runtime.Obligation{
			{Code: "redact_output", Args: wire.Raw(`{"pointers":["/stdout"]}`)},
		}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkshop(t, decide(row.decision), act(runtimetest.Act{Echo: true, Code: 9}), engine.WithArtifacts(new(runtime.MemoryArtifacts)))
			out := w.run().Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c", "pipe", `{"key":"hunter2222"}`))
			require.Equal(t, runtime.Failed, out.Kind, out.Message)
			_, ended := w.processes(t, "c")
			require.Len(t, ended, 1)
			if row.want == "" {
				assert.Nil(t, ended[0].Process.Kept)
				return
			}
			require.NotNil(t, ended[0].Process.Kept)
			data, err := w.exec.Artifact(t.Context(), *ended[0].Process.Kept)
			require.NoError(t, err)
			assert.JSONEq(t, row.want, string(data))
		})
	}
}

// TestOutputIsNotKept: a store that fails is reported, and changes nothing of the call.
// SEMANTICS 6.6.9
func TestOutputIsNotKept(t *testing.T) {
	w := newWorkshop(t, runtime.PolicyFunc(allowAll), act(runtimetest.Act{Out: "said", Code: 9}), engine.WithArtifacts(brokenArtifacts{}))
	out := w.call("c", "look")
	assert.Equal(t, runtime.Failed, out.Kind)
	_, ended := w.processes(t, "c")
	require.Len(t, ended, 1)
	assert.Nil(t, ended[0].Process.Kept)
	assert.Equal(t, 9, ended[0].Process.Exit.Code)
	assert.Condition(t, func() bool {
		for _, f := range w.allFaults() {
			if errors.Is(f.Err, errNoStore) {
				return true
			}
		}
		return false
	})
}

// A spoolWatch is a journal that looks whether the spool is there when the end of a process is written.
type spoolWatch struct {
	*journal.Memory
	dir  string
	seen []int // how many files there are
}

func (j *spoolWatch) Append(ctx context.Context, list []journal.Entry) error {
	for _, e := range list {
		if bytes.Contains(e.Leaf, []byte(`"exit":{`)) {
			files, _ := os.ReadDir(j.dir)
			j.seen = append(j.seen, len(files))
		}
	}
	return j.Memory.Append(ctx, list)
}

// TestSpoolOutlivesTheEnd: what a process wrote is in the spool until its end is durable. Without a journal there is
// nothing to wait for.
// SEMANTICS 6.6.9
func TestSpoolOutlivesTheEnd(t *testing.T) {
	w := prepareWorkshop(t, act(runtimetest.Act{Out: "said"}))
	w.config.Spool = filepath.Join(w.tools, "spool")
	j := &spoolWatch{Memory: &w.journal, dir: w.config.Spool}
	w.open(t, runtime.PolicyFunc(allowAll), engine.WithJournal(j))
	assert.Equal(t, runtime.Completed, w.call("c", "look").Kind)
	assert.Equal(t, []int{2}, j.seen)
	left, err := os.ReadDir(w.config.Spool)
	require.NoError(t, err)
	assert.Empty(t, left)

	r := newRigWith(t, runtime.PolicyFunc(allowAll), declaredCommands(t, commandTools), engine.WithProcesses(w.config))
	assert.Equal(t, runtime.Completed, r.turn().Execute(t.Context(), callOf("d", "look", `{}`)).Kind)
	left, err = os.ReadDir(w.config.Spool)
	require.NoError(t, err)
	assert.Empty(t, left)
}
