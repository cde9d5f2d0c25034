package isolate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/internal/buildcache"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
)

// The bars of a cold boxed command: beside exec of the same program, and from an agent with a heap of
// 1 GiB beside that without.
const (
	mostCost = 20
	mostHeap = 1.3
)

// BenchmarkCost measures a cold boxed command beside exec of the same program, from a program that
// links this package alone, once with a heap of 1 GiB, and from one that links OPA and SQLite. It
// reports ratios of the least times and fails above the bars.
func BenchmarkCost(b *testing.B) {
	forms()[0].open(b)
	alone, linked := filepath.Join(b.TempDir(), "alone"), filepath.Join(b.TempDir(), "linked")
	require.NoError(b, buildcache.Copy("./internal/cost/alone", alone))
	require.NoError(b, buildcache.Copy("./internal/cost/linked", linked))
	for b.Loop() {
		small, large, host := map[string]float64{}, map[string]float64{}, map[string]float64{}
		for range 2 { // in turns, so that what else the machine does meets all of them
			cost(b, small, alone)
			cost(b, large, alone, "1024")
			cost(b, host, linked)
		}
		for name, ns := range small {
			unit := strings.ReplaceAll(name, " ", "-")
			b.ReportMetric(ns/small["exec"], unit+"/exec")
			b.ReportMetric(large[name]/ns, unit+"-1GiB/"+unit)
			b.ReportMetric(host[name]/host["exec"], unit+"-with-OPA-and-SQLite/exec")
		}
		require.LessOrEqual(b, small["box"]/small["exec"], float64(mostCost))
		require.LessOrEqual(b, large["box"]/small["box"], mostHeap)
	}
	b.ReportMetric(0, "ns/op")
}

// cost lowers the least times to those of a program.
func cost(b *testing.B, least map[string]float64, program string, heap ...string) {
	b.Helper()
	out, err := exec.Command(program, append([]string{"100"}, heap...)...).Output()
	require.NoError(b, err)
	var best map[string]float64
	require.NoError(b, json.Unmarshal(out, &best))
	for name, ns := range best {
		if had, ok := least[name]; !ok || ns < had {
			least[name] = ns
		}
	}
}

// outputCap is what gulp keeps of each stream.
const outputCap = 1 << 20

// TestFloodIsNotRemembered lets a command write far more than is kept: the memory of the agent
// grows by the cap and 10 MiB at most. With AMBIT_BATTERY=ci it writes 1 GiB.
func TestFloodIsNotRemembered(t *testing.T) {
	size := int64(min(1024, battery.Count(t, 16, 1024))) << 20
	for _, f := range forms() {
		t.Run(f.name, func(t *testing.T) {
			f.open(t)
			c := exec.Command("/proc/self/exe")
			c.Env = append(os.Environ(), "AMBIT_ACT=gulp", "AMBIT_FORM="+f.name, fmt.Sprint("AMBIT_BYTES=", size))
			out, err := c.CombinedOutput()
			require.NoError(t, err, "%s", out)
			var got struct{ Size, Kept, Passed, Grew int64 }
			require.NoError(t, json.Unmarshal(out, &got), "%s", out)
			t.Logf("%d MiB written, the agent grew by %d KiB", got.Size>>20, got.Grew>>10)
			require.Equal(t, size, got.Size)
			require.EqualValues(t, outputCap, got.Kept)
			require.LessOrEqual(t, got.Passed, int64(outputCap))
			if !battery.Race { // whose shadow of the memory grows too
				require.LessOrEqual(t, got.Grew, int64(outputCap+10<<20))
			}
		})
	}
}

// gulp runs a flood and says by how much this process has grown at most.
func gulp() {
	for _, f := range forms() {
		if f.name != os.Getenv("AMBIT_FORM") {
			continue
		}
		r := f.open(&testing.T{})
		r.Host()
		program, err := process.Find(target{}.Program(), "")
		if err != nil {
			panic(err)
		}
		limits := runtime.ProcessLimits{Output: outputCap}.Defaults(10 * time.Minute)
		var passed int64
		before := highWater()
		exit, err := r.Run(context.Background(), &process.Job{
			Spec: &process.Spec{Tier: f.tier, Limits: limits}, Program: program, Argv: []string{"flood"},
			Env:    []string{"AMBIT_ACT=flood", "AMBIT_BYTES=" + os.Getenv("AMBIT_BYTES")},
			Output: func(c process.Chunk) { passed += int64(len(c.Data)) },
		})
		if err != nil {
			panic(err)
		}
		text, _ := json.Marshal(map[string]int64{"Size": exit.Stdout.Size, "Kept": int64(len(exit.Stdout.Head) + len(exit.Stdout.Tail)),
			"Passed": passed, "Grew": highWater() - before})
		fmt.Println(string(text))
	}
}

// highWater is the most memory that this process has had.
func highWater() (kib int64) {
	text, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	_, _ = fmt.Sscan(rest, &kib)
	return kib << 10
}
