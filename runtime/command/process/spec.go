package process

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/runtime"
)

// A Spec says what the processes of a tool may do.
type Spec struct {
	Tier      runtime.Tier
	Workspace string   // may be read; empty: none
	Reads     []string // hierarchies that may be read, absolute
	Caches    []string // folders that may be written and are kept, absolute
	Protected []string // paths that must stay out of reach; one inside the others is an error
	Network   runtime.Network
	Limits    runtime.ProcessLimits

	// Accepts names the limits that a declaration gives, each with the weakest level that it
	// takes. A limit that is not named is one that the declaration is silent about.
	Accepts map[runtime.LimitName]runtime.Level
}

// Check says what is wrong with a spec before any host is asked.
func (s *Spec) Check() error {
	all := s.checkPaths()
	if s.Tier > runtime.TierProcess || s.Network > runtime.NetworkLoopback {
		all = append(all, fmt.Errorf("process: unknown tier %s or network %d", s.Tier, s.Network))
	}
	l := s.Limits
	if l.Memory < 0 || l.Processes < 0 || l.CPU < 0 || l.File < 0 || l.Scratch < 0 || l.Files < 0 || l.Output < 0 {
		all = append(all, errors.New("process: a limit is negative"))
	}
	return errors.Join(all...)
}

// checkPaths says which paths a command may reach and must not, or may write and must only read.
func (s *Spec) checkPaths() (all []error) {
	read := slices.Clone(s.Reads)
	if s.Workspace != "" {
		read = append(read, s.Workspace)
	}
	for _, p := range slices.Concat(read, s.Caches) {
		if !filepath.IsAbs(p) || filepath.Clean(p) != p {
			all = append(all, fmt.Errorf("process: %q is no clean absolute path", p))
		}
	}
	reads, caches := resolveAll(read), resolveAll(s.Caches)
	for i, p := range resolveAll(s.Protected) {
		for _, r := range slices.Concat(reads, caches) {
			if within(p, r) {
				all = append(all, fmt.Errorf("process: %s lies in %s, which the command may reach: move it", s.Protected[i], r))
			}
		}
	}
	for i, c := range caches {
		for _, r := range reads {
			if within(c, r) || within(r, c) {
				all = append(all, fmt.Errorf("process: the cache %s and %s, which the command may only read, lie in one another: move the cache", s.Caches[i], r))
			}
		}
	}
	return all
}

// CheckProgram says whether a program lies where a command, or another tool of its workspace, may
// write: what was hashed could then be replaced by a model.
func (s *Spec) CheckProgram(p *Program) error {
	folders := slices.Clone(s.Caches)
	if s.Workspace != "" {
		folders = append(folders, s.Workspace)
	}
	for i, dir := range resolveAll(folders) {
		if within(resolve(p.Path), dir) {
			return fmt.Errorf("process: the program %s lies in %s, which tools may write: install it elsewhere", p.Path, folders[i])
		}
	}
	return nil
}

func resolveAll(paths []string) []string {
	list := make([]string, len(paths))
	for i, p := range paths {
		list[i] = resolve(p)
	}
	return list
}

// within says whether a path is dir or below it.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// resolve follows the links of the part of a path that exists.
func resolve(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	dir, name := filepath.Split(filepath.Clean(path))
	if dir = filepath.Clean(dir); dir == filepath.Clean(path) {
		return path
	}
	return filepath.Join(resolve(dir), name)
}
