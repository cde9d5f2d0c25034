package opa

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
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

// readsOf returns what compiled policies read.
func readsOf(c *ast.Compiler) reads {
	r := reads{members: map[string]bool{}}
	for _, m := range c.Modules {
		ast.WalkRefs(m, func(ref ast.Ref) bool {
			if ref[0].Equal(ast.InputRootDocument) {
				r.add(ref[1:])
			}
			return false
		})
	}
	return r
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
