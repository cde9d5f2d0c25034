package engine_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// TestMessagesFollowTheFact: a call that was ended says that it may still have taken effect, or that what it did was taken back, and never
// both.
//
// SEMANTICS 6.1.7
func TestMessagesFollowTheFact(t *testing.T) {
	ends := map[string]func(r *rig, run *engine.Run){
		"deadline": func(*rig, *engine.Run) {},
		"cancel": func(r *rig, _ *engine.Run) {
			_ = r.exec.Cancel(context.Background(), "s", "c1", runtime.ProgramActor("ops"), "too slow")
		},
		"run closed": func(_ *rig, run *engine.Run) { _ = run.Close(context.Background()) },
		"shutdown":   func(r *rig, _ *engine.Run) { _ = r.exec.Shutdown(context.Background()) },
	}
	for name, end := range ends {
		for _, parts := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					l := &ledgerOfWrites{}
					begun := make(chan struct{})
					hang := func(ctx context.Context, _ *readInput) (*readOutput, error) {
						close(begun)
						<-ctx.Done()
						return nil, ctx.Err()
					}
					tool := readTool(hang, writes)
					if parts {
						tool = writeTool(l, hang)
					}
					r := transacting(t, new(journal.Memory), l, tool)
					run := r.run()
					out := told(run.Turn(engine.TurnConfig{}), callOf("c1", "file_read", goodInput))
					<-begun
					end(r, run)
					got := <-out
					assert.Equal(t, parts, got.RolledBack, got.Message)
					if parts {
						assert.Contains(t, got.Message, "; what it did was taken back")
						assert.NotContains(t, got.Message, "may still")
						assert.Empty(t, l.stands)
					} else {
						assert.Contains(t, got.Message, "; it may still have taken effect")
						assert.NotContains(t, got.Message, "taken back")
					}
					require.NoError(t, r.exec.Shutdown(t.Context()))
				})
			})
		}
	}
}
