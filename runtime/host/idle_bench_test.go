//go:build unix

package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ambit-tools/ambit/runtime/host"
)

// idleBar is how much of a core, in percent, an idle host may use over a minute.
const idleBar = 0.05

// BenchmarkIdleHost reports which part of a core a host uses that has served a call and has nothing to
// do, with a folder of 50 policy files of 4 KiB. Each operation is a second, and the benchmark sleeps
// once for all of them, since each wake-up of a process costs: -benchtime 60x measures a minute, and
// fails above the bar.
func BenchmarkIdleHost(b *testing.B) {
	dir := b.TempDir()
	files := policies()
	for i := range 50 {
		rule := fmt.Sprintf("package ambit.tools.note_write\n\nask contains {\"id\": \"n%d\", \"message\": \"a draft\"} if startswith(input.args.title, \"Draft %d\")\n", i, i)
		files[fmt.Sprintf("note_%d.rego", i)] = &fstest.MapFile{Data: fmt.Appendf([]byte(rule), "#%4096s\n", "")}
	}
	folder := filepath.Join(dir, "policy")
	if err := os.CopyFS(folder, files); err != nil {
		b.Fatal(err)
	}
	h, err := host.Open(b.Context(), host.Config{
		Tools: noteTools(nil), Policies: os.DirFS(folder), Dir: filepath.Join(dir, "var"), Workspace: b.TempDir(),
		Report: func(err error) { b.Error(err) },
	})
	if err != nil {
		b.Fatal(err)
	}
	execute(b, h, "c1", "Shopping")
	if b.N > 1 {
		time.Sleep(40 * time.Second) // the head and the checkpoint are written by then, and the watch of the policies is calm
	}
	before, began := processors(b), time.Now()
	time.Sleep(time.Duration(b.N) * time.Second)
	used, passed := processors(b)-before, time.Since(began)
	part := 100 * float64(used) / float64(passed)
	b.ReportMetric(part, "%core")
	if b.N >= 60 && part > idleBar {
		b.Errorf("an idle host uses %.3f %% of a core, the bar is %.2f %%", part, idleBar)
	}
	b.ReportMetric(0, "ns/op")
	if err := h.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
}

// processors returns the processor time that the process has used.
func processors(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
