package battery

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"
)

// Kill waits for a process that was started, or kills it after a random part of *last: how long the latest process took that was
// not killed, 0 for none, so that the kills spread over all that it does, whatever the machine. Kill sets it, and
// reports whether the process ended by itself. A process that fails by itself fails the test.
func Kill(t testing.TB, rng *rand.Rand, last *time.Duration, cmd *exec.Cmd) (whole bool) {
	t.Helper()
	ended, killed := KillWhile(rng, last, cmd, cmd.Process)
	switch err := <-ended; {
	case killed:
		return err == nil // it ended before the signal came
	case err != nil:
		t.Fatal(err)
	}
	return true
}

// KillWhile kills a process after a random part of *last, while another one runs that was started, or the same. It returns when the other one
// has ended, and sets *last to how long that took, or when it has killed. How the other one ends is sent to ended.
func KillWhile(rng *rand.Rand, last *time.Duration, cmd *exec.Cmd, victim *os.Process) (ended <-chan error, killed bool) {
	began, wait := time.Now(), make(chan error, 1)
	over := make(chan struct{})
	go func() {
		defer close(over)
		wait <- cmd.Wait()
	}()
	var kill <-chan time.Time // nil: never
	if *last > 0 {
		kill = time.After(time.Duration(rng.Int64N(int64(*last))))
	}
	select {
	case <-over:
		*last = time.Since(began)
		return wait, false
	case <-kill:
		_ = victim.Kill() // it may have ended
		return wait, true
	}
}
