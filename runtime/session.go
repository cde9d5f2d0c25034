package runtime

import (
	"context"
	"time"
)

// A SessionConfig describes a Session. It is copied.
type SessionConfig struct {
	ID           string // empty: one is made
	Principal    string // on whose behalf the calls are made
	Capabilities []string
	Behavior     string            // what the agent is doing; empty: none
	Modes        map[string]string // name of a mode to its value
}

// A Session is a principal's long-lived conversation.
type Session struct{}

// A RunConfig describes a Run.
type RunConfig struct {
	ID string // empty: one is made
}

// A Run is one request of a user, handled to its end.
type Run struct{}

// A TurnConfig describes a Turn.
type TurnConfig struct {
	Budget time.Duration // for all calls of the turn together; 0: none
}

// A Turn is one message of the model and its calls.
type Turn struct{}

// A Call is what a model asks for.
type Call struct {
	ID       string // the caller's id, unique in the session; empty: one is made
	Tool     string
	Input    []byte            // JSON
	Metadata map[string]string // for the handler; not judged
}

// Session starts a session.
func (e *Executor) Session(cfg SessionConfig) *Session { return nil }

// StartRun starts a run of s.
func (s *Session) StartRun(ctx context.Context, cfg RunConfig) (*Run, error) { return nil, nil }

// Turn starts a turn of r. Its budget runs from now.
func (r *Run) Turn(cfg TurnConfig) *Turn { return nil }

// Execute carries out a call and returns how it ended.
func (t *Turn) Execute(ctx context.Context, call Call) Outcome { return Outcome{} }

// WhatIf judges a call as Execute would.
func (t *Turn) WhatIf(ctx context.Context, call Call) Verdict { return Verdict{} }

// A Verdict is what WhatIf found out.
type Verdict struct {
	Runs     bool     // the handler would be started
	Outcome  Outcome  // why not, when it would not
	Decision Decision // of the policy; zero when it was not asked
	Input    []byte   // JSON of what the handler would get; nil when invalid
}

// RunStatus is how a run stands.
type RunStatus struct {
	ID        string
	State     RunState
	Counts    map[string]int // invocations per tool; tools with none are left out
	Succeeded map[string]bool
	Active    int // calls without an outcome
}

// RunState is where a run stands.
type RunState uint8

// The states of a run.
const (
	RunRunning RunState = iota
	RunWaiting
	RunCleanup
	RunFinished
	RunIncomplete
	RunClosed
)

// Status tells how r stands.
func (r *Run) Status() RunStatus { return RunStatus{} }

// Close ends r.
func (r *Run) Close(ctx context.Context) error { return nil }
