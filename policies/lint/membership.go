package lint

import (
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/internal/rego/schema"
	"github.com/ambit-tools/ambit/policies/lint/internal/places"
)

// in checks what is looked for in a list.
func (l *inputLint) in(wanted, among *ast.Term) {
	if p, ok := l.path(among); ok {
		l.inInput(wanted, p)
		return
	}
	if v, ok := among.Value.(ast.Var); ok && l.locals[v] != nil {
		among = l.locals[v]
	}
	switch v := among.Value.(type) {
	case ast.Call:
		if v[0].String() == "object.keys" && len(v) == 2 && policydir.IsConstant(wanted) {
			l.get(v[1], wanted)
		}
	case *ast.Array, ast.Set:
		l.inList(wanted, v.(policydir.Collection))
	}
}

// inList checks what is looked for in a list that is written out. Parts of the
// input of another kind are no fault beside one that it can be, and null never is.
func (l *inputLint) inList(wanted *ast.Term, among policydir.Collection) {
	var kinds policydir.Errors
	errs, alike := l.errs, false
	among.Foreach(func(t *ast.Term) {
		if t.Value.Compare(ast.NullValue) == 0 {
			return
		}
		if !ast.IsConstant(t.Value) {
			l.errs = &kinds
		}
		same := l.compare(wanted, t)
		l.errs = errs
		if same {
			alike = true
			l.enum(wanted, t)
		}
	})
	if !alike {
		*errs = append(*errs, kinds...)
	}
}

// inInput checks what is looked for in a part of the input. Of an object that is
// its values: a name that is looked for there is never found.
func (l *inputLint) inInput(wanted *ast.Term, p places.Path) {
	at, _, _ := l.follow(p)
	if at.Kinds() != schema.ObjectKind {
		element := ast.NewTerm(append(ast.Ref{ast.InputRootDocument}, append(p, ast.VarTerm(ast.WildcardPrefix))...))
		if l.compare(element, wanted) {
			l.enum(element, wanted)
		}
		return
	}
	values := at.Elements()
	if policydir.IsConstant(wanted) && values != 0 && values&schema.StringKind == 0 {
		l.errs.Add(wanted.Location, fmt.Sprintf("%v is looked for among the values of %v, each of which is %v", wanted, p, values),
			fmt.Sprintf("write %v[%v]", p, wanted))
	}
}
