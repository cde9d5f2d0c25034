package cmdutil

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/policies"
)

// A Failure is an error with a remedy and an exit code.
type Failure struct {
	Message string
	Hint    string
	Code    int
}

// Error implements error.
func (f *Failure) Error() string { return f.Message }

// Problem is the error of wrong input, or of work that could not be done.
func Problem(message, hint string) error { return &Failure{message, hint, ExitProblem} }

// Usage is the error of a wrong command line.
func Usage(message, hint string) error { return &Failure{message, hint, ExitUsage} }

// Verdict is the error of a check that ran and whose answer is no.
func Verdict(message, hint string) error { return &Failure{message, hint, ExitVerdict} }

// FileProblem says what is wrong with a file, under the name that the user gave
// it: what the system says names what was tried last, and how.
func FileProblem(name string, err error, hint string) error {
	if errors.Is(err, fs.ErrNotExist) {
		return Problem("there is no "+Quote(name), hint)
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	} else if e, ok := errors.AsType[*os.LinkError](err); ok {
		err = e.Err
	}
	return Problem(Quote(name)+": "+err.Error(), hint)
}

// Answered ends a verb whose data on standard output already says what is wrong.
func Answered(code int) error { return &Failure{Code: code} }

// Quote is how messages show names and values.
func Quote(s string) string { return strconv.Quote(s) }

// maxPrinted is how many errors are printed at most, so that a person can read them.
const maxPrinted = 100

// Report prints every error that err holds, up to maxPrinted, and returns the exit code.
func Report(w io.Writer, command string, err error) int {
	code, all := ExitOK, []func(io.Writer){}
	for _, e := range Flatten(err) {
		prints, c := reportOne(command, e)
		code, all = max(code, c), append(all, prints...)
	}
	for _, print := range all[:min(len(all), maxPrinted)] {
		print(w)
	}
	if more := len(all) - maxPrinted; more > 0 {
		fmt.Fprintf(w, "%s not shown\n", Count(more, "more error"))
	}
	return code
}

// Flatten undoes errors.Join.
func Flatten(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var out []error
	for _, e := range joined.Unwrap() {
		out = append(out, Flatten(e)...)
	}
	return out
}

// reportOne returns what prints each error that err holds, and the exit code.
func reportOne(command string, err error) (prints []func(io.Writer), code int) {
	positioned := func(d *dsl.Diagnostic) {
		prints = append(prints, func(w io.Writer) {
			fmt.Fprint(w, "error: ")
			d.Format(w)
		})
	}
	plain := func(message, hint string) {
		prints = append(prints, func(w io.Writer) { printError(w, message, hint) })
	}
	switch err := err.(type) {
	case dsl.Diagnostics:
		for _, d := range err {
			positioned(d)
		}
	case CodedErrors:
		for _, e := range err {
			positioned(e.At)
		}
	case policies.Diagnostics:
		for _, e := range err {
			if e.Excerpt == "" {
				plain(policyError(e), e.Hint)
			} else {
				positioned(PolicyDiagnostic(e))
			}
		}
	case *Failure:
		plain(err.Message, err.Hint)
		return prints, err.Code
	default:
		// What is left comes from cobra's own reading of the command line.
		message, _, _ := strings.Cut(err.Error(), "\n")
		plain(message, "run "+Quote(command+" --help")+" for its flags")
		return prints, ExitUsage
	}
	return prints, ExitProblem
}

// PolicyDiagnostic is e in the form of the errors of a declaration.
func PolicyDiagnostic(e *policies.Diagnostic) *dsl.Diagnostic {
	return &dsl.Diagnostic{Pos: dsl.Pos{File: e.File, Line: e.Line, Col: max(e.Col, 1)}, Message: e.Message, Hint: e.Hint, Excerpt: e.Excerpt}
}

// policyError is e without the hint, which has a line of its own.
func policyError(e *policies.Diagnostic) string {
	bare := *e
	bare.Hint = ""
	return bare.Error()
}

// AsProblems turns every error that is not one of the kinds that Report handles
// into a problem.
func AsProblems(err error) error {
	var out []error
	for _, e := range Flatten(err) {
		out = append(out, asProblem(e))
	}
	return errors.Join(out...)
}

func asProblem(err error) error {
	if d, ok := errors.AsType[dsl.Diagnostics](err); ok {
		return d
	}
	if c, ok := errors.AsType[CodedErrors](err); ok {
		return c
	}
	if p, ok := errors.AsType[policies.Diagnostics](err); ok {
		return p
	}
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	return Problem(err.Error(), "")
}

func printError(w io.Writer, message, hint string) {
	if message != "" {
		fmt.Fprintf(w, "error: %s\n", message)
	}
	if hint != "" {
		fmt.Fprintf(w, "hint: %s\n", hint)
	}
}
