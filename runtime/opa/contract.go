package opa

import (
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// The query whose answer is the decision.
const entryPoint = "data.ambit.decision"

// A field is a member of the entries of a contract rule.
type field struct {
	name     string
	kind     valueKind
	optional bool
	constant bool // must be written as a constant
}

// contract lists the rules that a package contributes to the decision, each a
// set of objects with these members. The loader adds "at" to each.
func contract(rule string) []field {
	code := field{name: "code", kind: kindString, constant: true}
	message := field{name: "message", kind: kindString}
	switch rule {
	case "allow":
		return []field{code, message}
	case "deny":
		return []field{code, message, {name: "detail", optional: true}}
	case "ask":
		return []field{
			{name: "id", kind: kindString, constant: true},
			message,
			{name: "approvers", kind: kindStrings, optional: true},
			{name: "quorum", kind: kindInt, optional: true},
			{name: "timeout", kind: kindString, optional: true},
			{name: "max_cover", kind: kindString, optional: true},
		}
	case "modify":
		return []field{code, {name: "pointer", kind: kindString}, {name: "value"}}
	case "obligations":
		return []field{code, {name: "args", kind: kindObject}}
	}
	return nil
}

// contractRules names the contract's rules.
func contractRules() []string { return []string{"allow", "deny", "ask", "modify", "obligations"} }

// libraryCodes names the codes of the library's own denials, in the order in which they are reported.
func libraryCodes() []string {
	return []string{"behavior_not_allowed", "capability_missing", "mode_off"}
}

// obligationCodes names the obligations that the engine knows.
func obligationCodes() []string { return []string{"notify", "redact_output"} }

// A packageKind says what a package is in the contract.
type packageKind uint8

const (
	otherPackage   packageKind = iota // helpers, outside ambit
	toolPackage                       // ambit.tools.<tool> and below
	orgPackage                        // ambit.policies.<name> and below
	foreignPackage                    // anything else below ambit: the library's
)

// contractPackage tells what a package is, and the tool or the name in it.
func contractPackage(pkg ast.Ref) (packageKind, string) {
	part := func(i int) string {
		if i >= len(pkg) {
			return ""
		}
		s, _ := pkg[i].Value.(ast.String)
		return string(s)
	}
	switch {
	case part(1) != "ambit":
		return otherPackage, ""
	case part(2) == "tools" && part(3) != "":
		return toolPackage, part(3)
	case part(2) == "policies" && part(3) != "":
		return orgPackage, part(3)
	}
	return foreignPackage, ""
}

// contributes says that contract rules in the package are part of the decision.
func contributes(pkg ast.Ref) bool {
	kind, _ := contractPackage(pkg)
	return len(pkg) == 4 && (kind == toolPackage || kind == orgPackage)
}

// ruleName returns the first name of a rule's reference: deny of deny, of deny[x] and of deny.x.
func ruleName(r *ast.Rule) string {
	switch v := r.Head.Ref()[0].Value.(type) {
	case ast.Var:
		return string(v)
	case ast.String:
		return string(v)
	}
	return ""
}

// isConstant says that a term is a string that is written out.
func isConstant(t *ast.Term) bool {
	_, ok := t.Value.(ast.String)
	return ok
}

// packageName returns the package as it is written.
func packageName(m *ast.Module) string {
	return strings.TrimPrefix(m.Package.Path.String(), "data.")
}

// declaredAsk is the id of the library's ask, which the declaration makes.
const declaredAsk = "declared"

// An asker is a package that asks.
type asker struct {
	kind packageKind
	name string // of the tool, or of the organization's concern
}

// askID returns the id of an entry of ask, where it is written as it must be.
func askID(r *ast.Rule) (*ast.Term, bool) {
	if ruleName(r) != "ask" || r.Head.Key == nil {
		return nil, false
	}
	entry, ok := r.Head.Key.Value.(ast.Object)
	if !ok {
		return nil, false
	}
	id := entry.Get(ast.StringTerm("id"))
	return id, id != nil && isConstant(id)
}

// codeNoAllow is the code of the denial of a call that no rule allows.
const codeNoAllow = "no_allow"

// askers returns the packages that ask, by the id of what they ask.
func (b *bundle) askers() map[string][]asker {
	all := map[string][]asker{}
	for _, m := range b.handWritten(b.parsed) {
		if !contributes(m.Package.Path) {
			continue
		}
		kind, name := contractPackage(m.Package.Path)
		for _, r := range m.Rules {
			if id, ok := askID(r); ok {
				text := string(id.Value.(ast.String))
				all[text] = append(all[text], asker{kind, name})
			}
		}
	}
	return all
}
