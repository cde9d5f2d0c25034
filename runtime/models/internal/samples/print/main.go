// Print writes the strict schemas of the examples, of a public server and of made tools, one a line,
// for .ci/referee, before them the examples' schemas as published, and after them those of a corpus where
// AMBIT_IMPORTED_SCHEMAS names its file. It runs in a checkout.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"github.com/ambit-tools/ambit/runtime/models/dialect"
	"github.com/ambit-tools/ambit/runtime/models/internal/samples"
	"github.com/ambit-tools/ambit/runtime/models/internal/samples/declared"
)

func main() {
	text, err := lines(".", samples.Everything)
	if err == nil {
		_, err = os.Stdout.Write(text)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// made is how many made schemas of each kind there are, and how many made declarations.
const made = 200

// lines returns what the vendors' own transforms judge, by the folder of a checkout and a function that lists
// the samples.
func lines(checkout string, list func(checkout string, made int) ([]samples.Sample, error)) ([]byte, error) {
	published, err := samples.Examples(checkout)
	if err != nil {
		return nil, err
	}
	all, err := list(checkout, made)
	if err != nil {
		return nil, err
	}
	declarations, err := declared.Made(made)
	if err != nil {
		return nil, err
	}
	all = append(all, declarations...)
	var out bytes.Buffer
	if err := write(&out, published, dialect.JSONSchema); err != nil {
		return nil, err
	}
	err = write(&out, all, dialect.OpenAIStrict, dialect.AnthropicStrict)
	return out.Bytes(), err
}

// write adds the schemas in each of dialects, those of a strict one where they are strict.
func write(out *bytes.Buffer, list []samples.Sample, dialects ...dialect.Dialect) error {
	text := json.NewEncoder(out)
	for _, sample := range list {
		for _, d := range dialects {
			s, err := dialect.Rewrite(sample.Schema, d)
			if err != nil {
				return err
			}
			if d != dialect.JSONSchema && !s.Strict {
				continue
			}
			if err := text.Encode(map[string]any{"tool": sample.Name, "dialect": d.String(), "schema": s.JSON}); err != nil {
				return err
			}
		}
	}
	return nil
}
