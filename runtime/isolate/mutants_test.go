package isolate_test

import (
	"os"
	"runtime"
	"testing"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/internal/mutant"
	"github.com/ambit-tools/ambit/runtime/isolate"
)

// TestMutants builds the patches of testdata/mutants and wants each to be noticed by the tests that
// it names. Where two mechanisms stop an attack, a patch takes both away.
func TestMutants(t *testing.T) {
	if battery.Full(t) && (runtime.GOOS != "linux" || os.Getuid() != 0) {
		t.Skip("as an ordinary user, or without Linux, some of the attacks are stopped by the host")
	}
	if r, err := isolate.New(isolate.Options{}); battery.Full(t) && (err != nil || !r.Host().Namespaces) {
		t.Skip("without namespaces there is less to take away, and some of the attacks are stopped by the host")
	}
	mutant.Noticed(t, "../..", "./runtime/isolate", "2m", battery.Env("ci"))
}
