package plan

import (
	"testing"

	"github.com/ambit-tools/ambit/internal/battery"
)

func TestMain(m *testing.M) { battery.Main(m) }
