//go:build race

package crashtest

// slow says that the race detector is at work, which makes everything many times
// slower.
const slow = true
