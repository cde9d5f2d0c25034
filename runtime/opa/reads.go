package opa

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
)

// reads says which parts of the input the policies of a generation read. A part that
// none reads is not built: no evaluation of the policies can tell.
type reads struct {
	all     bool            // a policy reads the input as a whole, or a part named by a value
	members map[string]bool // of the input
	runID   bool

	// wholeFacts says that a policy reads the facts of a run as a whole, not
	// only single ones; see facts.
	wholeFacts bool
}

// member says that a member of the input is read.
func (r *reads) member(name string) bool { return r.all || r.members[name] }

// readsOf returns what compiled policies read of a call. The operator policy is about another input,
// unless a policy about calls uses it.
func readsOf(c *ast.Compiler) reads {
	r, used := reads{members: map[string]bool{}}, false
	for _, m := range c.Modules {
		if operatorPackage(m) {
			continue
		}
		for _, rule := range m.Rules { // and not the name of the package, which is a reference too
			ast.WalkRefs(rule, func(ref ast.Ref) bool {
				used = used || mayBeOperators(ref)
				return false
			})
		}
	}
	for _, m := range c.Modules {
		if operatorPackage(m) && !used {
			continue
		}
		ast.WalkRefs(m, func(ref ast.Ref) bool {
			if ref[0].Equal(ast.InputRootDocument) {
				r.add(ref[1:])
			}
			return false
		})
	}
	return r
}

func operatorPackage(m *ast.Module) bool {
	kind, _ := policydir.ContractPackage(m.Package.Path)
	return kind == policydir.OperatorPackage
}

// mayBeOperators reports whether a reference can lead to package ambit.operators.
func mayBeOperators(ref ast.Ref) bool {
	if !ref[0].Equal(ast.DefaultRootDocument) {
		return false
	}
	for i, name := range []string{"ambit", "operators"} {
		if len(ref) <= i+1 {
			return true
		}
		if s, ok := ref[i+1].Value.(ast.String); ok && string(s) != name {
			return false
		}
	}
	return true
}

// add adds a reference without its leading input.
func (r *reads) add(ref ast.Ref) {
	r.wholeFacts = r.wholeFacts || wholeFactsRef(ref)
	name, ok := ast.String(""), false
	if len(ref) > 0 {
		name, ok = ref[0].Value.(ast.String)
	}
	if !ok {
		r.all, r.runID = true, true
		return
	}
	r.members[string(name)] = true
	if name != "run" {
		return
	}
	if len(ref) > 1 {
		name, ok = ref[1].Value.(ast.String)
	}
	r.runID = r.runID || len(ref) == 1 || !ok || name == "id"
}

// wholeFactsRef says that a reference, without its leading input, ends above a single
// fact: at input, input.run, input.run.counts or input.run.succeeded, or may.
func wholeFactsRef(ref ast.Ref) bool {
	names := [][]string{{"run"}, {"counts", "succeeded"}}
	for i, allowed := range names {
		if len(ref) == i {
			return true
		}
		s, ok := ref[i].Value.(ast.String)
		if !ok {
			return true
		}
		if !slices.Contains(allowed, string(s)) {
			return false
		}
	}
	return len(ref) == len(names)
}
