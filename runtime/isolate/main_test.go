package isolate_test

import (
	"os"
	"testing"

	"github.com/ambit-tools/ambit/runtime/isolate"
)

func TestMain(m *testing.M) {
	isolate.Enter()
	act()
	os.Exit(m.Run())
}
