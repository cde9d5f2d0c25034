package lint

import (
	"fmt"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// redactForm is the form of the args of redact_output.
const redactForm = `its args are {"pointers": ["/member", ...]}`

// lintObligation checks the constant parts of the args of redact_output: with args
// of another form every call is denied.
func lintObligation(entry ast.Object, errs *policydir.Errors) {
	code, args := entry.Get(ast.StringTerm("code")), entry.Get(ast.StringTerm("args"))
	if code == nil || args == nil || !code.Equal(ast.StringTerm("redact_output")) {
		return
	}
	object, ok := args.Value.(ast.Object)
	if !ok {
		return // of another kind, or computed
	}
	object.Foreach(func(k, _ *ast.Term) {
		if ast.IsScalar(k.Value) && !k.Equal(ast.StringTerm("pointers")) {
			name, _ := k.Value.(ast.String)
			hint := policydir.DidYouMean(string(name), []string{"pointers"})
			if hint == "" {
				hint = redactForm
			}
			errs.Add(k.Location, fmt.Sprintf("the args of redact_output have no member %v", k), hint)
		}
	})
	pointers := object.Get(ast.StringTerm("pointers"))
	switch {
	case pointers != nil:
		lintPointers(pointers, errs)
	case object.Len() == 0:
		errs.Add(args.Location, "the args of redact_output have no \"pointers\"", redactForm)
	}
}

// lintPointers checks the pointers of redact_output that are written out.
func lintPointers(t *ast.Term, errs *policydir.Errors) {
	all, isList := t.Value.(policydir.Collection)
	_, isObject := t.Value.(ast.Object)
	switch {
	case ast.IsScalar(t.Value) || isObject:
		errs.Add(t.Location, "the pointers of redact_output are no list", redactForm)
		return
	case !isList:
		return // computed
	case all.Len() == 0:
		errs.Add(t.Location, "the pointers of redact_output are none", "name what is to be masked, or delete the rule")
	}
	all.Foreach(func(t *ast.Term) {
		text, isText := t.Value.(ast.String)
		if !isText {
			if ast.IsScalar(t.Value) {
				errs.Add(t.Location, fmt.Sprintf("the pointer %v of redact_output is no string", t), redactForm)
			}
			return
		}
		parsePointer(t, string(text), errs)
	})
}

// parsePointer returns the parts of a pointer that is written out, and reports one that is none.
func parsePointer(t *ast.Term, text string, errs *policydir.Errors) (names []string, ok bool) {
	names, err := wire.ParsePointer(text)
	if err != nil {
		hint := ""
		if !strings.HasPrefix(text, "/") {
			hint = fmt.Sprintf("write %q", "/"+text)
		}
		errs.Add(t.Location, err.Error(), hint)
	}
	return names, err == nil
}
