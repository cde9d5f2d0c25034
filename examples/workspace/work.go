package main

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/ambit-tools/ambit/examples/workspace/filetools"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/opa"
)

//go:embed files
var files embed.FS

//go:embed filetools/policy
var policies embed.FS

// farewell is how long handlers that were given up may take to return.
const farewell = 5 * time.Second

// work makes the calls and reports their outcomes. Whatever happens on the way,
// the summary is printed and a temporary directory removed.
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
	rep := &report{out: stdout, json: cfg.json, place: oneLine(cfg.dir)}
	if cfg.dir == "" {
		rep.place = "a temporary copy"
	}
	err = execute(ctx, exec, cfg, calls(ctx, name, source), rep)
	closing, stop := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer stop()
	err = errors.Join(err, exec.Shutdown(closing)) // now it is known what became of late writes
	return errors.Join(err, rep.summary(&handler.late))
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
	// An example may run on a machine that is busy with other things. Panics and
	// raw errors go to the operator; the agent sees a safe text.
	return runtime.NewExecutor(reg, policy, runtime.WithPolicyTimeout(2*time.Second), runtime.WithErrorHandler(func(e *runtime.CallError) {
		var fault error = e
		if errors.Is(e, runtime.ErrFenced) { // which names the call itself
			fault = e.Err
		}
		fmt.Fprintf(stderr, "operator: %s\n", oneLine(fault.Error()))
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
		if err := rep.add(turn.Execute(ctx, runtime.Call{ID: c.ID, Tool: c.Tool, Input: c.Input})); err != nil {
			return err
		}
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
