package engine

import "github.com/ambit-tools/ambit/runtime"

// WithApprover adds an approver that is notified of every request for consent.
func WithApprover(a runtime.Approver) Option {
	return func(e *Executor) { e.approvers = append(e.approvers, a) }
}

// WithPendingRequests says that the application polls Requests and answers through
// Decide. Calls that need consent then wait even when no approver was notified.
func WithPendingRequests() Option {
	return func(e *Executor) { e.polled = true }
}

// DefaultMaxOpenRequests is how many requests of a session wait for answers at
// once when WithMaxOpenRequests does not say otherwise (SEMANTICS section 8).
const DefaultMaxOpenRequests = 100

// WithMaxOpenRequests sets how many requests of a session may wait for answers at once,
// 100 by default. A call that needs one more is denied too_many_pending. The default is
// wrong when sessions rightly ask for more than their approvers can read at a time,
// such as in a batch that a program approves.
func WithMaxOpenRequests(n int) Option {
	return func(e *Executor) { e.approvals.most = n }
}
