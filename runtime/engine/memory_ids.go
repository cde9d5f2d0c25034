package engine

import (
	"strconv"
	"strings"
)

// The prefixes of the ids that a session makes. A number follows, which only grows.
const (
	callPrefix  = "call-"
	agentPrefix = "agent-"
)

// mostDigits is more than counting reaches: an id with more was not made here.
const mostDigits = 15

// madeID returns the id with a number.
func madeID(prefix string, number int) string { return prefix + strconv.Itoa(number) }

// madeNumber returns the number of an id that was made, 0 for another id.
func madeNumber(prefix, id string) int {
	digits, ok := strings.CutPrefix(id, prefix)
	if !ok || len(digits) > mostDigits || strings.TrimLeft(digits, "0") != digits {
		return 0
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil {
		return 0
	}
	return int(n)
}
