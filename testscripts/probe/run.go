package probe

import (
	"bufio"
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/opa"
)

//go:embed policy
var policies embed.FS

// config is what the flags say.
type config struct {
	session     engine.SessionConfig
	budget      time.Duration
	cancelAfter time.Duration
	parallel    bool
	turns       bool
	shutdown    bool
	verbose     bool
}

// Run is the program. It returns the exit code.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	cfg, err := parse(args, stderr)
	if err != nil {
		return 2
	}
	if err := run(cfg, stdin, stdout, stderr); err != nil {
		fmt.Fprintf(stderr, "error: %v\n", err)
		return 1
	}
	return 0
}

func parse(args []string, stderr io.Writer) (*config, error) {
	cfg := &config{session: engine.SessionConfig{ID: "s", Principal: "script", Modes: map[string]string{}}}
	flags := flag.NewFlagSet("probe", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&cfg.session.Behavior, "behavior", "", "behaviour of the session")
	flags.Func("capability", "capability of the principal", func(s string) error {
		cfg.session.Capabilities = append(cfg.session.Capabilities, s)
		return nil
	})
	flags.Func("mode", "mode of the session, name=value", func(s string) error {
		name, value, _ := strings.Cut(s, "=")
		cfg.session.Modes[name] = value
		return nil
	})
	flags.DurationVar(&cfg.budget, "budget", 0, "budget of the turn")
	flags.DurationVar(&cfg.cancelAfter, "cancel-after", -1, "cancel the calls after this time")
	flags.BoolVar(&cfg.parallel, "parallel", false, "make all calls at once")
	flags.BoolVar(&cfg.turns, "turns", false, "make every call in a turn of its own")
	flags.BoolVar(&cfg.shutdown, "shutdown", false, "shut the executor down before the calls")
	flags.BoolVar(&cfg.verbose, "v", false, "print what operators are told to standard error")
	return cfg, flags.Parse(args)
}

func run(cfg *config, stdin io.Reader, stdout, stderr io.Writer) error {
	calls, err := readCalls(stdin)
	if err != nil {
		return err
	}
	h := new(handler)
	exec, err := newExecutor(h, cfg, stderr)
	if err != nil {
		return err
	}
	ctx := context.Background()
	run, err := exec.Session(cfg.session).StartRun(ctx, engine.RunConfig{ID: "r"})
	if err != nil {
		return err
	}
	if cfg.shutdown {
		if err := exec.Shutdown(ctx); err != nil {
			return err
		}
	}
	for _, out := range execute(cfg, run, calls) {
		printOutcome(stdout, out)
	}
	if err := exec.Shutdown(ctx); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "handlers: %d started, at most %d at once, %d late writes refused\n",
		h.started.Load(), h.mostRunning.Load(), h.lateWrites.Load())
	return nil
}

func newExecutor(h *handler, cfg *config, stderr io.Writer) (*engine.Executor, error) {
	reg, err := runtime.NewRegistry(Tools(h)...)
	if err != nil {
		return nil, err
	}
	fsys, err := fs.Sub(policies, "policy")
	if err != nil {
		return nil, err
	}
	policy, err := opa.Load(fsys, reg)
	if err != nil {
		return nil, err
	}
	return engine.NewExecutor(reg, policy, engine.WithPolicyTimeout(5*time.Second), engine.WithErrorHandler(func(e *action.CallError) {
		if cfg.verbose {
			fmt.Fprintf(stderr, "operator: %v\n", e)
		}
	}))
}

func readCalls(r io.Reader) ([]runtime.Call, error) {
	var calls []runtime.Call
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		if len(lines.Bytes()) == 0 {
			continue
		}
		var line struct {
			Call, Tool, Raw string
			Input           json.RawMessage
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return nil, fmt.Errorf("call %d: %w", len(calls)+1, err)
		}
		if line.Raw != "" {
			line.Input = json.RawMessage(line.Raw)
		}
		calls = append(calls, runtime.Call{ID: line.Call, Tool: line.Tool, Input: line.Input})
	}
	return calls, lines.Err()
}

func execute(cfg *config, run *engine.Run, calls []runtime.Call) []runtime.Outcome {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	switch {
	case cfg.cancelAfter == 0:
		cancel()
	case cfg.cancelAfter > 0:
		defer time.AfterFunc(cfg.cancelAfter, cancel).Stop()
	}
	outs := make([]runtime.Outcome, len(calls))
	turn := run.Turn(engine.TurnConfig{Budget: cfg.budget})
	var wg sync.WaitGroup
	for i, call := range calls {
		if cfg.turns {
			turn = run.Turn(engine.TurnConfig{Budget: cfg.budget})
		}
		if !cfg.parallel {
			outs[i] = turn.Execute(ctx, call)
			continue
		}
		wg.Go(func() { outs[i] = turn.Execute(ctx, call) })
	}
	wg.Wait()
	return outs
}

// maxShown is how much of an output is printed.
const maxShown = 80

func printOutcome(w io.Writer, out runtime.Outcome) {
	line := out.Tool + " " + out.Kind.String()
	for _, reason := range out.AllReasons {
		line += " " + reason.String()
	}
	if out.Of != "" {
		line += " of " + out.Of
	}
	if out.Output != nil {
		line += " " + string(out.Output[:min(len(out.Output), maxShown)])
	}
	if len(out.Violations) == 0 && out.Message != "" {
		line += ": " + out.Message
	}
	fmt.Fprintln(w, line)
	for _, v := range out.Violations {
		fmt.Fprintf(w, "  %s\n", v)
	}
	for _, d := range out.Denials {
		fmt.Fprintf(w, "  %s %s: %s\n", cmp.Or(d.At, "-"), d.Code, d.Message)
	}
}
