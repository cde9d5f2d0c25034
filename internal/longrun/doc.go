// Longrun measures what an executor, its store and its verbs cost after many calls, and prints a table of these
// figures beside their bars.
//
//	go run ./internal/longrun -calls 1000000
//
// It writes stores of 10,000 and of -calls calls without making these: one session of ten calls is recorded by an
// executor, and its entries are appended under other names, through the store and its audit log, so that
// they are authenticated, signed and anchored like any. The last 100 sessions have an open run.
//
// Each figure is measured in a process of its own, small and large in turns, and is the median of the turns. Figures
// that compare with an earlier commit (-before) are measured by this program built in a worktree of that commit, which
// writes its own store. Where a child does one thing its processor time counts, which a busy machine changes less. The exit code is 1
// when a bar is not met, unless the table names the work that it waits for.
package main
