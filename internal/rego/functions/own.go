package functions

import (
	"path"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/tester"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/open-policy-agent/opa/v1/topdown/builtins"
	"github.com/open-policy-agent/opa/v1/types"

	"github.com/ambit-tools/ambit/internal/location"
)

// An ownFunction is a function of Ambit that policies call, such as ambit.url.host. Its operands are texts.
type ownFunction struct {
	decl  *ast.Builtin
	value func(texts []string) (ast.Value, error)
}

// ownFunctions are all functions of Ambit. They are not registered in OPA's tables of the
// process: that would be a data race with every other use of OPA at that moment. Compilers
// receive them with their capabilities, queries and test runners as options.
var ownFunctions = []ownFunction{
	ofURL("scheme", "scheme of an absolute URL, in small letters", types.S, func(u *location.URL) (ast.Value, error) {
		return ast.String(u.Scheme), nil
	}),
	ofURL("host", "host of an absolute URL, in one spelling", types.S, func(u *location.URL) (ast.Value, error) {
		return ast.String(u.Host), nil
	}),
	ofURL("port", "port of an absolute URL, or that of its scheme", types.N, func(u *location.URL) (ast.Value, error) {
		port, err := u.Port()
		return ast.InternedTerm(port).Value, err
	}),
	ofURL("path", "decoded path of an absolute URL", types.S, func(u *location.URL) (ast.Value, error) {
		path, err := u.Path()
		return ast.String(path), err
	}),
	ofTexts("url.is_valid", "whether the other functions have an answer for a URL", types.B, []string{"url"}, func(texts []string) (ast.Value, error) {
		return ast.Boolean(validURL(texts[0])), nil
	}),
	ofPath("clean", "path in one spelling, without empty elements, . and ..", types.S, func(p location.Path) ast.Value {
		return ast.String(p.String())
	}),
	ofPath("base", "last element of a path", types.S, func(p location.Path) ast.Value {
		return ast.String(p.Base())
	}),
	ofPath("ext", "end of the last element of a path, from its last dot on", types.S, func(p location.Path) ast.Value {
		return ast.String(path.Ext(p.Base()))
	}),
	ofTexts("path.below", "whether a path is inside of a folder", types.B, []string{"path", "folder"}, func(texts []string) (ast.Value, error) {
		p, err := location.ParsePath(texts[0])
		if err != nil {
			return nil, err
		}
		folder, err := location.ParsePath(texts[1])
		return ast.Boolean(p.Below(folder)), err
	}),
	ofTexts("path.is_valid", "whether the other functions have an answer for a path", types.B, []string{"path"}, func(texts []string) (ast.Value, error) {
		_, err := location.ParsePath(texts[0])
		return ast.Boolean(err == nil), nil
	}),
}

// validURL says that every question about a URL has an answer.
func validURL(text string) bool {
	u, err := location.ParseURL(text)
	if err != nil {
		return false
	}
	_, pathErr := u.Path()
	_, portErr := u.Port()
	return pathErr == nil && portErr == nil
}

// ofURL returns a function of a URL. One that cannot be read is an error of the
// decision: undefined, it would make a denial vanish.
func ofURL(name, description string, result types.Type, value func(*location.URL) (ast.Value, error)) ownFunction {
	return ofTexts("url."+name, description, result, []string{"url"}, func(texts []string) (ast.Value, error) {
		u, err := location.ParseURL(texts[0])
		if err != nil {
			return nil, err
		}
		return value(u)
	})
}

// ofPath returns a function of a path. One that cannot be read is an error, as of ofURL.
func ofPath(name, description string, result types.Type, value func(location.Path) ast.Value) ownFunction {
	return ofTexts("path."+name, description, result, []string{"path"}, func(texts []string) (ast.Value, error) {
		p, err := location.ParsePath(texts[0])
		if err != nil {
			return nil, err
		}
		return value(p), nil
	})
}

// ofTexts returns the function ambit.<name>, whose operands are texts.
func ofTexts(name, description string, result types.Type, operands []string, value func([]string) (ast.Value, error)) ownFunction {
	args := make([]types.Type, len(operands))
	for i, operand := range operands {
		args[i] = types.Named(operand, types.S)
	}
	return ownFunction{value: value, decl: &ast.Builtin{
		Name: "ambit." + name, Description: description,
		Decl: types.NewFunction(args, types.Named("result", result).Description(description)),
	}}
}

// call calls f. After the operands OPA may pass what the result is for.
func (f *ownFunction) call(args []*ast.Term) (*ast.Term, error) {
	texts := make([]string, f.decl.Decl.Arity())
	for i := range texts {
		text, err := builtins.StringOperand(args[i].Value, i+1)
		if err != nil {
			return nil, err
		}
		texts[i] = string(text)
	}
	v, err := f.value(texts)
	if err != nil {
		return nil, err
	}
	return ast.NewTerm(v), nil
}

// Own returns the functions of Ambit by name, as a query takes them.
var Own = sync.OnceValue(func() map[string]*topdown.Builtin {
	all := make(map[string]*topdown.Builtin, len(ownFunctions))
	for i := range ownFunctions {
		f := &ownFunctions[i]
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
	for i := range ownFunctions {
		f := &ownFunctions[i]
		decl := &rego.Function{Name: f.decl.Name, Description: f.decl.Description, Decl: f.decl.Decl}
		all = append(all, &tester.Builtin{Decl: f.decl, Func: rego.FunctionDyn(decl, func(_ rego.BuiltinContext, args []*ast.Term) (*ast.Term, error) {
			return f.call(args)
		})})
	}
	return all
}

// Builtin returns the declaration of a function of OPA, or of Ambit, by its name or
// operator; nil: there is none.
func Builtin(name string) *ast.Builtin {
	if b := Own()[name]; b != nil {
		return b.Decl
	}
	return ast.BuiltinMap[name]
}

// builtinFunc returns what runs a function that exists.
func builtinFunc(name string) topdown.BuiltinFunc {
	if b := Own()[name]; b != nil {
		return b.Func
	}
	return topdown.GetBuiltin(name)
}
