package policydir

import (
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// The query whose answer is the decision.
const EntryPoint = "data.ambit.decision"

// A Field is a member of the entries of a contract rule.
type Field struct {
	Name     string
	Kind     ValueKind
	Optional bool
	Constant bool // must be written as a constant
}

// Contract lists the rules that a package contributes to the decision, each a
// set of objects with these members. The loader adds "at" to each.
func Contract(rule string) []Field {
	code := Field{Name: "code", Kind: KindString, Constant: true}
	message := Field{Name: "message", Kind: KindString}
	switch rule {
	case "allow":
		return []Field{code, message}
	case "deny":
		return []Field{code, message, {Name: "detail", Optional: true}}
	case "ask":
		return []Field{
			{Name: "id", Kind: KindString, Constant: true},
			message,
			{Name: "approvers", Kind: KindStrings, Optional: true},
			{Name: "quorum", Kind: KindInt, Optional: true},
			{Name: "timeout", Kind: KindString, Optional: true},
			{Name: "max_cover", Kind: KindString, Optional: true},
			{Name: "bound", Kind: KindObject, Optional: true},
		}
	case "modify":
		return []Field{code, {Name: "pointer", Kind: KindString}, {Name: "value"}}
	case "obligations":
		return []Field{code, {Name: "args", Kind: KindObject}}
	}
	return nil
}

// ContractRules names the contract's rules.
func ContractRules() []string { return []string{"allow", "deny", "ask", "modify", "obligations"} }

// LibraryCodes names the codes of the library's own denials, in the order in which they are reported.
func LibraryCodes() []string {
	return []string{"behavior_not_allowed", "capability_missing", "mode_off"}
}

// ObligationCodes names the obligations that the engine knows.
func ObligationCodes() []string { return []string{"notify", "redact_output"} }

// A packageKind says what a package is in the contract.
type packageKind uint8

const (
	otherPackage    packageKind = iota // helpers, outside ambit
	ToolPackage                        // ambit.tools.<tool> and below
	OrgPackage                         // ambit.policies.<name> and below
	OperatorPackage                    // ambit.operators: it decides about operators, and no call
	ForeignPackage                     // anything else below ambit: the library's
)

// ContractPackage tells what a package is, and the tool or the name in it.
func ContractPackage(pkg ast.Ref) (packageKind, string) {
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
		return ToolPackage, part(3)
	case part(2) == "policies" && part(3) != "":
		return OrgPackage, part(3)
	case part(2) == "operators" && len(pkg) == 3:
		return OperatorPackage, ""
	}
	return ForeignPackage, ""
}

// Contributes says that contract rules in the package are part of the decision.
func Contributes(pkg ast.Ref) bool {
	kind, _ := ContractPackage(pkg)
	return len(pkg) == 4 && (kind == ToolPackage || kind == OrgPackage)
}

// RuleName returns the first name of a rule's reference: deny of deny, of deny[x] and of deny.x.
func RuleName(r *ast.Rule) string {
	switch v := r.Head.Ref()[0].Value.(type) {
	case ast.Var:
		return string(v)
	case ast.String:
		return string(v)
	}
	return ""
}

// IsConstant says that a term is a string that is written out.
func IsConstant(t *ast.Term) bool {
	_, ok := t.Value.(ast.String)
	return ok
}

// PackageName returns the package as it is written.
func PackageName(m *ast.Module) string {
	return strings.TrimPrefix(m.Package.Path.String(), "data.")
}

// DeclaredAsk is the id of the library's ask, which the declaration makes.
const DeclaredAsk = "declared"

// A Asker is a package that asks.
type Asker struct {
	Kind packageKind
	Name string // of the tool, or of the organization's concern
}

// AskID returns the id of an entry of ask, where it is written as it must be.
func AskID(r *ast.Rule) (*ast.Term, bool) {
	if RuleName(r) != "ask" || r.Head.Key == nil {
		return nil, false
	}
	entry, ok := r.Head.Key.Value.(ast.Object)
	if !ok {
		return nil, false
	}
	id := entry.Get(ast.StringTerm("id"))
	return id, id != nil && IsConstant(id)
}

// CodeNoAllow is the code of the denial of a call that no rule allows.
const CodeNoAllow = "no_allow"

// Askers returns the packages that ask, by the id of what they ask.
func (b *Bundle) Askers() map[string][]Asker {
	all := map[string][]Asker{}
	for _, m := range b.HandWritten(b.Parsed) {
		if !Contributes(m.Package.Path) {
			continue
		}
		kind, name := ContractPackage(m.Package.Path)
		for _, r := range m.Rules {
			if id, ok := AskID(r); ok {
				text := string(id.Value.(ast.String))
				all[text] = append(all[text], Asker{kind, name})
			}
		}
	}
	return all
}
