package cli

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

// A failure is an error with a remedy and an exit code.
type failure struct {
	message string
	hint    string
	code    int
}

// Error implements error.
func (f *failure) Error() string { return f.message }

func problem(message, hint string) error { return &failure{message, hint, exitProblem} }
func usage(message, hint string) error   { return &failure{message, hint, exitUsage} }
func verdict(message, hint string) error { return &failure{message, hint, exitVerdict} }

// fileProblem says what is wrong with a file, under the name that the user gave
// it: what the system says names what was tried last, and how.
func fileProblem(name string, err error, hint string) error {
	if errors.Is(err, fs.ErrNotExist) {
		return problem("there is no "+quote(name), hint)
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	} else if e, ok := errors.AsType[*os.LinkError](err); ok {
		err = e.Err
	}
	return problem(quote(name)+": "+err.Error(), hint)
}

// answered ends a verb whose data on standard output already says what is wrong.
func answered(code int) error { return &failure{code: code} }

func quote(s string) string { return strconv.Quote(s) }

// maxPrinted is how many errors are printed at most, so that a person can read them.
const maxPrinted = 100

// report prints every error that err holds, up to maxPrinted, and returns the exit code.
func report(w io.Writer, command string, err error) int {
	code, all := exitOK, []func(io.Writer){}
	for _, e := range flatten(err) {
		prints, c := reportOne(command, e)
		code, all = max(code, c), append(all, prints...)
	}
	for _, print := range all[:min(len(all), maxPrinted)] {
		print(w)
	}
	if more := len(all) - maxPrinted; more > 0 {
		fmt.Fprintf(w, "%s not shown\n", count(more, "more error"))
	}
	return code
}

// flatten undoes errors.Join.
func flatten(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var out []error
	for _, e := range joined.Unwrap() {
		out = append(out, flatten(e)...)
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
	case codedErrors:
		for _, e := range err {
			positioned(e.at)
		}
	case policies.Diagnostics:
		for _, e := range err {
			if e.Excerpt == "" {
				plain(policyError(e), e.Hint)
			} else {
				positioned(policyDiagnostic(e))
			}
		}
	case *failure:
		plain(err.message, err.hint)
		return prints, err.code
	default:
		// What is left comes from cobra's own reading of the command line.
		message, _, _ := strings.Cut(err.Error(), "\n")
		plain(message, "run "+quote(command+" --help")+" for its flags")
		return prints, exitUsage
	}
	return prints, exitProblem
}

// policyDiagnostic is e in the form of the errors of a declaration.
func policyDiagnostic(e *policies.Diagnostic) *dsl.Diagnostic {
	return &dsl.Diagnostic{Pos: dsl.Pos{File: e.File, Line: e.Line, Col: max(e.Col, 1)}, Message: e.Message, Hint: e.Hint, Excerpt: e.Excerpt}
}

// policyError is e without the hint, which has a line of its own.
func policyError(e *policies.Diagnostic) string {
	bare := *e
	bare.Hint = ""
	return bare.Error()
}

// asProblems turns every error that is not one of the kinds that report handles
// into a problem.
func asProblems(err error) error {
	var out []error
	for _, e := range flatten(err) {
		out = append(out, asProblem(e))
	}
	return errors.Join(out...)
}

func asProblem(err error) error {
	if d, ok := errors.AsType[dsl.Diagnostics](err); ok {
		return d
	}
	if c, ok := errors.AsType[codedErrors](err); ok {
		return c
	}
	if p, ok := errors.AsType[policies.Diagnostics](err); ok {
		return p
	}
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	return problem(err.Error(), "")
}

func printError(w io.Writer, message, hint string) {
	if message != "" {
		fmt.Fprintf(w, "error: %s\n", message)
	}
	if hint != "" {
		fmt.Fprintf(w, "hint: %s\n", hint)
	}
}
