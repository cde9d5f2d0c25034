package functions

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Allowed lists, one a line, the built-in functions that a policy may
// call. It is an allow list because a new OPA brings new functions. What is
// left out reaches the network, reads the clock, the host or random numbers
// (a decision would not be repeatable), works on certificates, tokens, schemas and
// policies, or can take time or memory that is exponential in the bytes of its
// operands. An allowed function that can still exceed the memory, or ask the host for
// its time zone, has a guard.
//
//go:embed builtins.txt
var Allowed string

// Capabilities returns what policies may use of this OPA.
func Capabilities() *ast.Capabilities {
	allowed := map[string]bool{}
	for name := range strings.FieldsSeq(Allowed) {
		allowed[name] = true
	}
	c := ast.CapabilitiesForThisVersion()
	c.Builtins = slices.DeleteFunc(c.Builtins, func(b *ast.Builtin) bool { return !allowed[b.Name] || Own()[b.Name] != nil })
	for _, b := range Own() {
		c.Builtins = append(c.Builtins, b.Decl)
	}
	slices.SortFunc(c.Builtins, func(a, b *ast.Builtin) int { return strings.Compare(a.Name, b.Name) })
	c.AllowNet = []string{}
	return c
}
