//go:build !race

package crashtest

const slow = false
