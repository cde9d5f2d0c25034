package scripttest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/simulated"
)

// An App is what scripts call.
type App struct {
	// Tools returns the tools; their handlers may work in dir, the folder of the
	// script.
	Tools func(dir string) ([]*runtime.Tool, error)
	// Policy returns the policy that judges calls of the tools in a registry.
	Policy func(*runtime.Registry) (runtime.Policy, error)
	// Session describes the session in which a script's calls are made.
	Session engine.SessionConfig
	// Now is what the clock of a script shows at its beginning; zero:
	// 2000-01-01T00:00:00Z.
	Now time.Time
	// Options are those of the executor of every script. The clock is the script's. Scripts run in parallel: what one of them
	// changes, such as a database, belongs into PerScript. Outputs are stored in memory unless engine.WithArtifacts is
	// among the options; tools that are commands need engine.WithProcesses.
	Options []engine.Option
	// PerScript returns further options for the script that works in dir; nil: none. env.Defer closes what it has opened.
	PerScript func(env *testscript.Env, dir string) ([]engine.Option, error)
}

// Setup adds the commands to scripts. What p.Setup did before it still does.
func Setup(p *testscript.Params, app App) {
	before := p.Setup
	p.Setup = func(env *testscript.Env) error {
		if before != nil {
			if err := before(env); err != nil {
				return err
			}
		}
		s, err := app.start(env)
		if err != nil {
			return fmt.Errorf("scripttest: %w", err)
		}
		env.Values[key{}] = s
		env.Defer(s.end)
		return nil
	}
	cmds := commands()
	for name, cmd := range p.Cmds {
		cmds[name] = cmd
	}
	p.Cmds = cmds
}

type key struct{}

// A script is what belongs to one script.
type script struct {
	app     *App
	env     *testscript.Env
	dir     string
	clock   *simulated.Clock
	exec    *engine.Executor
	session *engine.Session
	run     *engine.Run

	requests map[string]string // by call id

	mu     sync.Mutex
	faults []*action.CallError // that the log of the script has not told yet
}

func (a *App) start(env *testscript.Env) (*script, error) {
	dir := env.WorkDir
	if a.Tools == nil || a.Policy == nil {
		return nil, errors.New("the application has no tools or no policy: set both")
	}
	tools, err := a.Tools(dir)
	if err != nil {
		return nil, err
	}
	reg, err := runtime.NewRegistry(tools...)
	if err != nil {
		return nil, err
	}
	policy, err := a.Policy(reg)
	if err != nil {
		return nil, err
	}
	s := &script{app: a, env: env, dir: dir, clock: simulated.NewClock(), requests: map[string]string{}}
	if !a.Now.IsZero() {
		s.clock = simulated.ClockAt(a.Now)
	}
	opts := append([]engine.Option{
		engine.WithPendingRequests(), engine.WithPolicyTimeout(time.Minute), engine.WithArtifacts(new(runtime.MemoryArtifacts)), engine.WithErrorHandler(s.keep),
	}, a.Options...)
	if a.PerScript != nil {
		own, err := a.PerScript(env, dir)
		if err != nil {
			return nil, err
		}
		opts = append(opts, own...)
	}
	if s.exec, err = engine.NewExecutor(reg, policy, append(opts, engine.WithClock(s.clock))...); err != nil {
		return nil, err
	}
	s.session = s.exec.Session(a.Session)
	s.run, err = s.session.StartRun(context.Background(), engine.RunConfig{})
	return s, err
}

// perform runs f, and lets virtual time pass until f has returned. The log gets the faults of that time.
func (s *script) perform(ts *testscript.TestScript, f func()) {
	ts.Check(s.clock.Perform(f))
	s.tell(ts)
}

// keep keeps a fault for the log.
func (s *script) keep(fault *action.CallError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, fault)
}

// tell writes to the log of the script what its model is not told: raw errors of handlers and policies, and panics.
func (s *script) tell(ts *testscript.TestScript) {
	_ = s.exec.Flush(context.Background()) // its context does not end
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, fault := range s.faults {
		ts.Logf("%v", fault)
	}
	s.faults = nil
}

// end closes the run. It abandons a handler that does not return: the script has
// ended.
func (s *script) end() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = s.clock.Perform(func() { _ = errors.Join(s.run.Close(ctx), s.exec.Shutdown(ctx)) })
}
