package isolate_test

import (
	"os"
	"testing"

	"github.com/ambit-tools/ambit/runtime/command/isolate"
)

func TestMain(m *testing.M) {
	isolate.Enter()
	act()
	os.Exit(m.Run())
}
