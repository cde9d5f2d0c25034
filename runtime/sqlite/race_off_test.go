//go:build !race

package sqlite_test

// slow says that the race detector is on.
const slow = false
