package cli

import (
	"io"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/runtime/opa"
)

// A finding is an error or a note in the form of "ambit check --json".
type finding struct {
	Severity string `json:"severity"` // error or note
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
}

// findings turns every error that err holds into a finding.
func findings(err error) []finding {
	out := []finding{}
	for _, e := range flatten(asProblems(err)) {
		switch e := e.(type) {
		case dsl.Diagnostics:
			for _, d := range e {
				out = append(out, finding{"error", d.Pos.File, d.Pos.Line, d.Pos.Col, d.Message, d.Hint})
			}
		case opa.Errors:
			for _, p := range e {
				out = append(out, finding{"error", p.File, p.Line, p.Col, p.Message, p.Hint})
			}
		case *failure:
			out = append(out, finding{Severity: "error", Message: e.message, Hint: e.hint})
		}
	}
	return out
}

// printFindings prints errors and notes, and says by the exit code whether
// there are errors.
func printFindings(w io.Writer, err error, notes []finding) error {
	all := append(findings(err), notes...)
	if printErr := printJSON(w, map[string]any{"findings": all}); printErr != nil {
		return printErr
	}
	if err != nil {
		return answered(exitProblem)
	}
	return nil
}
