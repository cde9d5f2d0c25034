package functions

import (
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/tester"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/open-policy-agent/opa/v1/topdown/builtins"
	"github.com/open-policy-agent/opa/v1/types"
)

// A urlFunction is a function of URLs that policies call, such as ambit.url.host.
type urlFunction struct {
	decl  *ast.Builtin
	value func(text string) (ast.Value, error)
}

// urlFunctions are all functions of URLs. They are not registered in OPA's tables of the
// process: that would be a data race with every other use of OPA at that moment. Compilers
// receive them with their capabilities, queries and test runners as options.
var urlFunctions = []urlFunction{
	ofURL("scheme", "scheme of an absolute URL, in small letters", types.S, func(u *absoluteURL) (ast.Value, error) {
		return ast.String(u.scheme), nil
	}),
	ofURL("host", "host of an absolute URL, in one spelling", types.S, func(u *absoluteURL) (ast.Value, error) {
		return ast.String(u.host), nil
	}),
	ofURL("port", "port of an absolute URL, or that of its scheme", types.N, func(u *absoluteURL) (ast.Value, error) {
		port, err := u.effectivePort()
		return ast.InternedTerm(port).Value, err
	}),
	ofURL("path", "decoded path of an absolute URL", types.S, func(u *absoluteURL) (ast.Value, error) {
		path, err := u.cleanPath()
		return ast.String(path), err
	}),
	ofText("is_valid", "whether the other functions have an answer for a URL", types.B, func(text string) (ast.Value, error) {
		return ast.Boolean(validURL(text)), nil
	}),
}

// ofURL returns a function of a URL. One that cannot be read is an error of the
// decision: undefined, it would make a denial vanish.
func ofURL(name, description string, result types.Type, value func(*absoluteURL) (ast.Value, error)) urlFunction {
	return ofText(name, description, result, func(text string) (ast.Value, error) {
		u, err := parseURL(text)
		if err != nil {
			return nil, err
		}
		return value(u)
	})
}

// ofText returns a function of a text, which is ambit.url.<name>.
func ofText(name, description string, result types.Type, value func(string) (ast.Value, error)) urlFunction {
	return urlFunction{value: value, decl: &ast.Builtin{
		Name: "ambit.url." + name, Description: description,
		Decl: types.NewFunction(types.Args(types.Named("url", types.S)), types.Named("result", result).Description(description)),
	}}
}

// call calls f.
func (f *urlFunction) call(args []*ast.Term) (*ast.Term, error) {
	text, err := builtins.StringOperand(args[0].Value, 1)
	if err != nil {
		return nil, err
	}
	v, err := f.value(string(text))
	if err != nil {
		return nil, err
	}
	return ast.NewTerm(v), nil
}

// URLBuiltins returns the functions by name, as a query takes them.
var URLBuiltins = sync.OnceValue(func() map[string]*topdown.Builtin {
	all := make(map[string]*topdown.Builtin, len(urlFunctions))
	for i := range urlFunctions {
		f := &urlFunctions[i]
		all[f.decl.Name] = &topdown.Builtin{Decl: f.decl, Func: func(bctx topdown.BuiltinContext, args []*ast.Term, iter func(*ast.Term) error) error {
			result, err := f.call(args)
			if err != nil {
				return refusedCall(f.decl.Name, bctx, err)
			}
			return iter(result)
		}}
	}
	return all
})

// Tested returns the functions as a runner of tests takes them.
func Tested() (all []*tester.Builtin) {
	for i := range urlFunctions {
		f := &urlFunctions[i]
		decl := &rego.Function{Name: f.decl.Name, Description: f.decl.Description, Decl: f.decl.Decl}
		all = append(all, &tester.Builtin{Decl: f.decl, Func: rego.FunctionDyn(decl, func(_ rego.BuiltinContext, args []*ast.Term) (*ast.Term, error) {
			return f.call(args)
		})})
	}
	return all
}

// Builtin returns the declaration of a function of OPA, or of URLs, by its name or
// operator; nil: there is none.
func Builtin(name string) *ast.Builtin {
	if b := URLBuiltins()[name]; b != nil {
		return b.Decl
	}
	return ast.BuiltinMap[name]
}

// builtinFunc returns what runs a function that exists.
func builtinFunc(name string) topdown.BuiltinFunc {
	if b := URLBuiltins()[name]; b != nil {
		return b.Func
	}
	return topdown.GetBuiltin(name)
}
