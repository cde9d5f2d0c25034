package runtime

import (
	"errors"
	"fmt"
	"iter"
	"slices"
)

// A Registry is an immutable, ordered set of tools.
type Registry struct {
	tools []*Tool
	index map[string]int
}

// NewRegistry returns the registry of tools, in that order. The error names every tool that cannot
// be used, not only the first.
func NewRegistry(tools ...*Tool) (*Registry, error) {
	r := &Registry{tools: slices.Clone(tools), index: make(map[string]int, len(tools))}
	var errs []error
	for i, t := range r.tools {
		if t == nil || t.spec == nil {
			errs = append(errs, fmt.Errorf("tool %d of the registry is nil: make it with NewTool", i))
			continue
		}
		if first, taken := r.index[t.spec.Name]; taken {
			errs = append(errs, fmt.Errorf("tool %q is registered twice, at %d and %d: remove one", t.spec.Name, first, i))
			continue
		}
		r.index[t.spec.Name] = i
		for _, err := range append(t.spec.problems(), t.err, t.withoutCommand()) {
			if err != nil {
				errs = append(errs, fmt.Errorf("tool %q: %w", t.spec.Name, err))
			}
		}
	}
	errs = append(errs, r.enter()...)
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return r, nil
}

// enter adds the other names under which tools are called to the index. A name belongs to one tool.
func (r *Registry) enter() (errs []error) {
	for i, t := range r.tools {
		if t == nil || t.spec == nil {
			continue
		}
		for _, name := range append(slices.Clone(t.spec.RenamedFrom), t.spec.Alias) {
			if name == "" {
				continue
			}
			if first, taken := r.index[name]; taken {
				errs = append(errs, fmt.Errorf("tool %q: %q names tool %q already: choose another alias or former name", t.spec.Name, name, r.tools[first].spec.Name))
				continue
			}
			r.index[name] = i
		}
	}
	return errs
}

// Lookup returns the tool with that name, alias or former name, and its position (SEMANTICS 1.5.1).
func (r *Registry) Lookup(name string) (t *Tool, i int, ok bool) {
	if r == nil {
		return nil, 0, false
	}
	i, ok = r.index[name]
	if !ok {
		return nil, 0, false
	}
	return r.tools[i], i, true
}

// Len returns the number of tools.
func (r *Registry) Len() int {
	if r == nil {
		return 0
	}
	return len(r.tools)
}

// All yields every tool with its position, in registration order.
func (r *Registry) All() iter.Seq2[int, *Tool] {
	if r == nil {
		return slices.All[[]*Tool](nil)
	}
	return slices.All(r.tools)
}

// Names returns the names of the tools, in registration order.
func (r *Registry) Names() []string {
	names := make([]string, 0, r.Len())
	for _, t := range r.All() {
		names = append(names, t.spec.Name)
	}
	return names
}

// problems returns everything that is wrong with s.
func (s *Spec) problems() (errs []error) {
	report := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	report(!validName(s.Name), "the name %q is not [a-z][a-z0-9_]{0,63}", s.Name)
	report(s.Effect > SideEffectRead, "%v is not a side effect", s.Effect)
	report(s.Deadline < 0, "the deadline %v is negative", s.Deadline)
	l := s.Limits
	report(l.Input < 0 || l.Output < 0 || l.Memory < 0 || l.Concurrency < 0 || l.Queue < NoQueue, "a limit is negative: %+v", l)
	report(l.Queue != 0 && l.Concurrency == 0, "limits.queue without limits.concurrency: there is nothing to wait for")
	report(s.Artifact != nil && s.Artifact.Over < 0, "artifact.over is negative")
	for _, m := range s.Modes {
		report(m.Name == "" || len(m.Values) == 0, "the mode %q has no values: the tool could never run", m.Name)
	}
	return errs
}

// validName reports whether name is [a-z][a-z0-9_]{0,63}.
func validName(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := 'a' <= c && c <= 'z'
		if !letter && (i == 0 || c != '_' && (c < '0' || c > '9')) {
			return false
		}
	}
	return 0 < len(name) && len(name) <= 64
}

// InputLimit returns how many bytes an input of the tool may have.
func (s *Spec) InputLimit() int {
	if s.Limits.Input > 0 {
		return int(s.Limits.Input)
	}
	return DefaultInputLimit
}
