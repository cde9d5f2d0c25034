package operator

import "context"

// Defaults is the policy of an executor that is given none (SEMANTICS section 5.10.2):
//
//   - An approver of a request may see it, answer it and, within max_cover, give a grant.
//   - The user who owns the store and the program's own code may do everything but answer a request
//     that does not admit them and give grants on it.
//   - The principal of a session may cancel and undo its calls.
//   - All else is denied.
type Defaults struct{}

// Authorize implements Policy. It returns no error.
func (Defaults) Authorize(_ context.Context, r *Request) (Decision, error) {
	switch answers := r.Act == Decide || r.Act == Grant; {
	case r.Actor.ID == "":
	case r.Approver && (answers || r.Act == See):
		return Decision{Allow: true}, nil
	case (r.Actor.Method == Code || r.Actor.Method == Owner) && !answers && known(r.Act):
		return Decision{Allow: true}, nil
	case (r.Act == Cancel || r.Act == Undo) && r.Session != "" && r.Actor.ID == r.SessionPrincipal:
		return Decision{Allow: true}, nil
	}
	return Decision{Reason: "no rule of the operator policy allows it"}, nil
}

// known reports whether an act is one of this package.
func known(a Act) bool {
	switch a {
	case See, Decide, Grant, Revoke, Undo, Cancel, Resolve, ConsentOff, Audit, Archive:
		return true
	}
	return false
}
