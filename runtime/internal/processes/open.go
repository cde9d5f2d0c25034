package processes

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/spool"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
)

// Open finds what the commands among a list of tools need on this host. The error names every tool
// that cannot run, each with all that it lacks. Without commands it is an empty set. A command of the
// list gets as its handler what runs its process.
func Open(list []tools.Tool, s *sched.Scheduler, cfg Config) (*Set, error) {
	set := &Set{runner: cfg.Runner, sched: s, commands: make([]*Command, len(list)), live: map[string]*running{}}
	if cfg.Spool != "" {
		set.spool, cfg.Protected = spool.Folder(cfg.Spool), append(slices.Clone(cfg.Protected), cfg.Spool)
	}
	set.slots.Open(cmp.Or(cfg.Processes, DefaultProcesses), 0)
	if cfg.Variable == nil {
		cfg.Variable = os.LookupEnv
	}
	var all []error
	for i := range list {
		t := &list[i]
		if t.Hooks.Command == nil || t.Hooks.Run != nil { // a handler, or the stand-in of a command
			continue
		}
		c, err := set.open(t, &cfg)
		if err != nil {
			all = append(all, fmt.Errorf("tool %q: %w", t.Spec.Name, err))
		}
		if c != nil {
			hooks := *t.Hooks // those of the registry are of all executors
			hooks.Run = c.handle
			t.Hooks = &hooks
		}
		set.commands[i] = c
	}
	if err := errors.Join(all...); err != nil {
		return nil, err
	}
	return set, nil
}

// open finds what one command needs.
func (s *Set) open(t *tools.Tool, cfg *Config) (*Command, error) {
	d := t.Spec.Command
	switch {
	case d == nil:
		return nil, errors.New("it has the code of a command and no declaration of one: make it with NewCommandTool")
	case cfg.Runner == nil:
		return nil, errors.New("it is a command and the executor has no runner of processes: give one with engine.WithProcesses, as package host does, or with runtimetest.FakeRunner in a test")
	}
	c := &Command{set: s, tool: t, declared: d, code: t.Hooks.Command, grace: cmp.Or(d.StopGrace, DefaultGrace)}
	c.spec = process.SpecOf(d, t.OutputLimit(), t.Deadline())
	c.spec.Workspace, c.spec.Protected = cfg.Workspace, cfg.Protected
	all := []error{c.checkDeclared(), c.setEnv(cfg), c.setReads(cfg), c.setCaches(cfg), c.setDir(cfg), c.find()}
	if err := errors.Join(all...); err != nil {
		return nil, err
	}
	var err error
	if c.Levels, err = cfg.Runner.Enforces(c.spec); err != nil {
		return nil, err //nolint:wrapcheck // it names the limit
	}
	return c, nil
}

// checkDeclared checks what a declaration that was written in Go may have wrong.
func (c *Command) checkDeclared() error {
	var all []error
	if c.grace < 0 || c.grace > maxGrace {
		all = append(all, fmt.Errorf("stop_grace is %s: write %s or less", c.grace, maxGrace))
	}
	table := process.Exits{}
	for _, x := range c.declared.Exits {
		table[x.Code] = x.Category
	}
	return errors.Join(append(all, table.Check())...)
}

// value returns a declared value, or that of the variable of the host that it names.
func (cfg *Config) value(key, text string) (string, error) {
	name, isVariable := strings.CutPrefix(text, "$")
	if !isVariable {
		return text, nil
	}
	v, set := cfg.Variable(name)
	if !set || v == "" {
		return "", fmt.Errorf("%s takes $%s of the host, which is not set: set it, or write the value", key, name)
	}
	return v, nil
}

// setEnv sets the variables that are declared.
func (c *Command) setEnv(cfg *Config) error {
	var all []error
	for _, v := range c.declared.Env {
		value, err := cfg.value("env: "+v.Name, v.Value)
		all = append(all, err)
		c.env = append(c.env, v.Name+"="+value)
	}
	return errors.Join(all...)
}

// setReads sets what may be read beside the workspace.
func (c *Command) setReads(cfg *Config) error {
	var all []error
	for _, text := range c.declared.Reads {
		path, err := cfg.value("reads", text)
		if err == nil && !filepath.IsAbs(path) {
			err = fmt.Errorf("reads: %s is %q, which is no absolute path", text, path)
		}
		if err == nil {
			_, err = os.Stat(path)
		}
		if err != nil {
			all = append(all, err)
			continue
		}
		c.spec.Reads = append(c.spec.Reads, filepath.Clean(path))
	}
	return errors.Join(all...)
}

// setCaches makes the folders of the caches, and sets their variables.
func (c *Command) setCaches(cfg *Config) error {
	if len(c.declared.Caches) == 0 {
		return nil
	}
	if cfg.Caches == "" {
		return errors.New("it declares caches and the executor has no folder for them: set Caches of engine.WithProcesses, as package host does")
	}
	root, err := filepath.Abs(cfg.Caches)
	if err != nil {
		return fmt.Errorf("caches: %w", err)
	}
	var all []error
	for _, v := range c.declared.Caches {
		if v.Value != filepath.Base(v.Value) || !filepath.IsLocal(v.Value) || v.Value == "." {
			all = append(all, fmt.Errorf("caches: %q is no name of a folder", v.Value))
			continue
		}
		dir := filepath.Join(root, c.tool.Spec.Name, v.Value)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			all = append(all, fmt.Errorf("caches: %w", err))
		}
		c.spec.Caches, c.env = append(c.spec.Caches, dir), append(c.env, v.Name+"="+dir)
	}
	return errors.Join(all...)
}

// setDir sets the folder in which the program runs.
func (c *Command) setDir(cfg *Config) error {
	switch d := c.declared.Dir; {
	case cfg.Workspace != "" && !filepath.IsAbs(cfg.Workspace):
		return fmt.Errorf("the workspace %q is no absolute path", cfg.Workspace)
	case d == "":
		c.dir = cfg.Workspace
	case cfg.Workspace == "":
		return fmt.Errorf("dir: %q is below a workspace and the executor has none: give it one, or remove dir", d)
	case !filepath.IsLocal(d):
		return fmt.Errorf("dir: %q is not below the workspace", d)
	default:
		c.dir = filepath.Join(cfg.Workspace, d)
	}
	return nil
}

// find finds the program on the PATH of the command. A host's own PATH does not count.
func (c *Command) find() (err error) {
	path := process.DefaultPath
	for _, v := range c.env {
		if p, declared := strings.CutPrefix(v, "PATH="); declared {
			path = p
		}
	}
	if c.program, err = process.Find(c.declared.Program, path); err != nil {
		return err //nolint:wrapcheck // it names the program
	}
	return c.spec.CheckProgram(c.program) //nolint:wrapcheck // likewise
}
