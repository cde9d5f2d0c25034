package opa

import (
	"fmt"
	"sync"
	"testing"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
)

// TestLoad makes calls that the policy allows, from many callers at once, under
// default limits: none is denied because the machine is busy, and none times out.
func TestLoad(t *testing.T) {
	w := newWorld(t, 2)
	for _, tc := range []struct{ callers, each int }{
		{64, battery.Count(t, 8, 40)}, {200, 1}, {2000, battery.Count(t, 1, 10)},
	} {
		t.Run(fmt.Sprint(tc.callers, " callers"), func(t *testing.T) {
			exec, err := engine.NewExecutor(w.reg, w.policy)
			require.NoError(t, err)
			var mu sync.Mutex
			ends := map[string]int{}
			var wg, ready sync.WaitGroup
			ready.Add(tc.callers)
			for i := range tc.callers {
				session := exec.Session(engine.SessionConfig{
					ID: fmt.Sprint("s", i), Principal: "agent", Capabilities: []string{"fs.write"}, Behavior: "day",
				})
				run, err := session.StartRun(t.Context(), engine.RunConfig{})
				require.NoError(t, err)
				turn := run.Turn(engine.TurnConfig{})
				wg.Go(func() {
					ready.Done()
					ready.Wait()
					for range tc.each {
						out := turn.Execute(t.Context(), runtime.Call{
							Tool: "tool_0001", Input: []byte(`{"path":"/ws/a","content":"hello","mode":"create"}`),
						})
						mu.Lock()
						ends[fmt.Sprint(out.Kind, " ", out.Reason)]++
						mu.Unlock()
					}
				})
			}
			wg.Wait()
			t.Log(ends)
			refused := ends["denied at_capacity"]
			assert.EqualValues(t, exec.Stats().AtCapacity, refused)
			assert.Equal(t, tc.callers*tc.each, ends["completed "]+refused, ends)
			if tc.callers <= engine.DefaultMaxInFlight {
				assert.Zero(t, refused)
			}
			require.NoError(t, exec.Shutdown(t.Context()))
		})
	}
}
