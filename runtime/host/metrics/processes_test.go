package metrics_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
)

// TestUsageOfProcesses: what processes have used is served by tool, and nothing else of them.
// SEMANTICS 6.13.3
func TestUsageOfProcesses(t *testing.T) {
	exec, m, _ := open(t)
	work(t, exec, 100)
	stats := exec.Stats()
	before := text(t, m, figures(stats))
	assert.NotRegexp(t, `(?m)^ambit_process_`, before, "no command has run")
	stats.Processes = []runtime.RunningProcess{{Session: secret, Call: secret, Tool: "read", ID: runtime.ProcessID{PID: 77, Mark: secret}}}
	stats.Usage = map[string]runtime.ProcessUsage{
		"read":  {User: 1500 * time.Millisecond, System: 250 * time.Millisecond, PeakMemory: 3 << 30, Memory: 1 << 20, Processes: 3, ReadBytes: 512, WriteBytes: 1024},
		"write": {User: time.Second},
		"gone":  {User: time.Hour}, // no name of the registry
	}
	page := text(t, m, figures(stats))
	assert.Equal(t, []string{
		`ambit_process_cpu_seconds_total{mode="system",tool="read"} 0.25`,
		`ambit_process_cpu_seconds_total{mode="user",tool="read"} 1.5`,
		`ambit_process_cpu_seconds_total{mode="user",tool="write"} 1`,
		`ambit_process_memory_bytes{tool="read"} 1.048576e+06`,
		`ambit_process_peak_memory_bytes{tool="read"} 3.221225472e+09`,
		`ambit_process_read_bytes_total{tool="read"} 512`,
		`ambit_process_tasks{tool="read"} 3`,
		`ambit_process_written_bytes_total{tool="read"} 1024`,
	}, regexp.MustCompile(`(?m)^ambit_process_.*$`).FindAllString(page, -1))
	assert.Contains(t, page, "\nambit_commands_running 1\n")
	assert.Equal(t, 1, strings.Count(page, "# TYPE ambit_process_cpu_seconds_total counter"))
	assert.NotContains(t, page, secret)

	doc, err := m.JSON(stats)
	require.NoError(t, err)
	assert.NotContains(t, string(doc), secret)
	var d struct {
		Executor map[string]int
		Tools    []struct {
			Tool      string
			Processes json.RawMessage
		}
	}
	require.NoError(t, json.Unmarshal(doc, &d))
	assert.Equal(t, 1, d.Executor["commands"])
	for _, tool := range d.Tools {
		switch tool.Tool {
		case "read":
			assert.JSONEq(t, `{"cpu_user_seconds":1.5,"cpu_system_seconds":0.25,"peak_memory_bytes":3221225472,"memory_bytes":1048576,"tasks":3,
				"read_bytes":512,"written_bytes":1024}`, string(tool.Processes))
		case "limited":
			assert.Empty(t, tool.Processes, "it is no command")
		}
	}
	assert.Equal(t, before, text(t, m, figures(withoutProcesses(stats))))
}

func withoutProcesses(s runtime.Stats) runtime.Stats {
	s.Processes, s.Usage = nil, nil
	return s
}
