package lint

import (
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
)

// An analysis computes what terms of the compiled policies can be: constants, also
// through locals and rules, and parts of the input. It visits every contract rule and
// what the rule uses; a helper is visited once for each context in which it is used.
//
// Its answers are supersets: a term may be any of the candidates, and anything
// else besides when the set is open. Checks look at closed sets only.
type analysis struct {
	*Checked
	scopes  map[*ast.Rule]*scope
	visited map[string]bool // contexts of rules
	closed  *closedRules
	indexed map[string]bool // names by which the policies index something
	notes   notes
	fuel    int // visits that are left; what is beyond is not checked
}

// maxVisits bounds the contexts of rules that an analysis visits. Ordinary
// policies need a few for each rule.
const maxVisits = 20_000

// maxNested bounds how deep rules, functions and references are followed.
const maxNested = 16

// maxAlternatives bounds the alternatives that the analysis multiplies.
const maxAlternatives = 64

// newAnalysis returns an analysis of the compiled policies.
func (b *Checked) newAnalysis() *analysis {
	return &analysis{Checked: b, scopes: map[*ast.Rule]*scope{}, visited: map[string]bool{}, closed: newClosedRules(b), notes: notes{}, fuel: maxVisits}
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
