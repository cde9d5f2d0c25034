// Print writes the strict schemas of the examples, of a public server and of made tools, one a line,
// for .ci/referee, and those of a corpus where AMBIT_IMPORTED_SCHEMAS names its file. It runs in a checkout.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/ambit-tools/ambit/runtime/models/dialect"
	"github.com/ambit-tools/ambit/runtime/models/internal/samples"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	all, err := samples.Everything(".", 200)
	if err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	for _, sample := range all {
		for _, d := range []dialect.Dialect{dialect.OpenAIStrict, dialect.AnthropicStrict} {
			s, err := dialect.Rewrite(sample.Schema, d)
			if err != nil {
				return err
			}
			if !s.Strict {
				continue
			}
			if err := out.Encode(map[string]any{"tool": sample.Name, "dialect": d.String(), "schema": s.JSON}); err != nil {
				return err
			}
		}
	}
	return nil
}
