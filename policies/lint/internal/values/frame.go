package values

import (
	"fmt"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
)

// A Frame is a rule in the context in which it is used.
type Frame struct {
	Rule  *ast.Rule
	Args  []Set   // of a function
	Tools ToolSet // that the call can be of
	Depth int     // how many rules and functions lead here

	known map[ast.Var]Set
	busy  map[ast.Var]bool // being resolved: a variable may be defined by itself
}

// NewFrame returns the frame of a rule.
func NewFrame(r *ast.Rule, args []Set, tools ToolSet, depth int) *Frame {
	return &Frame{Rule: r, Args: args, Tools: tools, known: map[ast.Var]Set{}, busy: map[ast.Var]bool{}, Depth: depth}
}

// With returns the frame for a body of the rule in which the call is of other tools.
func (f *Frame) With(tools ToolSet) *Frame {
	if f.Tools.equal(tools) {
		return f
	}
	return NewFrame(f.Rule, f.Args, tools, f.Depth)
}

// Shared says that the rule is not in a tool's package: several applications may
// use it, and its input may be that of any tool.
func (f *Frame) Shared() bool {
	kind, _ := policydir.ContractPackage(f.Rule.Module.Package.Path)
	return kind != policydir.ToolPackage
}

// ContextKey identifies a rule in a context.
func ContextKey(r *ast.Rule, args []Set, tools ToolSet) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%p %s", r, tools)
	for _, s := range args {
		fmt.Fprintf(&b, "|%v %v %v", s.open, s.of != nil, s.not)
		for _, c := range s.list {
			switch c := c.(type) {
			case Constant:
				fmt.Fprintf(&b, " %p", c.Term)
			case InputPart:
				fmt.Fprintf(&b, " %v@%s", c.Path, c.Frame.Tools)
			case Literal:
				fmt.Fprintf(&b, " %p", c.Term)
			case Made:
				fmt.Fprintf(&b, " %p", c.args)
			case document:
				fmt.Fprintf(&b, " %v", c.ref)
			case partial:
				fmt.Fprintf(&b, " %p", c.rules[0])
			}
		}
	}
	return b.String()
}
