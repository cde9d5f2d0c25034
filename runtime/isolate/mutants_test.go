package isolate_test

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/internal/mutant"
	"github.com/ambit-tools/ambit/runtime/isolate"
)

// TestMutants builds the patches of testdata/mutants and wants each to be noticed by the test that
// it names. Where two mechanisms stop an attack, a patch takes both away. Where the test is one of attacks, an
// attack has to succeed, or that of the self-test: a box that cannot be built is none with a hole.
func TestMutants(t *testing.T) {
	if battery.Full(t) && (runtime.GOOS != "linux" || os.Getuid() != 0) {
		t.Skip("as an ordinary user, or without Linux, some of the attacks are stopped by the host")
	}
	if r, err := isolate.New(isolate.Options{}); battery.Full(t) && (err != nil || !r.Host().Namespaces) {
		t.Skip("without namespaces there is less to take away, and some of the attacks are stopped by the host")
	}
	mutant.Each(t, "../..", "testdata/mutants", "./runtime/isolate", func(t *testing.T, p *mutant.Patch, binary string) {
		test, release := mutant.Command(binary, "2m", "-test.run", "^("+p.Tests[0]+")$")
		defer release()
		test.Env = battery.Env("ci")
		out, err := test.CombinedOutput()
		if err == nil {
			t.Fatalf("no test notices that %s", p.Breaks)
		}
		leak := strings.Index(string(out), "LEAK: ")
		if leak < 0 {
			leak = max(0, strings.Index(string(out), "got out by"))
		}
		t.Logf("noticed:\n%.300s", out[leak:])
		if strings.HasPrefix(p.Tests[0], "TestAttacks") && leak == 0 {
			t.Fatalf("no attack succeeds where %s:\n%.1000s", p.Breaks, out)
		}
	})
}
