package house

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// timed are the functions of tests that look at the clock of the machine or set a
// deadline by it, with the reason why a slow machine does not make them fail.
var timed = map[string]string{
	"runtime/engine/chaos_test.go: chaos":                     "runs in a bubble of synctest",
	"runtime/engine/shutdown_test.go: within":                 "is called in bubbles of synctest",
	"runtime/opa/hostile_test.go: TestRunawayPolicyIsStopped": "the deadline has to pass",
	"runtime/opa/guard_hostile_linux_test.go: hostileProcess": "an evaluation that is stopped is as good as one that ends",
}

// TestNoTimedAssertions keeps the clock of the machine out of what tests decide,
// because there is always a machine that is slower. What is about time runs in a
// bubble of testing/synctest, where it is virtual; what takes time is waited for
// without a limit, and go test -timeout ends what hangs.
func TestNoTimedAssertions(t *testing.T) {
	unused := map[string]bool{}
	for name := range timed {
		unused[name] = true
	}
	eachGoFile(t, func(path string, file *ast.File, fset *token.FileSet) {
		if !strings.HasSuffix(path, "_test.go") {
			return
		}
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Body == nil || strings.HasPrefix(fn.Name.Name, "Benchmark") {
				continue
			}
			found := timings(fn)
			name := filepath.ToSlash(path) + ": " + fn.Name.Name
			if len(found) > 0 && timed[name] == "" {
				t.Errorf("%s: %s: let it run in a bubble of synctest, or wait without a limit", fset.Position(found[0].Pos()), fn.Name.Name)
			}
			if len(found) > 0 {
				delete(unused, name)
			}
		}
	})
	for name := range unused {
		t.Errorf("%s: it is not timed, or not there: take it off the list", name)
	}
}

// timings returns what depends on the clock of the machine in a function that opens
// no bubble: deadlines, assertions with a limit, and durations that are asserted.
func timings(fn *ast.FuncDecl) (found []ast.Node) {
	bubble := false
	ast.Inspect(fn, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		pkg, name := called(call)
		switch {
		case pkg == "synctest" && name == "Test":
			bubble = true
		case pkg == "context" && (strings.HasPrefix(name, "WithTimeout") || strings.HasPrefix(name, "WithDeadline")):
			found = append(found, n)
		case pkg != "require" && pkg != "assert":
		case strings.HasPrefix(name, "Eventually") || strings.HasPrefix(name, "Never") || strings.HasPrefix(name, "Within"):
			found = append(found, n)
		case slices.ContainsFunc(call.Args, elapsed):
			found = append(found, n)
		}
		return true
	})
	if bubble {
		return nil
	}
	return found
}

// elapsed says whether an expression reads how much time has passed.
func elapsed(e ast.Expr) bool {
	yes := false
	ast.Inspect(e, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			pkg, name := called(call)
			yes = yes || pkg == "time" && (name == "Since" || name == "Until")
		}
		return !yes
	})
	return yes
}

// called returns the names of a call of the form pkg.Name().
func called(call *ast.CallExpr) (pkg, name string) {
	if s, ok := call.Fun.(*ast.SelectorExpr); ok {
		if id, ok := s.X.(*ast.Ident); ok {
			return id.Name, s.Sel.Name
		}
	}
	return "", ""
}
