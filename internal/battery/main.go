package battery

import (
	"os"
	"runtime/debug"
	"testing"
)

// Main is the TestMain of a package whose tests make much garbage and keep little:
// it collects less often, which takes a quarter less CPU time.
func Main(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
