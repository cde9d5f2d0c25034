package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/policies/lint/internal/places"
)

// A pathLint finds references into data that does not exist: they would be undefined,
// and a denial would not apply, or a test would check nothing.
type pathLint struct {
	root   places.Data
	tests  bool      // of tests, which may ask for data that is not there
	mocked []ast.Ref // what tests replace: what is below is their own
	errs   *policydir.Errors
}

// module checks the references of a compiled module.
func (l *pathLint) module(m *ast.Module) {
	ast.WalkRefs(m, func(ref ast.Ref) bool {
		if ref[0].Equal(ast.DefaultRootDocument) && !slices.ContainsFunc(l.mocked, func(m ast.Ref) bool { return covers(m, ref) }) {
			if at, wrong := l.root.Lost(ref); wrong > 0 && (at.Held() || !l.tests) {
				noSuch(at, ref[wrong], nearest(ref[wrong], ref), l.errs)
			}
		}
		return false
	})
}

// covers says that a reference may lead to a place that is replaced, or below it.
func covers(replaced, ref ast.Ref) bool {
	if len(ref) < len(replaced) {
		return false
	}
	for i, t := range replaced {
		if !t.Equal(ref[i]) && policydir.IsConstant(t) && policydir.IsConstant(ref[i]) {
			return false
		}
	}
	return true
}

// nearest returns the position of a part of a reference, or of the reference.
func nearest(t *ast.Term, ref ast.Ref) *ast.Location {
	for _, candidate := range []*ast.Term{t, ref[0]} {
		if candidate.Location != nil && strings.TrimSpace(candidate.Location.File) != "" {
			return candidate.Location
		}
	}
	return nil
}

// noSuch reports a name that nothing at a place in data has.
func noSuch(s places.Data, t *ast.Term, at *ast.Location, errs *policydir.Errors) {
	name := string(t.Value.(ast.String))
	errs.Add(at, fmt.Sprintf("there is no %s", s.Path.Append(t)), policydir.DidYouMean(name, s.Names()))
}
