// Said reads what go test -json prints, from its standard input. It prints a line for each package and all that a test
// says that fails, and appends the name of each test that is skipped, with its reason, to a file.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

const module = "github.com/ambit-tools/ambit/"

// An event is a line of go test -json.
type event struct {
	Action, Package, ImportPath, Test, Output string
	Elapsed                                   float64
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: said FILE < events")
		os.Exit(2)
	}
	skipped, err := os.OpenFile(os.Args[1], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	said := map[string]*strings.Builder{} // by package and test
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Println(lines.Text()) // the go command itself
			continue
		}
		of := e.Package + e.ImportPath + " " + e.Test
		if said[of] == nil {
			said[of] = &strings.Builder{}
		}
		switch e.Action {
		case "output", "build-output":
			said[of].WriteString(e.Output)
		case "fail", "build-fail":
			fmt.Printf("FAIL %s (%.1f s)\n%s", of, e.Elapsed, said[of])
		case "pass":
			if e.Test == "" {
				fmt.Printf("ok  \t%s\t%.3fs\n", e.Package, e.Elapsed)
			}
		case "skip":
			if e.Test != "" {
				fmt.Fprintf(skipped, "%s %s: %s\n", strings.TrimPrefix(e.Package, module), e.Test, reason(said[of].String()))
			}
		}
		if e.Action == "pass" || e.Action == "skip" {
			delete(said, of)
		}
	}
	if err := lines.Err(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := skipped.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// reason returns the text of a skip: the line that names a file of tests.
func reason(output string) string {
	for line := range strings.Lines(output) {
		if _, why, found := strings.Cut(line, "_test.go:"); found {
			_, why, _ = strings.Cut(why, ": ")
			return strings.TrimSpace(why)
		}
	}
	return "no reason given"
}
