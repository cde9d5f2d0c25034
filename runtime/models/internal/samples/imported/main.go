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

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen"
	"github.com/ambit-tools/ambit/internal/importer"
	"github.com/ambit-tools/ambit/runtime/models/dialect"
	"github.com/ambit-tools/ambit/runtime/models/internal/samples"
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
		if err := publish(out, tool); err != nil {
			return fmt.Errorf("%s: %w", tool["name"], err)
		}
	}
	return buffered.Flush()
}

// publish imports one tool; one that cannot be imported is left out.
func publish(out *json.Encoder, tool map[string]json.RawMessage) error {
	list, err := json.Marshal([]any{tool})
	if err != nil {
		return err
	}
	r, err := importer.MCP(list, importer.Options{Package: "corpus", Path: "tools.yaml"})
	if err != nil || r.Text == nil {
		return err
	}
	f, err := dsl.Parse("tools.yaml", r.Text, dsl.WithPatterns(gen.PatternFault))
	if err != nil {
		return err
	}
	tools, err := gen.Schemas(f, dialect.JSONSchema)
	if err != nil {
		return err
	}
	for _, t := range tools {
		if err := out.Encode(samples.Sample{Name: t.Tool.Name, Schema: t.Schema.JSON}); err != nil {
			return err
		}
	}
	return nil
}
