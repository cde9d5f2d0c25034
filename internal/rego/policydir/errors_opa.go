package policydir

import (
	"errors"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/functions"
	"github.com/ambit-tools/ambit/policies"
)

// AddOPA appends what the parser or the compiler of OPA reports.
func (b *Bundle) AddOPA(errs *Errors, file string, err error) {
	list, ok := errors.AsType[ast.Errors](err)
	switch {
	case !ok && strings.HasSuffix(err.Error(), "empty module"):
		errs.AddFile(file, "the file is empty", "write a package, or delete it")
		return
	case !ok:
		errs.AddFile(file, err.Error(), "")
		return
	}
	var seen *policies.Diagnostic
	for _, e := range b.keywords(list) {
		message, hint := b.explainOPA(e)
		one := Errors{}
		one.Add(e.Location, message, hint)
		next := one[0]
		if next.File == "" {
			next.File = file
		}
		b.Src.clamp(next)
		// The parser says again what it expected instead, or trips over the same token twice.
		if e.Code == ast.ParseErr && seen != nil && seen.File == next.File && seen.Line == next.Line && seen.Col == next.Col {
			if strings.HasPrefix(next.Message, seen.Message) {
				*seen = *next
			}
			continue
		}
		*errs, seen = append(*errs, next), next
	}
}

// explainOPA returns the message of an error of OPA in one line, and what to do.
func (b *Bundle) explainOPA(e *ast.Error) (message, hint string) {
	message = e.Message
	if before, after, ok := strings.Cut(message, ". (hint: "); ok {
		message, hint = before, strings.TrimSuffix(after, ")")
	}
	if e.Details != nil && e.Code != ast.ParseErr {
		var details []string
		for _, line := range e.Details.Lines() {
			if line = strings.TrimSpace(line); line != "" && line != "^" {
				details = append(details, line)
			}
		}
		message += ": " + strings.Join(details, "; ")
	}
	if hint != "" {
		return message, hint
	}
	if name, ok := strings.CutPrefix(message, "undefined function "); ok {
		if strings.HasPrefix(name, "time.now") {
			return "policies may not call " + name, "the time of the call is input.now_ns"
		}
		if hint := Unbounded[name]; hint != "" {
			return "policies may not call " + name, hint
		}
		if why := functions.Refusal(name); why != "" {
			return "policies may not call " + name, why
		}
		return message, DidYouMean(name, append(strings.Fields(functions.Allowed), b.ruleNames(e.Location)...))
	}
	if name, ok := strings.CutSuffix(message, " is unsafe"); ok {
		name = strings.TrimPrefix(name, "var ")
		if hint := DidYouMean(name, append(b.ruleNames(e.Location), "input", "data")); hint != "" {
			return name + " is not defined", hint
		}
		return name + " is not defined", "give it a value, or put a text into double quotes"
	}
	return message, hintOPA(message)
}

// hintOPA says what to do about a message of OPA.
func hintOPA(message string) string {
	for _, remedy := range []struct{ in, hint string }{
		{"assigned var", "use it, or delete the assignment"},
		{"unused", "use it, or delete it"},
		{"package expected", "begin the file with package ambit.tools.<tool> or package ambit.policies.<name>"},
		{"`if` keyword", "write name if { ... }"},
		{"`contains` keyword", "write name contains {...} if { ... }"},
		{"must not shadow", "delete one of them"},
		{"utf-8", "save the file as UTF-8"},
		{"illegal token", "write texts in double quotes or in backquotes"},
		{"unexpected eof", "finish what was begun: a bracket, a quote or a rule"},
		{"non-terminated", "close the bracket, or put a comma or a colon between the parts"},
		{"expected rule", "write name contains {...} if { ... }"},
		{"match error", "compare values of one type; ask is_null(...) for null"},
		{"invalid argument", "give the function what it wants"},
		{"has arity", "give it as many arguments"},
		{"undefined ref", "name a member that is there"},
	} {
		if strings.Contains(message, remedy.in) {
			return remedy.hint
		}
	}
	return ""
}

// ruleNames returns the names of the rules that a file can use without a prefix.
func (b *Bundle) ruleNames(at *ast.Location) []string {
	if at == nil {
		return nil
	}
	own := b.Parsed[at.File]
	if own == nil {
		own = b.Tests[at.File]
	}
	if own == nil {
		return nil
	}
	var names []string
	for _, i := range own.Imports {
		names = append(names, string(i.Name()))
	}
	for _, m := range b.Parsed {
		if m.Package.Path.Equal(own.Package.Path) {
			for _, r := range m.Rules {
				names = append(names, RuleName(r))
			}
		}
	}
	return names
}

// clamp moves the place of an error that is behind the last text of its file
// to the end of that text.
func (s *Source) clamp(e *policies.Diagnostic) {
	lines := s.lines(e.File)
	if e.Line == 0 || len(lines) == 0 {
		return
	}
	for e.Line > len(lines) || e.Line > 1 && strings.TrimSpace(lines[e.Line-1]) == "" {
		e.Line--
		e.Col = len(lines[min(e.Line, len(lines))-1]) + 1
	}
	e.Col = max(e.Col, 1)
}

// lines returns the lines of a file.
func (s *Source) lines(name string) []string {
	i := slices.IndexFunc(s.Files, func(f File) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return strings.Split(strings.ToValidUTF8(string(s.Files[i].Text), "\uFFFD"), "\n")
}

// Show adds to errors the lines that they are about.
func (s *Source) Show(err error) error {
	errs, _ := err.(policies.Diagnostics)
	lines := map[string][]string{}
	for _, e := range errs {
		if e.Line == 0 {
			continue
		}
		if lines[e.File] == nil {
			lines[e.File] = s.lines(e.File)
		}
		if e.Line <= len(lines[e.File]) {
			e.Excerpt = strings.TrimSuffix(lines[e.File][e.Line-1], "\r")
		}
	}
	return err
}

// Unbounded are functions that a decision could use, but for the memory or the time
// that a few bytes of arguments can make them take, with what to write instead.
var Unbounded = map[string]string{
	"bits.lsh":              "multiply by a power of two; a shift by an argument can ask for more memory than there is",
	"regex.globs_match":     "match the argument with glob.match; comparing two patterns can take exponential time",
	"graph.reachable_paths": "use graph.reachable; a graph has exponentially many paths",
	"net.cidr_expand":       "use net.cidr_contains; a network has up to 2^128 addresses",
}
