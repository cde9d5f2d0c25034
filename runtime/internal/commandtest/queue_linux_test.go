package commandtest

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/host"
)

// A counting is a runner that notes which scripts it runs, in order, and how many at once.
type counting struct {
	process.Runner

	mu        sync.Mutex
	order     []string
	now, most int
}

func (c *counting) Run(ctx context.Context, job *process.Job) (*process.Exit, error) {
	script, err := io.ReadAll(job.Stdin)
	if err != nil {
		return nil, err
	}
	name, _, _ := strings.Cut(string(script), "\n")
	job.Stdin = strings.NewReader(string(script))
	c.mu.Lock()
	c.order = append(c.order, strings.TrimPrefix(name, "# "))
	c.now++
	c.most = max(c.most, c.now)
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.now--
		c.mu.Unlock()
	}()
	return c.Runner.Run(ctx, job)
}

func (c *counting) seen() (order []string, most int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append(order, c.order...), c.most
}

// TestQueue: Config.Processes of the host bounds the processes over all tools. Those that wait start in the order in
// which their calls came, one when another has been reaped or the limit is raised.
// SEMANTICS 6.3.9
func TestQueue(t *testing.T) {
	eachForm(t, func(t *testing.T, f form) {
		var runner *counting
		b := f.open(t, t.TempDir(), "1h", func(cfg *host.Config) {
			runner = &counting{Runner: cfg.Runner}
			cfg.Runner, cfg.Processes = runner, 1
		})
		calls := []string{"once-1", "look-1", "again-1", "look-2", "once-2", "look-3"}
		for i, call := range calls {
			script := "# " + call + "\n" + gated
			if i > 1 {
				script = "# " + call + "\necho done"
			}
			require.NoError(t, b.start(call, script))
			for order, _ := runner.seen(); len(order) == 0 || b.Executor.Stats().Queued < i; order, _ = runner.seen() {
				time.Sleep(time.Millisecond)
			}
		}
		order, most := runner.seen()
		require.Equal(t, calls[:1], order, "one process runs")
		require.Equal(t, 1, most)
		b.SetProcesses(2)
		for len(order) < 2 {
			order, _ = runner.seen()
			time.Sleep(time.Millisecond)
		}
		require.Equal(t, calls[:2], order)
		b.SetProcesses(1)
		require.NoError(t, os.WriteFile(filepath.Join(b.dir, "work", "go"), nil, 0o600))
		for _, call := range calls {
			out := b.Executor.Await(t.Context(), "s", call)
			assert.Equal(t, runtime.Completed, out.Kind, out.Message)
		}
		order, most = runner.seen()
		assert.Equal(t, calls, order)
		assert.Equal(t, 2, most)
		require.NoError(t, b.Close(t.Context()))
	})
}
