package battery

import (
	"math/rand/v2"
	"os/exec"
	"testing"
	"time"
)

// Kill waits for a process that was started, or kills it after a random part of *last: how long the latest process took that was
// not killed, 0 for none, so that the kills spread over all that it does, whatever the machine. Kill sets it, and
// reports whether the process ended by itself. A process that fails by itself fails the test.
func Kill(t testing.TB, rng *rand.Rand, last *time.Duration, cmd *exec.Cmd) (whole bool) {
	t.Helper()
	began, ended := time.Now(), make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var kill <-chan time.Time // nil: never
	if *last > 0 {
		kill = time.After(time.Duration(rng.Int64N(int64(*last))))
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Fatal(err)
		}
		*last = time.Since(began)
		return true
	case <-kill:
		_ = cmd.Process.Kill() // it may have ended
		return <-ended == nil
	}
}
