package opa

import (
	"github.com/open-policy-agent/opa/v1/ast"
)

// The query whose answer is the decision.
const entryPoint = "data.ambit.decision"

// A valueKind says what a member of a contract entry holds.
type valueKind uint8

const (
	kindAny valueKind = iota
	kindString
	kindStrings
	kindInt
	kindObject
)

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
