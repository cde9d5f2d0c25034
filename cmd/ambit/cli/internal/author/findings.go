package author

import (
	"io"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/policies"
)

// Severities of findings.
const (
	severityError   = "error"
	severityWarning = "warning"
	severityNote    = "note"
)

// A finding is an error, a warning or a note in the form of "ambit check --json".
type finding struct {
	Severity string `json:"severity"`
	Code     string `json:"code,omitempty"` // of what the analysis of rules finds
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
}

// findings turns every error that err holds into a finding.
func findings(err error) []finding {
	out := []finding{}
	for _, e := range cmdutil.Flatten(cmdutil.AsProblems(err)) {
		switch e := e.(type) {
		case dsl.Diagnostics:
			for _, d := range e {
				out = append(out, found(severityError, "", d))
			}
		case cmdutil.CodedErrors:
			for _, c := range e {
				out = append(out, found(severityError, c.Code, c.At))
			}
		case policies.Diagnostics:
			for _, p := range e {
				out = append(out, finding{severityError, "", p.File, p.Line, p.Col, p.Message, p.Hint})
			}
		case *cmdutil.Failure:
			out = append(out, finding{Severity: severityError, Message: e.Message, Hint: e.Hint})
		}
	}
	return out
}

func found(severity, code string, d *dsl.Diagnostic) finding {
	return finding{severity, code, d.Pos.File, d.Pos.Line, d.Pos.Col, d.Message, d.Hint}
}

// printFindings prints errors and what else was found, and says by the exit code whether
// there are errors.
func printFindings(w io.Writer, err error, others []finding) error {
	all := append(findings(err), others...)
	if printErr := cmdutil.PrintJSON(w, map[string]any{"findings": all}); printErr != nil {
		return printErr
	}
	if err != nil {
		return cmdutil.Answered(cmdutil.ExitProblem)
	}
	return nil
}
