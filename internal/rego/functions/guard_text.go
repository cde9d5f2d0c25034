package functions

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"github.com/open-policy-agent/opa/v1/ast"
)

// operandTexts returns the operands that are strings, and "" for any other operand,
// which the function itself reports.
func operandTexts(args []*ast.Term) []string {
	all := make([]string, len(args))
	for i, t := range args {
		s, _ := t.Value.(ast.String)
		all[i] = string(s)
	}
	return all
}

// times multiplies sizes; a product that overflows is larger than every bound.
func times(a, b int) int {
	if b != 0 && a > math.MaxInt/2/b {
		return math.MaxInt / 2
	}
	return a * b
}

func guardConcat(args []*ast.Term) error {
	if list, ok := args[1].Value.(interface{ Len() int }); ok {
		return atMost(times(len(operandTexts(args)[0]), list.Len()))
	}
	return nil
}

func guardReplace(args []*ast.Term) error {
	s := operandTexts(args)
	return atMost(len(s[0]) + times(strings.Count(s[0], s[1]), len(s[2])))
}

// guardReplaceN replaces without keeping the result where that could be too long.
func guardReplaceN(args []*ast.Term) error {
	patterns, ok := args[0].Value.(ast.Object)
	if !ok {
		return nil
	}
	s := operandTexts(args)[1]
	longest := 0
	var pairs []string
	patterns.Foreach(func(k, v *ast.Term) {
		pair := operandTexts([]*ast.Term{k, v})
		longest = max(longest, len(pair[1]))
		pairs = append(pairs, pair...)
	})
	if atMost(len(s)+times(len(s)+1, longest)) == nil {
		return nil
	}
	var size sizeWriter
	_, err := strings.NewReplacer(pairs...).WriteString(&size, s)
	return err
}

// A sizeWriter counts what is written to it, and fails beyond maxResult.
type sizeWriter int

func (w *sizeWriter) Write(p []byte) (int, error) {
	*w += sizeWriter(len(p))
	return len(p), atMost(int(*w))
}

// guardSprintf adds up the widths of a format and the lengths of what it prints.
func guardSprintf(args []*ast.Term) error {
	format := operandTexts(args)[0]
	list, ok := args[1].Value.(*ast.Array)
	if !ok {
		return nil
	}
	all, longest := 0, 0
	list.Foreach(func(t *ast.Term) {
		n := maxExponent + 64
		switch v := t.Value.(type) {
		case ast.String:
			n += len(v)
		case ast.Number:
			n += len(v)
		default:
			n += len(t.String())
		}
		all, longest = all+n, max(longest, n)
	})
	size := len(format) + 2*all
	for _, verb := range formatVerb.FindAllString(format, -1) {
		if strings.Contains(verb, "*") {
			return errors.New("a width that is an operand: write it into the format")
		}
		for _, number := range formatNumber.FindAllString(verb, -1) {
			if len(number) > 4 {
				return fmt.Errorf("the width %s in the format", number)
			}
			size += 1_000 * (len(number) - 1) * (len(number) - 1)
		}
		if strings.Contains(verb, "[") {
			size += longest
		}
	}
	if strings.ContainsAny(format, "qxXU+#") {
		size = times(size, 12) // an escape for each byte
	}
	return atMost(size)
}

var (
	formatVerb   = regexp.MustCompile(`%[-+# 0-9.*\[\]]*`)
	formatNumber = regexp.MustCompile(`[0-9]+`)
)

const (
	// maxPattern is how long a regular expression may be, in bytes.
	maxPattern = 16 << 10
	// maxProgram is how much memory a compiled regular expression may take, in
	// bytes, about. OPA keeps the last 100.
	maxProgram = 512 << 10
)

// guardPattern refuses a regular expression that takes too much memory.
func guardPattern(operand int) func([]*ast.Term) error {
	return func(args []*ast.Term) error { return patternFits(operandTexts(args)[operand]) }
}

// patternFits says what is wrong with the size of a regular expression.
func patternFits(pattern string) error {
	if len(pattern) <= maxPattern {
		if len(pattern) <= 64 && !strings.ContainsAny(pattern, `{\`) {
			return nil // as nearly all are
		}
		re, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil || programSize(re) <= maxProgram {
			return nil // the function itself reports what does not parse
		}
	}
	return fmt.Errorf("a pattern that takes more than %d KiB: write a shorter one, or several", maxProgram>>10)
}

// programSize estimates the memory of a regular expression: of its tree, and of its
// instructions, which a repetition multiplies.
func programSize(re *syntax.Regexp) int {
	const instruction = 100 // bytes, those of a match included
	tree, instructions := programParts(re)
	return tree + times(instruction, instructions)
}

func programParts(re *syntax.Regexp) (tree, instructions int) {
	const node = 200 // bytes
	tree, instructions = node+4*len(re.Rune), 2
	if re.Op == syntax.OpLiteral {
		instructions += len(re.Rune)
	}
	for _, sub := range re.Sub {
		t, i := programParts(sub)
		tree, instructions = tree+t, instructions+i
	}
	if re.Op == syntax.OpRepeat {
		instructions = times(instructions, max(re.Min, re.Max, 1))
	}
	return tree, instructions
}

// guardSubmatches refuses matches times groups that are too many.
func guardSubmatches(args []*ast.Term) error {
	s := operandTexts(args)
	if err := patternFits(s[0]); err != nil {
		return err
	}
	return atMost(times(termSize, times(utf8.RuneCountInString(s[1])+1, strings.Count(s[0], "(")+1)))
}

// guardRegexReplace refuses a replacement that could be too long: every group can
// be all of the text, as often as the replacement names it.
func guardRegexReplace(args []*ast.Term) error {
	s := operandTexts(args)
	if err := patternFits(s[1]); err != nil {
		return err
	}
	return atMost(times(len(s[0])+1, len(s[2])+1+strings.Count(s[2], "$")))
}

// maxGlob is how many wildcards and alternatives a pattern of glob.match may have.
const maxGlob = 64

func guardGlob(args []*ast.Term) error {
	pattern := operandTexts(args)[0]
	if len(pattern) > maxPattern || strings.Count(pattern, "*")+strings.Count(pattern, ",") > maxGlob {
		return fmt.Errorf("a pattern of more than %d wildcards and alternatives: write several", maxGlob)
	}
	return nil
}
