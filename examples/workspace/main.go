// Workspace is an agent that works on a real directory through generated tools.
//
// It makes the calls of calls.jsonl, or of the file named with -calls, on a
// temporary copy of its own files, or on the directory named with -dir, and
// prints how each call ended. Refused and failed calls are outcomes, not errors:
// the exit code is 0 when every call was answered.
package main

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"time"

	"github.com/ambit-tools/ambit/examples/workspace/filetools"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/opa"
)

//go:embed files
var files embed.FS

//go:embed filetools/policy
var policies embed.FS

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// config is what the command line says.
type config struct {
	dir, calls, behavior, webMode string
	json                          bool
}

// run does the work of main and returns the exit code: 0, 1 for an error, 2 for
// a wrong command line.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var cfg config
	flags := flag.NewFlagSet("workspace", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&cfg.dir, "dir", "", "work on this `directory` instead of a temporary copy of the example's files")
	flags.StringVar(&cfg.calls, "calls", "", "read the calls from this `file` of JSON lines, - for standard input")
	flags.StringVar(&cfg.behavior, "behavior", "draft", "what the agent is doing: draft or doc_edit")
	flags.StringVar(&cfg.webMode, "web", "off", "value of the mode web_mode: off, cached or live")
	flags.BoolVar(&cfg.json, "json", false, "print outcomes as JSON lines")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "error: unexpected argument %q\nhint: name the directory with -dir\n", flags.Arg(0))
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := work(ctx, cfg, stdin, stdout, stderr); err != nil {
		fmt.Fprintf(stderr, "error: %v\n", err)
		return 1
	}
	return 0
}

// work makes the calls and reports their outcomes.
func work(ctx context.Context, cfg config, stdin io.Reader, stdout, stderr io.Writer) (err error) {
	source, name, err := openCalls(cfg.calls, stdin)
	if err != nil {
		return err
	}
	defer source.Close()
	dir, cleanup, err := openDir(cfg.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cleanup()) }()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	web, err := openLibrary()
	if err != nil {
		return err
	}
	defer web.close()

	handler := &workspace{root: root, web: web}
	exec, err := newExecutor(handler, stderr)
	if err != nil {
		return err
	}
	rep := &report{out: stdout, json: cfg.json, dir: dir}
	if err := execute(ctx, exec, cfg, calls(name, source), rep); err != nil {
		return err
	}
	handler.late.running.Wait() // so that the summary can say what became of late writes
	rep.summary(&handler.late)
	return exec.Shutdown(ctx)
}

// newExecutor binds the generated tools to handler and the policy to both.
func newExecutor(handler filetools.Handler, stderr io.Writer) (*runtime.Executor, error) {
	reg, err := runtime.NewRegistry(filetools.Tools(handler)...)
	if err != nil {
		return nil, err
	}
	rules, err := fs.Sub(policies, "filetools/policy")
	if err != nil {
		return nil, err
	}
	policy, err := opa.Load(rules, reg)
	if err != nil {
		return nil, err
	}
	// Panics and raw errors go to the operator; the agent sees a safe text.
	return runtime.NewExecutor(reg, policy, runtime.WithErrorHandler(func(e *runtime.CallError) {
		fmt.Fprintf(stderr, "operator: %v\n", e)
	}))
}

// execute makes every call in one turn of one run.
func execute(ctx context.Context, exec *runtime.Executor, cfg config, source callSeq, rep *report) error {
	session := exec.Session(runtime.SessionConfig{
		Principal:    "agent",
		Behavior:     cfg.behavior,
		Modes:        map[string]string{"web_mode": cfg.webMode},
		Capabilities: []string{"filesystem.read", "filesystem.write", "network.read"},
	})
	job, err := session.StartRun(ctx, runtime.RunConfig{})
	if err != nil {
		return err
	}
	turn := job.Turn(runtime.TurnConfig{Budget: 10 * time.Minute})
	for c, err := range source {
		if err != nil {
			return err
		}
		rep.add(turn.Execute(ctx, runtime.Call{ID: c.ID, Tool: c.Tool, Input: c.Input}))
	}
	return job.Close(ctx)
}

// openCalls returns where calls are read from and its name for errors.
func openCalls(path string, stdin io.Reader) (io.ReadCloser, string, error) {
	switch path {
	case "":
		return io.NopCloser(bytes.NewReader(script)), "calls.jsonl", nil
	case "-":
		return io.NopCloser(stdin), "standard input", nil
	}
	f, err := os.Open(path)
	return f, path, err
}

// openDir returns the directory to work on: dir, or a temporary copy of the
// example's own files, which cleanup removes.
func openDir(dir string) (path string, cleanup func() error, err error) {
	if dir != "" {
		return dir, func() error { return nil }, nil
	}
	path, err = os.MkdirTemp("", "ambit-workspace-")
	if err != nil {
		return "", nil, err
	}
	cleanup = func() error { return os.RemoveAll(path) }
	own, err := fs.Sub(files, "files")
	if err == nil {
		err = os.CopyFS(path, own)
	}
	if err != nil {
		return "", nil, errors.Join(err, cleanup())
	}
	return path, cleanup, nil
}
