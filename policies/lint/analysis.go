package lint

import (
	"fmt"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
)

// An analysis computes what terms of the compiled policies can be: constants, also
// through locals and rules, and parts of the input.
//
// Its answers are supersets: a term may be any of the candidates, and anything
// else besides when the set is open. Checks look at closed sets only.
type analysis struct {
	*policydir.Bundle
	scopes map[*ast.Rule]*scope
	closed *closedRules
}

// maxNested bounds how deep rules, functions and references are followed.
const maxNested = 16

// maxAlternatives bounds the alternatives that the analysis multiplies.
const maxAlternatives = 64

// newAnalysis returns an analysis of the compiled policies.
func newAnalysis(b *policydir.Bundle) *analysis {
	return &analysis{Bundle: b, scopes: map[*ast.Rule]*scope{}, closed: newClosedRules(b)}
}

// A valueSet is what a term can be.
type valueSet struct {
	list []candidate
	open bool // or anything else
}

// A candidate is one of the values that a term can have.
type candidate interface {
	// member returns what a constant index leads to.
	member(a *analysis, index *ast.Term) valueSet
	// elements returns what any index leads to.
	elements(a *analysis) valueSet
	// keys returns the indexes that lead somewhere; of a set its elements.
	keys(a *analysis) valueSet
}

// anything is the set of a term that nothing is known of.
func anything() valueSet { return valueSet{open: true} }

// only returns the set of one candidate.
func only(c candidate) valueSet { return valueSet{list: []candidate{c}} }

// and adds the candidates of another set.
func (s valueSet) and(other valueSet) valueSet {
	return valueSet{append(s.list[:len(s.list):len(s.list)], other.list...), s.open || other.open}
}

// each joins what f returns for every candidate.
func (s valueSet) each(f func(candidate) valueSet) valueSet {
	out := valueSet{open: s.open}
	for _, c := range s.list {
		out = out.and(f(c))
	}
	return out
}

// constants returns the constants among the candidates.
func (s valueSet) constants() []constant {
	var all []constant
	for _, c := range s.list {
		switch c := c.(type) {
		case constant:
			all = append(all, c)
		case document:
			if k, ok := c.constant(); ok {
				all = append(all, k)
			}
		}
	}
	return all
}

// parts returns the parts of the input among the candidates.
func (s valueSet) parts() []inputPart {
	var all []inputPart
	for _, c := range s.list {
		if p, ok := c.(inputPart); ok {
			all = append(all, p)
		}
	}
	return all
}

// partsNamed returns the parts of the input whose members' names are among the
// candidates, as those of object.keys.
func (s valueSet) partsNamed() []inputPart {
	var all []inputPart
	for _, c := range s.list {
		if names, ok := c.(memberNames); ok {
			all = append(all, names.of)
		}
	}
	return all
}

// literals returns the collections among the candidates that are written out.
func (s valueSet) literals() []literal {
	var all []literal
	for _, c := range s.list {
		if l, ok := c.(literal); ok {
			all = append(all, l)
		}
	}
	return all
}

// allConstants returns the constants of a set that holds nothing else.
func (s valueSet) allConstants() ([]constant, bool) {
	all := s.constants()
	return all, !s.open && len(all) == len(s.list) && len(all) > 0
}

// allParts returns the parts of a set that holds nothing else.
func (s valueSet) allParts() ([]inputPart, bool) {
	all := s.parts()
	return all, !s.open && len(all) == len(s.list) && len(all) > 0
}

// A frame is a rule in the context in which it is used.
type frame struct {
	rule  *ast.Rule
	args  []valueSet // of a function
	tools toolSet
	known map[ast.Var]valueSet
	busy  map[ast.Var]bool // being resolved: a variable may be defined by itself
	depth int
}

// newFrame returns the frame of a rule.
func newFrame(r *ast.Rule, args []valueSet, tools toolSet, depth int) *frame {
	return &frame{rule: r, args: args, tools: tools, known: map[ast.Var]valueSet{}, busy: map[ast.Var]bool{}, depth: depth}
}

// with returns the frame for a body of the rule in which the call is of other tools.
func (f *frame) with(tools toolSet) *frame {
	if f.tools.equal(tools) {
		return f
	}
	return newFrame(f.rule, f.args, tools, f.depth)
}

// shared says that the rule is not in a tool's package: several applications may
// use it, and its input may be that of any tool.
func (f *frame) shared() bool {
	kind, _ := policydir.ContractPackage(f.rule.Module.Package.Path)
	return kind != policydir.ToolPackage
}

// visitKey identifies a rule in a context.
func visitKey(r *ast.Rule, args []valueSet, tools toolSet) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%p %s", r, tools)
	for _, s := range args {
		fmt.Fprintf(&b, "|%v", s.open)
		for _, c := range s.list {
			switch c := c.(type) {
			case constant:
				fmt.Fprintf(&b, " %p", c.Term)
			case inputPart:
				fmt.Fprintf(&b, " %v@%s", c.path, c.frame.tools)
			case literal:
				fmt.Fprintf(&b, " %p", c.term)
			case document:
				fmt.Fprintf(&b, " %v", c.ref)
			case partial:
				fmt.Fprintf(&b, " %p", c.rules[0])
			}
		}
	}
	return b.String()
}
