// Package fuzz runs fuzz targets whose runs take a millisecond and more.
package fuzz

import (
	"flag"
	"testing"
)

// Run runs a fuzz target as f.Fuzz does, but minimizes a text that covers new code
// with at most 100 runs, unless -fuzzminimizetime says how long. By default the fuzzing
// engine minimizes each for 60 seconds, in which it tries nothing new; where a run
// takes a millisecond it does little else.
func Run(f *testing.F, target any) {
	f.Helper()
	given := false
	flag.Visit(func(fl *flag.Flag) { given = given || fl.Name == "test.fuzzminimizetime" })
	if !given {
		if err := flag.Set("test.fuzzminimizetime", "100x"); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(target)
}
