//go:build race

package sqlite_test

// slow says that the race detector is on, under which the batteries take fifty
// times as long.
const slow = true
