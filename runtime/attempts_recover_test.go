package runtime_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// TestAttemptsAreCountedOverRestarts lets the process die in every attempt.
func TestAttemptsAreCountedOverRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal.Memory
		never, ran := make(chan struct{}), 0
		die := func(context.Context, *readInput) (*readOutput, error) {
			ran++
			<-never
			return nil, context.Canceled
		}
		twice := func(s *runtime.Spec) { s.Idempotent, s.Retry = true, &runtime.Retry{Max: 2} }
		turn := recovered(t, &j, readTool(die, twice)).turn()
		go turn.Execute(context.Background(), callOf("c1", "file_read", goodInput))
		synctest.Wait()
		for i := range 2 {
			assert.Equal(t, i+1, ran)
			recovered(t, &j, readTool(die, twice))
			synctest.Wait()
		}
		r := recovered(t, &j, readTool(die, twice))
		assert.Equal(t, runtime.Unknown, r.exec.Session(runtime.SessionConfig{ID: "s", Principal: "agent"}).Await(t.Context(), "c1").Kind)
		assert.Equal(t, 3, ran, "once, and twice more")
		close(never)
	})
}
