package runtime

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
)

// A SessionConfig describes a Session. It is copied.
type SessionConfig struct {
	ID           string // empty: one is made
	Principal    string // on whose behalf the calls are made
	Capabilities []string
	Behavior     string            // what the agent is doing; empty: none
	Modes        map[string]string // name of a mode to its value
}

// A Session is a principal's long-lived conversation. It remembers the outcome
// of every call that was made in it, so that a call that is made again under
// its id is answered and not run; a caller ends a session by letting go of it.
type Session struct {
	exec *Executor
	cfg  SessionConfig

	mu     sync.Mutex         // of the session and of its runs
	calls  map[string]*record // by call id
	made   int                // call ids made here
	runs   int
	holder *call         // while it is judged nobody else is admitted
	held   chan struct{} // closed when the holder is through
}

// Session starts a session. Sessions share nothing, whatever their ids.
func (e *Executor) Session(cfg SessionConfig) *Session {
	cfg.Capabilities = slices.Clone(cfg.Capabilities)
	cfg.Modes = maps.Clone(cfg.Modes)
	if cfg.ID == "" {
		cfg.ID = rand.Text()
	}
	return &Session{exec: e, cfg: cfg, calls: map[string]*record{}}
}

// ID returns the id of s.
func (s *Session) ID() string {
	if s == nil {
		return ""
	}
	return s.cfg.ID
}

// StartRun starts a run of s. It fails when ctx is done or the executor is
// shutting down.
func (s *Session) StartRun(ctx context.Context, cfg RunConfig) (*Run, error) {
	if s == nil || s.exec == nil || s.exec.reg == nil {
		return nil, errors.New("a run needs a session of an executor made by NewExecutor")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !s.exec.gate.enter() {
		return nil, errors.New("the executor is shutting down: it starts no runs")
	}
	s.exec.gate.leave()
	if cfg.ID == "" {
		s.mu.Lock()
		s.runs++
		cfg.ID = s.cfg.ID + "/" + strconv.Itoa(s.runs)
		s.mu.Unlock()
	}
	return &Run{session: s, id: cfg.ID, facts: factBook{tools: make([]ToolFacts, s.exec.reg.Len())}}, nil
}

// A RunConfig describes a Run.
type RunConfig struct {
	ID string // empty: one is made
}

// A Run is one request of a user, handled to its end: the calls of all turns
// that it took.
type Run struct {
	session *Session
	id      string
	workers gate // calls of this run whose goroutines have not ended

	facts   factBook // guarded by the session, as the next
	active  []*call  // without an outcome
	closing bool
}

// ID returns the id of r.
func (r *Run) ID() string {
	if r == nil {
		return ""
	}
	return r.id
}

// A RunState says where a run stands.
type RunState uint8

// The states of a run. RunWaiting, RunCleanup and RunIncomplete belong to
// consent and exit rules and are not reached yet.
const (
	RunRunning RunState = iota
	RunWaiting
	RunCleanup
	RunFinished
	RunIncomplete
)

var runStateNames = [...]string{"running", "waiting", "cleanup", "finished", "incomplete"}

// String returns the name of s, such as running.
func (s RunState) String() string { return nameOf("run state", runStateNames[:], s) }

// MarshalText returns the name of s.
func (s RunState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// A RunStatus says how a run stands.
type RunStatus struct {
	ID          string         `json:"run"`
	State       RunState       `json:"state"`
	Invocations map[string]int `json:"invocations"`            // by tool: slots in use, by the principal of the run; tools with none are left out
	Succeeded   []string       `json:"succeeded"`              // tools with a success that was not undone, in registration order
	Active      int            `json:"active"`                 // calls without an outcome
	Waiting     []string       `json:"waiting,omitempty"`      // calls that wait for consent
	PendingExit []string       `json:"pending_exit,omitempty"` // required tools that are open, in registration order
	Reminders   int            `json:"reminders,omitempty"`    // given to a model that stopped
	Reminder    string         `json:"reminder,omitempty"`     // for the model, from ModelStopped
}

// Status tells how r stands.
func (r *Run) Status() RunStatus {
	st := RunStatus{ID: r.ID(), State: RunFinished, Invocations: map[string]int{}}
	if r == nil || r.session == nil {
		return st
	}
	if !r.workers.closed.Load() {
		st.State = RunRunning
	}
	r.session.mu.Lock()
	defer r.session.mu.Unlock()
	st.Active = len(r.active)
	for i, t := range r.session.exec.reg.All() {
		f := r.facts.tools[i]
		if f.Invocations > 0 {
			st.Invocations[t.spec.Name] = int(f.Invocations)
		}
		if f.Successes > 0 {
			st.Succeeded = append(st.Succeeded, t.spec.Name)
		}
	}
	return st
}

// Close ends r: its calls without an outcome are cancelled (run_closed), later
// ones denied run_finished. It waits for the handlers; when ctx ends first the
// error says how many are left.
func (r *Run) Close(ctx context.Context) error {
	if r == nil || r.session == nil {
		return nil
	}
	r.workers.shut()
	r.session.mu.Lock()
	r.closing = true
	active := slices.Clone(r.active)
	r.session.mu.Unlock()
	var ending sync.WaitGroup // at once: each may have to wait for a write under its fence
	for _, c := range active {
		ending.Go(func() { c.cancel(ReasonRunClosed) })
	}
	if left := r.workers.wait(ctx); left > 0 {
		return fmt.Errorf("run %q: %d handlers are still running: %w", r.id, left, context.Cause(ctx))
	}
	ending.Wait()
	return nil
}
