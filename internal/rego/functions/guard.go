package functions

import (
	"fmt"
	"maps"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/open-policy-agent/opa/v1/types"
)

// OPA checks the cancellation of an evaluation between steps, so a single call of
// a built-in function runs to its end however much memory it takes, and a failed
// allocation ends the process. The functions whose results can outgrow the memory
// are therefore called through a guard, which refuses a call from the size of its
// operands before OPA runs it. A refused call is an error of the decision.
const (
	// maxResult is the size in bytes of the largest text or list of one call.
	maxResult = 16 << 20
	// maxMade is the size in bytes of all that the built-in functions make during
	// one evaluation: a comprehension calls a function once for each element.
	maxMade = 64 << 20
	// termSize is what an element of a list costs, about, in bytes.
	termSize = 64
)

// guardRoot is the variable under which the guarded functions are called. The
// compiler gives no rule and no variable of a policy this name.
const guardRoot = ast.Var("__ambit_guarded__")

// A guard is what is done about one built-in function. All of it is optional.
type guard struct {
	before  func(args []*ast.Term) error // refuses a call by the size of its operands
	invalid func(args []*ast.Term) error // refuses an operand, whatever the others are
	after   func(result *ast.Term) error // refuses a result
	instead topdown.BuiltinFunc          // runs in place of OPA's
}

// parting are the functions that return parts of their operands, which are not
// charged.
var parting = map[string]bool{"object.get": true, "max": true, "min": true, "minus": true, "walk": true, "internal.print": true}

// Evaluated returns what a decision may call and OPA does not have: the
// guarded functions, and those of Ambit.
var Evaluated = sync.OnceValue(func() map[string]*topdown.Builtin {
	all := maps.Clone(guardedBuiltins())
	maps.Copy(all, Own())
	return all
})

// guardedBuiltins returns the guarded functions by the text of their references.
var guardedBuiltins = sync.OnceValue(func() map[string]*topdown.Builtin {
	all := map[string]*topdown.Builtin{}
	for _, b := range Capabilities().Builtins {
		g, ok := Guards[b.Name]
		if ok || makes(b.Decl.Result()) && !parting[b.Name] {
			decl := *b
			decl.CanSkipBctx = false // a guard needs the cache of the evaluation
			all[guardRef(b.Name).String()] = &topdown.Builtin{Decl: &decl, Func: g.wrap(b.Name)}
		}
	}
	return all
})

// makes says that a type holds texts, lists or objects.
func makes(t types.Type) bool {
	return t != nil && types.Compare(t, types.B) != 0 && types.Compare(t, types.N) != 0
}

// guardRef returns the reference by which the guard of a function is called.
func guardRef(name string) ast.Ref {
	return ast.Ref{ast.NewTerm(guardRoot), ast.StringTerm(name)}
}

// IsGuarded says that a function is called through a guard.
func IsGuarded(name string) bool { return guardedBuiltins()[guardRef(name).String()] != nil }

// wrap returns the guarded form of a function (SEMANTICS 7.5).
func (g guard) wrap(name string) topdown.BuiltinFunc {
	run := g.instead
	if run == nil {
		run = builtinFunc(name)
	}
	return func(bctx topdown.BuiltinContext, args []*ast.Term, iter func(*ast.Term) error) error {
		if g.invalid != nil {
			if err := g.invalid(args); err != nil {
				return refusedCall(name, bctx, err)
			}
		}
		if g.before != nil {
			if err := g.before(args); err != nil {
				return refusedCall(name, bctx, TooLargeError{err})
			}
		}
		return run(bctx, args, func(t *ast.Term) error {
			var err error
			if !parting[name] {
				err = charge(bctx, sizeOf(t))
			}
			if err == nil && g.after != nil {
				err = g.after(t)
			}
			if err != nil {
				return topdown.Halt{Err: refusedCall(name, bctx, err)}
			}
			return iter(t)
		})
	}
}

// A TooLargeError is why a guard refuses a call before it is made.
type TooLargeError struct{ error }

// Unwrap returns what the guard says.
func (e TooLargeError) Unwrap() error { return e.error }

// refusedCall is the error of a call that a guard, or a function of Ambit, refuses.
func refusedCall(name string, bctx topdown.BuiltinContext, err error) error {
	return (&topdown.Error{Code: topdown.BuiltinErr, Message: name + ": " + err.Error(), Location: bctx.Location}).Wrap(err)
}

// madeKey is the key of what an evaluation has made so far, an *int, in its cache.
type madeKey struct{}

// charge adds to what an evaluation has made.
func charge(bctx topdown.BuiltinContext, size int) error {
	if size == 0 {
		return nil
	}
	v, _ := bctx.Cache.Get(madeKey{})
	made, ok := v.(*int)
	if !ok {
		made = new(int)
		bctx.Cache.Put(madeKey{}, made)
	}
	if *made += size; *made > maxMade {
		return fmt.Errorf("the policies have made more than %d MiB of texts and lists for one call", maxMade>>20)
	}
	return nil
}

// sizeOf returns the size of a result in bytes, without that of its elements.
func sizeOf(t *ast.Term) int {
	switch v := t.Value.(type) {
	case ast.String:
		return len(v)
	case ast.Number:
		return len(v)
	case interface{ Len() int }:
		return termSize * v.Len()
	}
	return 0
}

// atMost refuses a result of more than maxResult bytes.
func atMost(size int) error {
	if size < 0 || size > maxResult {
		return fmt.Errorf("the result could be longer than %d MiB", maxResult>>20)
	}
	return nil
}

// A guardableCall is a call, in compiled policies, of a function that has a guard.
type guardableCall struct {
	terms          []*ast.Term // of the call; the first is the function
	plain, guarded *ast.Term
}

// GuardableCalls are such calls of a body or a module.
type GuardableCalls []guardableCall

// Guard makes the calls go through their guards.
func (calls GuardableCalls) Guard() {
	for _, c := range calls {
		c.terms[0] = c.guarded
	}
}

// Unguard is the reverse of guard.
func (calls GuardableCalls) Unguard() {
	for _, c := range calls {
		c.terms[0] = c.plain
	}
}

// GuardCalls makes the compiled policies call the guards. It changes the modules
// in place: the rules that the compiler indexed are the same.
func GuardCalls(c *ast.Compiler) {
	for _, m := range c.Modules {
		FindGuardable(m).Guard()
	}
}

// FindGuardable returns the calls in x, part of a compiled policy, of functions that have a guard.
func FindGuardable(x any) (calls GuardableCalls) {
	guarded := guardedBuiltins()
	add := func(terms []*ast.Term) {
		if len(terms) == 0 {
			return
		}
		if ref, ok := terms[0].Value.(ast.Ref); ok {
			if to := guardRef(ref.String()); guarded[to.String()] != nil {
				calls = append(calls, guardableCall{terms, terms[0], ast.NewTerm(to).SetLocation(terms[0].Location)})
			}
		}
	}
	ast.NewGenericVisitor(func(x any) bool {
		switch x := x.(type) {
		case *ast.Expr:
			if terms, ok := x.Terms.([]*ast.Term); ok {
				add(terms)
			}
		case ast.Call:
			add(x)
		}
		return false
	}).Walk(x)
	return calls
}

// Called returns the function that a decision calls in place of the one that policies
// name: its guard, or the function of Ambit. It is nil for a function of OPA that
// decisions call as it is.
func Called(name string) *topdown.Builtin {
	if b := guardedBuiltins()[guardRef(name).String()]; b != nil {
		return b
	}
	return Own()[name]
}
