package runtime

import (
	"context"
	"strings"
)

// An Act is what an actor wants to do.
type Act string

// The acts.
const (
	ActSee        Act = "see"         // a request for consent, with what it shows to approvers
	ActDecide     Act = "decide"      // answer a request for consent
	ActGrant      Act = "grant"       // answer it with a grant that outlives the call
	ActRevoke     Act = "revoke"      // a grant
	ActUndo       Act = "undo"        // a call, or the calls of a run
	ActCancel     Act = "cancel"      // a call
	ActResolve    Act = "resolve"     // a call whose outcome is unknown
	ActConsentOff Act = "consent_off" // switch requests for consent off
	ActAudit      Act = "audit"       // read the journal through the executor's process
	ActArchive    Act = "archive"     // move old entries of the journal to a segment
)

// An ActorMethod says how an actor was authenticated. The constants are the methods of this module; a
// component that authenticates actors otherwise has a name of its own.
type ActorMethod string

// The methods of this module.
const (
	MethodCode  ActorMethod = "code"  // not at all: the program acts itself
	MethodOwner ActorMethod = "owner" // by the operating system, as the user who owns the store, or as the superuser
	MethodUser  ActorMethod = "user"  // by the operating system, as another user
)

// An Actor is a person or a program that acts. The component that authenticates an actor sets its id, its groups and the
// method. Nothing that the actor sends may set them. The zero value is no actor.
type Actor struct {
	ID     string      `json:"id"`
	Groups []string    `json:"groups,omitempty"` // names, without the prefix group: of approvers
	Method ActorMethod `json:"method"`
}

// ProgramActor returns the actor for an act of the program's own code. id names who the program acts for,
// or the program itself; the journal records it.
func ProgramActor(id string) Actor { return Actor{ID: id, Method: MethodCode} }

// An ActTarget is what an act concerns, by ids. Fields that do not apply are empty.
type ActTarget struct {
	Session string `json:"session,omitempty"`
	Run     string `json:"run,omitempty"`
	Call    string `json:"call,omitempty"`
	Request string `json:"request,omitempty"`
	Grant   string `json:"grant,omitempty"`
	DryRun  bool   `json:"dry_run,omitempty"` // the actor only asks what would happen: nothing is recorded
}

// An ActRequest asks an OperatorPolicy about one act. The executor makes it: of the target it adds what it knows.
type ActRequest struct {
	Act   Act   `json:"act"`
	Actor Actor `json:"actor"`
	ActTarget

	Tool             string `json:"tool,omitempty"`              // of the call
	Effect           string `json:"effect,omitempty"`            // of the tool: read, write or destructive
	Principal        string `json:"principal,omitempty"`         // on whose behalf the call was made
	SessionPrincipal string `json:"session_principal,omitempty"` // of the session of the call
	Approver         bool   `json:"approver"`                    // the requirement of the request admits the actor
}

// AskOperators asks a policy about an act. An actor whose id would read as a group in a list of approvers is denied
// without asking (SEMANTICS 5.5.3).
func AskOperators(ctx context.Context, p OperatorPolicy, r *ActRequest) (ActDecision, error) {
	if strings.HasPrefix(r.Actor.ID, "group:") {
		return ActDecision{Reason: "the id of the actor is that of a group"}, nil
	}
	return p.Authorize(ctx, r)
}

// An ActDecision is the answer of an OperatorPolicy. The zero value denies.
type ActDecision struct {
	Allow    bool
	Reason   string // for the actor, why the act is denied
	Revision string // of the policy; the journal records it
}

// An OperatorPolicy decides who may act on an executor: who may see and answer a request for consent, give and revoke a
// grant, undo, cancel or resolve a call, switch consent off, read the audit log (SEMANTICS section 5.10). It is asked for
// every such act, wherever it comes from: a console, the command line, MCP or the program's own code. What it does not
// allow is denied; so is an act for which it returns an error, panics, or does not return in time.
// OperatorDefaults is the policy of an executor that is given none (engine.WithOperators).
//
// Authorize must be safe for concurrent use and must return when ctx
// ends. It must not retain r.
type OperatorPolicy interface {
	Authorize(ctx context.Context, r *ActRequest) (ActDecision, error)
}

// OperatorDefaults is the policy of an executor that is given none (SEMANTICS section 5.10.2):
//
//   - An approver of a request may see it, answer it and, within max_cover, give a grant.
//   - The user who owns the store and the program's own code may do everything but answer a request
//     that does not admit them and give grants on it.
//   - The principal of a session may cancel and undo its calls.
//   - All else is denied.
type OperatorDefaults struct{}

// Authorize implements OperatorPolicy. It returns no error.
func (OperatorDefaults) Authorize(_ context.Context, r *ActRequest) (ActDecision, error) {
	switch answers := r.Act == ActDecide || r.Act == ActGrant; {
	case r.Actor.ID == "":
	case r.Approver && (answers || r.Act == ActSee):
		return ActDecision{Allow: true}, nil
	case (r.Actor.Method == MethodCode || r.Actor.Method == MethodOwner) && !answers && knownAct(r.Act):
		return ActDecision{Allow: true}, nil
	case (r.Act == ActCancel || r.Act == ActUndo) && r.Session != "" && r.Actor.ID == r.SessionPrincipal:
		return ActDecision{Allow: true}, nil
	}
	return ActDecision{Reason: "no rule of the operator policy allows it"}, nil
}

// knownAct reports whether there is an act.
func knownAct(a Act) bool {
	switch a {
	case ActSee, ActDecide, ActGrant, ActRevoke, ActUndo, ActCancel, ActResolve, ActConsentOff, ActAudit, ActArchive:
		return true
	}
	return false
}
