package ambit_test

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
)

// flags are the boolean members of a call and of what it is made of, with the reason for each. Who may end a
// call is decided by its life (runtime/internal/lifecycle), and by no flag.
var flags = map[string]string{
	"call.isPrepared":         "a value, prepared, may be nil and computed",
	"call.unrecorded":         "tells that the journal has no entry of the call",
	"call.entered":            "tells that the end of the call leaves its session",
	"call.idReused":           "the call is refused before it has a life",
	"ident.dry":               "an evaluation without a call: it has no end that others could make",
	"ident.undoing":           "whose record the call writes into",
	"work.heartbeat":          "what the model asked for",
	"work.slot":               "a resource to give back",
	"work.inFlight":           "a resource to give back",
	"work.inGates":            "a resource to give back",
	"work.needsReadmission":   "the way that a call takes after a restart",
	"work.declarationChanged": "the way that a call takes after a restart",
	"Progress.invoked":        "tells which event comes first",
	"Progress.handlerDone":    "tells whether an undo may run yet",
	"work.workReturned":       "tells a return from a panic and from runtime.Goexit",
}

// TestNoFlagSaysWhoEndsACall: each boolean member of a call is known, with its reason.
func TestNoFlagSaysWhoEndsACall(t *testing.T) {
	seen := map[string]bool{}
	eachGoFile(t, func(path string, file *ast.File, _ *token.FileSet) {
		dir := filepath.ToSlash(filepath.Dir(path))
		if dir != engineDir() && dir != "runtime/internal/progress" {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			body, ok := spec.Type.(*ast.StructType)
			if name := spec.Name.Name; !ok || name != "call" && name != "ident" && name != "work" && name != "Progress" {
				return true
			}
			for _, field := range body.Fields.List {
				if !isBool(field.Type) {
					continue
				}
				for _, id := range field.Names {
					name := spec.Name.Name + "." + id.Name
					seen[name] = true
					t.Logf("%-24s %s", name, flags[name])
					assert.NotEmpty(t, flags[name], "%s is a new flag of a call: what may end a call belongs into its life; any other flag has its reason in flags", name)
				}
			}
			return true
		})
	})
	assert.Greater(t, len(seen), 5, "the members of a call are found")
}

// isBool reports whether a type is bool or atomic.Bool.
func isBool(t ast.Expr) bool {
	switch t := t.(type) {
	case *ast.Ident:
		return t.Name == "bool"
	case *ast.SelectorExpr:
		return t.Sel.Name == "Bool"
	}
	return false
}
