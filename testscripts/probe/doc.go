// Package probe is an application that the scripts run: a few tools that end in
// every way that a call can end, and a program that calls them.
//
//	probe [flags] < calls.jsonl
//
// Each line of standard input is one call, {"call": ID, "tool": NAME, "input": JSON};
// "raw" in the place of "input" holds text that need not be JSON. Each call ends
// in one line on standard output, and one more for every violation and denial.
package probe

//go:generate go run github.com/ambit-tools/ambit/cmd/ambit generate
