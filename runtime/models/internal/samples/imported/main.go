// Imported prints what this module publishes of the tools of a corpus, once they are imported: the
// schema of a tool on each line, as samples.Everything reads them. Its argument is a file of
// what public servers list, a tool a line.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/ambit-tools/ambit/runtime/models/internal/samples/declared"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout io.Writer) error {
	if len(args) != 1 {
		return fmt.Errorf("want one file of tools")
	}
	text, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(stdout)
	out := json.NewEncoder(buffered)
	for line := range bytes.Lines(text) {
		var tool map[string]json.RawMessage
		if err := json.Unmarshal(line, &tool); err != nil {
			return err
		}
		tool["name"] = tool["tool"]
		published, err := declared.Publish(tool)
		if err != nil {
			return fmt.Errorf("%s: %w", tool["name"], err)
		}
		for _, sample := range published {
			if err := out.Encode(sample); err != nil {
				return err
			}
		}
	}
	return buffered.Flush()
}
