package engine

import (
	"context"
	"time"

	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/lockorder"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// A undoRecorder records what an undo handler does.
type undoRecorder interface {
	// Started returns when the intent to run the handler is durable.
	Started() error

	// Decided returns when the decision to commit, made at a time, is durable. From then on recovery
	// commits what the handler did.
	Decided(at time.Time, seals []journal.Seal) error

	// Concluded takes the result of an undo after Run has returned a pending fault.
	Concluded(*undoFault)
}

// A undoRequest says which handler runs, and for which call.
type undoRequest struct {
	Owner    attemptOwner // the undo, not the call that is undone
	Number   int          // of the attempts of the call
	Effect   rules.Digest // key of the effect of the call
	Deadline time.Duration
	Handler  func(context.Context) error
	Recorder undoRecorder
	Hold     func() // keeps the session of the call until LetGo, for as long as the handler runs or commits
	LetGo    func()
}

// undoHandlers are the undo handlers of an executor that run. The zero value has none. Its methods are
// safe for concurrent use.
type undoHandlers struct {
	mu      lockorder.Mutex[lockorder.Undos]
	running map[*run]struct{}
	halted  bool
}

// Run runs an undo handler and commits what it did. It returns nil when both succeeded. The handler
// ends with its deadline, which ends earlier when ctx ends.
func (h *undoHandlers) Run(ctx context.Context, env *attemptEnv, req undoRequest) *undoFault {
	r := newUndoRun(ctx, env, req)
	if !h.add(r) {
		return &undoFault{Code: action.CodeJournalUnavailable, Err: errHalted}
	}
	defer h.remove(r)
	if err := req.Recorder.Started(); err != nil {
		return &undoFault{Code: action.CodeJournalUnavailable, Err: err}
	}
	return r.execute()
}

// Cancel cancels the contexts of all handlers that run, because the executor is shutting down.
func (h *undoHandlers) Cancel() {
	for _, r := range h.all() {
		r.abort()
	}
}

// Halt ends all runs without recording them, and lets no other begin. The next recovery settles what
// they did.
func (h *undoHandlers) Halt() {
	h.mu.Lock()
	h.halted = true
	h.mu.Unlock()
	for _, r := range h.all() {
		r.end(action.CodeJournalUnavailable, deadline.Canceled)
	}
}

// add adds a run. It reports false when none may begin any more.
func (h *undoHandlers) add(r *run) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.halted {
		return false
	}
	if h.running == nil {
		h.running = map[*run]struct{}{}
	}
	h.running[r] = struct{}{}
	return true
}

// remove removes a run that has ended.
func (h *undoHandlers) remove(r *run) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.running, r)
}

// all returns the runs.
func (h *undoHandlers) all() (list []*run) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for r := range h.running {
		list = append(list, r)
	}
	return list
}
