package cli

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/runtime/opa"
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

// answered ends a verb whose data on standard output already says what is wrong.
func answered(code int) error { return &failure{code: code} }

func quote(s string) string { return strconv.Quote(s) }

// report prints every error that err holds and returns the exit code.
func report(w io.Writer, command string, err error) int {
	code := exitOK
	for _, e := range flatten(err) {
		code = max(code, reportOne(w, command, e))
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

func reportOne(w io.Writer, command string, err error) int {
	switch err := err.(type) {
	case dsl.Diagnostics:
		for _, d := range err {
			fmt.Fprint(w, "error: ")
			d.Format(w)
		}
	case codedErrors:
		for _, e := range err {
			fmt.Fprint(w, "error: ")
			e.at.Format(w)
		}
	case opa.Errors:
		for _, e := range err {
			printError(w, policyError(e), e.Hint)
		}
	case *failure:
		printError(w, err.message, err.hint)
		return err.code
	default:
		// What is left comes from cobra's own reading of the command line.
		message, _, _ := strings.Cut(err.Error(), "\n")
		printError(w, message, "run "+quote(command+" --help")+" for its flags")
		return exitUsage
	}
	return exitProblem
}

// policyError is e without the hint, which has a line of its own.
func policyError(e *opa.Error) string {
	bare := *e
	bare.Hint = ""
	return bare.Error()
}

// asProblems turns every error that is not one of the kinds that report knows
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
	if p, ok := errors.AsType[opa.Errors](err); ok {
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
