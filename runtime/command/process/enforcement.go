package process

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ambit-tools/ambit/runtime"
)

// An Enforcement is what a runner makes of a spec on this host.
type Enforcement struct {
	Tier       runtime.Tier `json:"tier"`
	Namespaces bool         `json:"namespaces"` // the box has some of its own
	Limits     []LimitLevel `json:"limits"`
}

// A LimitLevel is the level of one limit, and why it is not a stronger one.
type LimitLevel struct {
	Name  runtime.LimitName `json:"name"`
	Level runtime.Level     `json:"level"`
	Note  string            `json:"note,omitempty"`
}

// Of returns the level of a limit. A limit that the enforcement does not name is refused.
func (e Enforcement) Of(name runtime.LimitName) LimitLevel {
	for _, l := range e.Limits {
		if l.Name == name {
			return l
		}
	}
	return LimitLevel{Name: name, Level: runtime.LevelRefused, Note: "this runner does not know it"}
}

// Holds is nil when each limit that a spec names is held at the level that the spec accepts.
func (e Enforcement) Holds(spec *Spec) error {
	var all []error
	names := make([]runtime.LimitName, 0, len(spec.Accepts))
	for name := range spec.Accepts {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if is, want := e.Of(name), spec.Accepts[name]; is.Level > want {
			all = append(all, fmt.Errorf("process: the limit %s is %s here and the declaration takes no less than %s (%s): declare `enforcement: %s`, or change the tier or the host",
				name, is.Level, want, is.Note, is.Level))
		}
	}
	return errors.Join(all...)
}
