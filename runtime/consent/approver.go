package consent

import (
	"context"
	"encoding/json"

	"github.com/ambit-tools/ambit/runtime"
)

// An Approver is notified of requests for consent. It answers through engine.Executor.Decide,
// at any time and from any goroutine or process that can reach the executor.
//
// The executor calls Notify in its own goroutine after the request was recorded. The
// context ends with the request. An error is reported to the error handler. When no
// approver could be notified, and the application does not poll Requests
// (engine.WithPendingRequests), the call is denied consent_unavailable.
type Approver interface {
	Notify(context.Context, *Notice) error
}

// An ApproverFunc is a function that implements Approver.
type ApproverFunc func(context.Context, *Notice) error

// Notify calls f.
func (f ApproverFunc) Notify(ctx context.Context, r *Notice) error { return f(ctx, r) }

// A Notice is a request as approvers are notified of it, with all that they need to answer it. It
// is shared and must not be changed.
type Notice struct {
	Request // as it is recorded: sensitive values are masked

	// Shown holds the arguments with which the handler will run, as an approver may
	// see them. Values that the declaration reveals are not masked: do not store
	// Shown. It is nil when the call is over. It is no part of the JSON form: package
	// view makes what a viewer may see.
	Shown       json.RawMessage      `json:"-"`
	Title       string               `json:"title,omitempty"`
	Description string               `json:"description,omitempty"` // of the tool
	Covers      []runtime.GrantCover `json:"covers,omitempty"`      // what a standing grant may cover, the narrowest first

	// Command is what the call would run; nil: the tool has a handler, or the call is over. Sensitive
	// members are no part of it.
	Command *runtime.Invocation `json:"command,omitempty"`
}
