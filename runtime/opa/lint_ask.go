package opa

import (
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"
)

// declaredAsk is the id of the library's ask, which the declaration makes.
const declaredAsk = "declared"

// lintAsks checks that an id tells one package's ask from every other's that can
// apply to the same call: a standing grant answers the rules that asked for it,
// and must not answer another rule because of its name.
func (b *bundle) lintAsks(errs *Errors) {
	type use struct {
		kind packageKind
		name string
	}
	users := map[string][]use{}
	for _, m := range b.handWritten(b.parsed) {
		if !contributes(m.Package.Path) {
			continue
		}
		kind, name := contractPackage(m.Package.Path)
		for _, r := range m.Rules {
			id, ok := askID(r)
			if !ok {
				continue
			}
			switch text := string(id.Value.(ast.String)); {
			case text == "":
				errs.add(id.Location, "the id of an ask is empty", "name what the rule asks for")
			case text == declaredAsk:
				errs.add(id.Location, fmt.Sprintf("the id %q belongs to the consent that tools.yaml declares", text), "give this ask an id of its own")
			default:
				for _, other := range users[text] {
					same := other == use{kind, name}
					apart := kind == toolPackage && other.kind == toolPackage
					if !same && !apart {
						errs.add(id.Location, fmt.Sprintf("the id %q is that of another package's ask", text),
							"give this ask an id of its own: a grant answers the rule that asked for it")
						break
					}
				}
				users[text] = append(users[text], use{kind, name})
			}
		}
	}
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
