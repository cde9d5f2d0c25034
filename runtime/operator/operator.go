package operator

import (
	"context"
	"strings"
)

// An Act is what an actor wants to do.
type Act string

// The acts.
const (
	See        Act = "see"         // a request for consent, with what it shows to approvers
	Decide     Act = "decide"      // answer a request for consent
	Grant      Act = "grant"       // answer it with a grant that outlives the call
	Revoke     Act = "revoke"      // a grant
	Undo       Act = "undo"        // a call, or the calls of a run
	Cancel     Act = "cancel"      // a call
	Resolve    Act = "resolve"     // a call whose outcome is unknown
	ConsentOff Act = "consent_off" // switch requests for consent off
	Audit      Act = "audit"       // read the journal through the executor's process
	Archive    Act = "archive"     // move old entries of the journal to a segment
)

// A Method says how an actor was authenticated. The constants are the methods of this module; a
// component that authenticates actors otherwise has a name of its own.
type Method string

// The methods of this module.
const (
	Code  Method = "code"  // not at all: the program acts itself
	Owner Method = "owner" // by the operating system, as the user who owns the store, or as the superuser
	User  Method = "user"  // by the operating system, as another user
)

// An Actor is a person or a program that acts. The zero value is no actor.
type Actor struct {
	ID     string   `json:"id"`
	Groups []string `json:"groups,omitempty"` // names, without the prefix group: of approvers
	Method Method   `json:"method"`
}

// Program returns the actor for an act of the program's own code. id names who the program acts for,
// or the program itself; the journal records it.
func Program(id string) Actor { return Actor{ID: id, Method: Code} }

// A Target is what an act concerns, by ids. Fields that do not apply are empty.
type Target struct {
	Session string `json:"session,omitempty"`
	Run     string `json:"run,omitempty"`
	Call    string `json:"call,omitempty"`
	Request string `json:"request,omitempty"`
	Grant   string `json:"grant,omitempty"`
	DryRun  bool   `json:"dry_run,omitempty"` // the actor only asks what would happen: nothing is recorded
}

// A Request asks a policy about one act. The executor makes it: of the target it adds what it knows.
type Request struct {
	Act   Act   `json:"act"`
	Actor Actor `json:"actor"`
	Target

	Tool             string `json:"tool,omitempty"`              // of the call
	Effect           string `json:"effect,omitempty"`            // of the tool: read, write or destructive
	Principal        string `json:"principal,omitempty"`         // on whose behalf the call was made
	SessionPrincipal string `json:"session_principal,omitempty"` // of the session of the call
	Approver         bool   `json:"approver"`                    // the requirement of the request admits the actor
}

// Ask asks a policy about an act. An actor whose id would read as a group in a list of approvers is denied
// without asking (SEMANTICS 5.5.3).
func Ask(ctx context.Context, p Policy, r *Request) (Decision, error) {
	if strings.HasPrefix(r.Actor.ID, "group:") {
		return Decision{Reason: "the id of the actor is that of a group"}, nil
	}
	return p.Authorize(ctx, r)
}

// A Decision is the answer of a policy. The zero value denies.
type Decision struct {
	Allow    bool
	Reason   string // for the actor, why the act is denied
	Revision string // of the policy; the journal records it
}

// A Policy decides about acts. Authorize must be safe for concurrent use and must return when ctx
// ends. It must not retain r.
type Policy interface {
	Authorize(ctx context.Context, r *Request) (Decision, error)
}
