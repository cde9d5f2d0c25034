package clerk

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing/fstest"
	"time"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/command/isolate"
	"github.com/ambit-tools/ambit/runtime/content"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/opa"
	"github.com/ambit-tools/ambit/runtime/store/audit"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// An app is the executor and what it is joined to.
type app struct {
	store *sqlite.Store
	exec  *engine.Executor
	open  []func() error // to be closed, the last first
}

func (a *app) add(f func() error) { a.open = append(a.open, f) }

func (a *app) close() (err error) {
	for i := len(a.open) - 1; i >= 0; i-- {
		err = errors.Join(err, a.open[i]())
	}
	return err
}

// artifacts stores the outputs of calls.
type artifacts struct{ *content.Store }

// Put implements runtime.ArtifactStore.
func (a artifacts) Put(ctx context.Context, _ runtime.ArtifactRef, data []byte) error {
	_, err := a.Store.Put(ctx, data)
	return err
}

// Get implements runtime.ArtifactStore.
func (a artifacts) Get(ctx context.Context, ref runtime.ArtifactRef) ([]byte, error) {
	return a.Store.Get(ctx, content.Ref{SHA256: ref.SHA256, Size: ref.Bytes})
}

// start starts the application. What was opened has to be closed, also after an error.
func start(ctx context.Context, cfg *config, stderr io.Writer) (a *app, err error) {
	a = new(app)
	if cfg.host {
		return a, a.hosted(ctx, cfg, stderr)
	}
	if a.store, err = sqlite.Open(cfg.store, sqlite.WithWait(time.Minute)); err != nil {
		return a, err
	}
	a.add(a.store.Close)
	j, err := a.audited(ctx, cfg)
	if err != nil {
		return a, err
	}
	objects, err := content.Open(cfg.store + ".objects")
	if err != nil {
		return a, err
	}
	a.add(objects.Close)
	list, options, err := toolsOf(cfg)
	if err != nil {
		return a, err
	}
	reg, err := runtime.NewRegistry(list...)
	if err != nil {
		return a, err
	}
	policy, err := policyOf(cfg.policy, reg)
	if err != nil {
		return a, err
	}
	a.exec, err = engine.NewExecutor(reg, policy, append(options, engine.WithJournal(j), engine.WithPendingRequests(), engine.WithArtifacts(artifacts{objects}),
		engine.WithPolicyTimeout(time.Minute), engine.WithErrorHandler(func(e *action.CallError) { fmt.Fprintf(stderr, "operator: %v\n", e) }))...)
	if err != nil {
		return a, err
	}
	if err := a.exec.Recover(ctx); err != nil {
		return a, err
	}
	a.add(a.shutdown)
	return a, nil
}

// shutdown tells what still runs to stop.
func (a *app) shutdown() error {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	_ = a.exec.Shutdown(over)
	return nil
}

// toolsOf returns the tools, and the options that they need.
func toolsOf(cfg *config) (list []*runtime.Tool, options []engine.Option, err error) {
	list = cfg.tools()
	if !cfg.commands {
		return list, nil, nil
	}
	runner, err := isolate.New(isolate.Options{})
	return list, []engine.Option{engine.WithProcesses(engine.ProcessConfig{Runner: runner})}, err
}

//go:embed policy
var generated embed.FS

// policyOf returns the policy of a file, and one that allows everything for none.
func policyOf(file string, reg *runtime.Registry) (runtime.Policy, error) {
	if file == "" {
		return runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
			return runtime.Decision{Effect: runtime.EffectAllow}, nil
		}), nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	dir := fstest.MapFS{filepath.Base(file): {Data: text}}
	err = fs.WalkDir(generated, "policy", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := generated.ReadFile(path)
		dir[strings.TrimPrefix(path, "policy/")] = &fstest.MapFile{Data: text}
		return err
	})
	if err != nil {
		return nil, err
	}
	return opa.Load(dir, reg)
}

// audited returns the journal, under an audit log when there is a key for one.
func (a *app) audited(ctx context.Context, cfg *config) (journal.Journal, error) {
	if cfg.key == "" {
		return a.store, nil
	}
	signer, err := audit.ReadSigner(cfg.key)
	if err != nil {
		return nil, err
	}
	var opts []audit.Option
	if cfg.anchor != "" {
		opts = append(opts, audit.WithAnchor(audit.FileAnchor{Path: cfg.anchor}))
	}
	log, err := audit.New(ctx, a.store, audit.NewCheckpoints(a.store), signer, opts...)
	if err != nil {
		return nil, err
	}
	a.add(func() error { return log.Close(context.Background()) })
	return log.Journal(), nil
}
