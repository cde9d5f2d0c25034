package cmdutil

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ambit-tools/ambit/runtime/host/terminal"
)

// Named returns a name and its value, safe to show; nothing when there is none.
func Named(name, value string) string {
	if value == "" {
		return ""
	}
	return name + "=" + terminal.Escape(value)
}

// NonEmpty returns the texts that are not empty.
func NonEmpty(list ...string) (out []string) {
	for _, s := range list {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// Distinct returns the texts that are neither empty nor what the one before says.
func Distinct(list ...string) []string { return slices.Compact(NonEmpty(list...)) }

// Entries says "1 entry" or "2 entries".
func Entries(n uint64) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}

// Count says "1 tool" or "2 tools".
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// OneLine is a JSON text without line breaks.
func OneLine(text []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, text) != nil {
		return text
	}
	return b.Bytes()
}

// PrintJSON prints what a verb shows with --json.
func PrintJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// Table prints rows in columns. It escapes the cells, because some hold text of
// models and tools.
func Table(w io.Writer, head []string, rows [][]string) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{head}, rows...) {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = cmp.Or(terminal.Escape(cell), "-")
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	t.Flush() //nolint:errcheck // the writer below remembers
}

// Instant is how times are printed; that of the zero one is empty.
func Instant(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format("2006-01-02T15:04:05.000Z")
}
