package mutants

import (
	"context"
	"os/exec"
	"time"
)

// Command returns the command that runs tests of a binary for at most a time such as 5m, and what
// releases it. A binary in which the testing package does not end the tests at that time, because a
// mutant has blocked what it needs for that, is killed when twice the time is over.
func Command(binary, within string, args ...string) (test *exec.Cmd, release func()) {
	most, err := time.ParseDuration(within)
	if err != nil {
		panic(err) // of a test of this repository
	}
	ctx, release := context.WithTimeout(context.Background(), 2*most)
	test = exec.CommandContext(ctx, binary, append(args, "-test.timeout", within)...)
	test.WaitDelay = 10 * time.Second // for what a process of the test still writes
	return test, release
}
