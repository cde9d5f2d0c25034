package dsl

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

var (
	jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)
	// What the core schema of YAML 1.2 reads as a number and JSON does not.
	yamlNumber = regexp.MustCompile(`^([-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+|` +
		`[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$`)
	// What YAML 1.1 reads as a number: text to us, unless a number is wanted.
	oldNumber = regexp.MustCompile(`^[-+]?(0b[01_]+|[0-9][0-9_]*(\.[0-9_]*)?|0x[0-9a-fA-F_]+)$`)
)

const (
	maxNumber   = 32  // characters of a number literal, as in a call's input
	maxExponent = 400 // beyond what any float64 has, so that its bounds can be written
)

// scalarKind resolves a plain scalar by the core schema of YAML 1.2, but only in
// the spelling of JSON; any other spelling of a number, boolean or null is nodeBad.
func scalarKind(text string) nodeKind {
	switch text {
	case "", "~", "null":
		return nodeNull
	case "true", "false":
		return nodeBool
	case "Null", "NULL", "True", "TRUE", "False", "FALSE":
		return nodeBad
	}
	switch {
	case jsonNumber.MatchString(text):
		return nodeNumber
	case yamlNumber.MatchString(text):
		return nodeBad
	}
	return nodeString
}

// resolve is scalarKind with a report of what it refuses.
func (p *parser) resolve(text string, pos Pos) nodeKind {
	kind := scalarKind(text)
	switch {
	case kind == nodeBad:
		p.report(pos, spelling(text)+", or "+strconv.Quote(text)+" for a text", "%s can be read in more than one way", text)
	case kind == nodeNumber && !exact(text):
		p.report(pos, "quote it when it is a text", "number %s is out of range: at most %d characters and an exponent of at most %d", quote(text), maxNumber, maxExponent)
		kind = nodeBad
	}
	return kind
}

// exact reports whether a JSON number is small enough to compute with.
func exact(text string) bool {
	if len(text) > maxNumber {
		return false
	}
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		exp, err := strconv.Atoi(text[i+1:])
		return err == nil && exp <= maxExponent && exp >= -maxExponent
	}
	return true
}

// spelling says how JSON writes what text means.
func spelling(text string) string {
	switch lower := strings.ToLower(text); lower {
	case "true", "yes", "on", "y":
		return "write true"
	case "false", "no", "off", "n":
		return "write false"
	case "null":
		return "write null"
	}
	digits, base := strings.ReplaceAll(strings.TrimPrefix(text, "+"), "_", ""), 10
	for prefix, b := range map[string]int{"0o": 8, "0x": 16, "0b": 2} {
		if rest, ok := strings.CutPrefix(digits, prefix); ok {
			digits, base = rest, b
		}
	}
	if n, ok := new(big.Int).SetString(digits, base); ok && len(digits) <= maxNumber {
		return "write " + n.String()
	}
	return "write a number as JSON does, such as 0.5"
}

// rat returns the exact value of a number literal that resolve let pass.
func rat(literal string) *big.Rat {
	r, ok := new(big.Rat).SetString(literal)
	if !ok {
		return new(big.Rat)
	}
	return r
}

// isInteger reports whether the literal is a whole number: 1.0 and 1e2 are.
func isInteger(literal string) bool { return rat(literal).IsInt() }

// inFloat64 reports whether the Go type of a number holds a literal: a float64 stands for its shortest one.
func inFloat64(literal string) bool {
	f, err := strconv.ParseFloat(literal, 64)
	return err == nil && rat(strconv.FormatFloat(f, 'g', -1, 64)).Cmp(rat(literal)) == 0
}

// inInt64 reports whether a whole number fits the Go type of an integer.
func inInt64(literal string) bool { return rat(literal).Num().IsInt64() }
