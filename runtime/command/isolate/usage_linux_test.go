package isolate_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
)

// TestUsage: what the processes of a box have used is counted once. The last look before the end has seen
// alive what is reaped then.
func TestUsage(t *testing.T) {
	list := forms()
	if !battery.Full(t) {
		list = list[1:2]
	}
	for _, f := range list {
		t.Run(f.name, func(t *testing.T) {
			job := scriptJob(t, f, "dd if=/dev/zero of=/dev/null bs=1 count=2000000 2>/dev/null; times", markOf(t, 0))
			exit, err := f.open(t).Run(t.Context(), job)
			require.NoError(t, err)
			var minutes [4]int // of the shell and of its children, as the shell counts
			var seconds [4]float64
			_, err = fmt.Sscanf(string(exit.Stdout.Head), "%dm%fs %dm%fs\n%dm%fs %dm%fs",
				&minutes[0], &seconds[0], &minutes[1], &seconds[1], &minutes[2], &seconds[2], &minutes[3], &seconds[3])
			require.NoError(t, err, "%s", exit.Stdout.Head)
			var want float64
			for i := range minutes {
				want += 60*float64(minutes[i]) + seconds[i]
			}
			used := exit.Usage.User + exit.Usage.System
			require.Less(t, used.Seconds(), 1.5*want+0.05, "the shell counts %v", time.Duration(want*float64(time.Second)))
			require.Greater(t, used.Seconds(), 0.5*want)
		})
	}
}
