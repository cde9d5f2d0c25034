//go:build race

package battery

// Race says that the race detector is on: batteries divide their size.
const Race = true
