package author

import (
	"errors"
	"fmt"
	"io"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/internal/importer"
	"github.com/ambit-tools/ambit/internal/importer/normalize"
	"github.com/ambit-tools/ambit/internal/jsonschema"
	"github.com/ambit-tools/ambit/runtime/host/terminal"
)

// sourceProblem gives a fault of the source its name; that of a declaration has one.
func sourceProblem(name string, err error) error {
	if e, ok := errors.AsType[*jsonschema.Error](err); ok {
		return cmdutil.Problem(fmt.Sprintf("%s:%d:%d: %s", name, e.Pos.Line, e.Pos.Col, terminal.Escape(e.Message)), e.Hint)
	}
	return err
}

// printImport names what was changed and what is left out, in lines that a terminal may show:
// names and texts are of the source.
func printImport(w io.Writer, name string, r *importer.Result) {
	filled := 0
	for _, c := range r.Changes {
		if c.Kind == normalize.DescriptionFilled {
			filled++
		}
	}
	if filled > 1 {
		fmt.Fprintf(w, "note: %s: %s: %d missing descriptions are filled in, each marked by a comment in the declaration\n", name, normalize.DescriptionFilled, filled)
	}
	for _, c := range r.Changes {
		if filled > 1 && c.Kind == normalize.DescriptionFilled {
			continue
		}
		narrows := ""
		if c.Narrows {
			narrows = " (narrows)"
		}
		fmt.Fprintf(w, "note: %s:%d:%d: tool %s: %s%s: %s%s\n", name, c.Pos.Line, c.Pos.Col,
			cmdutil.Quote(c.Tool), atPointer(c.Pointer), c.Kind, terminal.Escape(c.Text), narrows)
	}
	for _, tool := range r.Stay {
		fmt.Fprintf(w, "note: tool %s is not in the source, and stays\n", cmdutil.Quote(tool))
	}
	for _, l := range r.Left {
		fmt.Fprintf(w, "error: %s:%d:%d: tool %s is left out: %s%s\n", name, l.Pos.Line, l.Pos.Col,
			cmdutil.Quote(l.Tool), atPointer(l.Pointer), terminal.Escape(l.Reason))
		if l.Hint != "" {
			fmt.Fprintf(w, "hint: %s\n", terminal.Escape(l.Hint))
		}
	}
	if r.More.Line > 0 {
		fmt.Fprintf(w, "error: %s:%d:%d: nextCursor: the answer is one page of several, and the tools of the others are missing\n", name, r.More.Line, r.More.Col)
		fmt.Fprintln(w, `hint: write the tools of all pages into one list, as {"tools": [...]}`)
	}
}

// atPointer is a pointer before what is said of its place; nothing for that of the tool as a whole.
func atPointer(pointer string) string {
	if pointer == "" {
		return ""
	}
	return terminal.Escape(pointer) + ": "
}

// An importEntry is a change or a tool that is left out, as --json prints it.
type importEntry struct {
	Tool    string `json:"tool"`
	Pointer string `json:"pointer"`
	Kind    string `json:"kind,omitempty"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Narrows bool   `json:"narrows,omitempty"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
}

// printImportJSON prints what printImport does, for programs.
func printImportJSON(w io.Writer, r *importer.Result, written bool) error {
	changes, left := []importEntry{}, []importEntry{}
	for _, c := range r.Changes {
		changes = append(changes, importEntry{c.Tool, c.Pointer, string(c.Kind), c.Text, "", c.Narrows, c.Pos.Line, c.Pos.Col})
	}
	for _, l := range r.Left {
		left = append(left, importEntry{l.Tool, l.Pointer, "", l.Reason, l.Hint, false, l.Pos.Line, l.Pos.Col})
	}
	tools := append([]string{}, r.Tools...)
	return cmdutil.PrintJSON(w, map[string]any{
		"written": written, "tools": tools, "changes": changes, "left": left, "stay": append([]string{}, r.Stay...), "more": r.More.Line > 0,
	})
}
