// Package battery sizes the tests that repeat something many times: seeds of a
// simulated disk, kills of a process, random programs, mutants.
//
// A plain go test runs a small part of each, and -short a smaller one. The
// environment variable AMBIT_BATTERY asks for more:
//
//	AMBIT_BATTERY=ci       what .ci/run runs
//	AMBIT_BATTERY=nightly  ten times as much, which .ci/nightly runs
//	AMBIT_BATTERY=5000     5,000 repetitions: for one test at a time
//
// It is a variable and no flag because go test hands a flag to every package, and
// the packages that do not define it fail. docs/internal/testing.md lists the batteries.
package battery

import (
	"hash/fnv"
	"os"
	"strconv"
	"testing"
	"time"
)

// Variable is the environment variable that sizes the batteries.
const Variable = "AMBIT_BATTERY"

// Size is how much of the batteries a run asks for. The zero value is a plain run.
type Size struct {
	full   int // the factor of full sizes; 0: none was asked for
	number int // of repetitions; 0: none was asked for
	short  bool
	race   bool // under the race detector
}

// Parse reads a value of Variable. It is false for one that means nothing.
func Parse(value string, short bool) (Size, bool) {
	switch value {
	case "":
		return Size{short: short}, true
	case "ci":
		return Size{full: 1}, true
	case "nightly":
		return Size{full: 10}, true
	}
	n, err := strconv.Atoi(value)
	return Size{number: n}, err == nil && n > 0
}

// Count is how often a battery repeats: few times in a plain run, a quarter of that
// with -short, full times with ci, ten times full with nightly. The race detector
// makes a tenth of full out of that, not less than few. Where the variable is a
// number it is that number. It is never less than one.
func (s Size) Count(few, full int) int {
	switch {
	case s.number > 0:
		return s.number
	case s.full > 0 && s.race:
		return max(1, few, s.full*full/10)
	case s.full > 0:
		return max(1, s.full*full)
	case s.short:
		return max(1, few/4)
	}
	return max(1, few)
}

// Picks says whether an item of a list runs, of which each takes seconds: none in
// a plain run, a tenth with ci, another one each day, and all with nightly.
func (s Size) Picks(name string, day time.Time) bool {
	if s.full != 1 {
		return s.full > 1
	}
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(name))
	return int64(sum.Sum32()%10) == day.Unix()/(24*60*60)%10
}

// Count returns how often a battery repeats, as Size.Count says.
func Count(t testing.TB, few, full int) int {
	t.Helper()
	return size(t).Count(few, full)
}

// Picks says whether an item of a list runs, as Size.Picks says. Under the race
// detector, which sees nothing of programs that a test builds, none does.
func Picks(t testing.TB, name string) bool {
	t.Helper()
	return !Race && size(t).Picks(name, time.Now())
}

// Full says whether ci or nightly was asked for.
func Full(t testing.TB) bool {
	t.Helper()
	return size(t).full > 0
}

// Env returns the environment of this process with a value of Variable in the place
// of its own: for a test that runs the tests of another package.
func Env(value string) []string { return append(os.Environ(), Variable+"="+value) }

func size(t testing.TB) Size {
	t.Helper()
	value := os.Getenv(Variable)
	s, ok := Parse(value, testing.Short())
	s.race = Race
	if !ok {
		t.Fatalf("%s is %q: want ci, nightly or a positive number", Variable, value)
	}
	return s
}
