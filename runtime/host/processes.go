package host

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/ambit-tools/ambit/internal/running"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/isolate"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host/tokens"
	"github.com/ambit-tools/ambit/runtime/host/webhook"
	"github.com/ambit-tools/ambit/runtime/store/audit"
)

// SetProcesses changes how many processes of commands run at once, to at least one.
func (h *Host) SetProcesses(n int) { h.Executor.SetProcesses(n) }

// command returns the place of the first tool that is a command, -1 where there is none.
func (c *Config) command() int {
	return slices.IndexFunc(c.Tools, func(t *runtime.Tool) bool { return t.Spec().Command != nil })
}

// processes returns the options of the executor for tools that are commands, none where there is no such tool.
func (h *Host) processes() ([]engine.Option, error) {
	first := h.cfg.command()
	if first < 0 {
		return nil, nil
	}
	dir, err := filepath.Abs(h.cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("host: %w", err)
	}
	own := h.cfg
	own.Dir = dir
	cfg := engine.ProcessConfig{
		Runner: own.Runner, Caches: cmp.Or(own.Caches, own.path(".caches")), Spool: own.path(".spool"), Processes: own.Processes, Protected: own.protected(),
	}
	if own.Workspace != "" {
		if cfg.Workspace, err = filepath.Abs(own.Workspace); err != nil {
			return nil, fmt.Errorf("host: %w", err)
		}
	}
	if cfg.Runner == nil {
		boxes := own.path(".boxes")
		if err := os.MkdirAll(boxes, 0o700); err != nil {
			return nil, fmt.Errorf("host: %w", err)
		}
		if cfg.Runner, err = isolate.New(isolate.Options{Folder: boxes}); err != nil {
			return nil, fmt.Errorf("host: tool %q is a command: %w", h.cfg.Tools[first].Name(), err)
		}
	}
	return []engine.Option{engine.WithProcesses(cfg)}, nil
}

// protected returns the paths that no command may reach: every file of the store and of its audit log, the
// inbox, keys and tokens, and the segments. Dir is absolute.
func (c *Config) protected() []string {
	list := []string{c.Dir, c.archives(), tokens.FileOf(c.path(""))}
	for _, suffix := range []string{
		"", "-wal", "-shm", ".lock", ".fence", ".keys", ".keys.new", ".audit", ".audit" + audit.PublicSuffix, ".anchor", ".objects", ".undo", ".inbox", ".boxes", running.Suffix,
	} {
		list = append(list, c.path(suffix))
	}
	for i := range c.Webhooks {
		list = append(list, string(webhook.FileFor(c.path(""), &c.Webhooks[i])))
	}
	return list
}
