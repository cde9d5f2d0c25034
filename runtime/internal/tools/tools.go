// Package tools has a tool as the executor calls it, and the values of one call of it. It reads no
// call: what depends on one is an argument.
package tools

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/bind"
	"github.com/ambit-tools/ambit/runtime/internal/entry"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/jsonedit"
	"github.com/ambit-tools/ambit/runtime/internal/redact"
	"github.com/ambit-tools/ambit/runtime/internal/ruleinput"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
)

// A Tool is a registered tool with the code that the executor calls. A nil *Tool is a tool that is
// not declared: the methods that accept it say so.
type Tool struct {
	Spec  *runtime.Spec
	Hooks *bind.Hooks
	Index int // in the registry

	// Recorded is set for the tool of a call that a replay makes again as it was recorded: neither rules nor limits refuse it.
	Recorded bool

	outputs func() *redact.Schema // returns the schema in Spec.OutputSchema, parsed at first use
}

// Of returns the tools of reg, in its order.
func Of(reg *runtime.Registry) []Tool {
	list := make([]Tool, 0, reg.Len())
	for i, t := range reg.All() {
		spec := t.Spec()
		list = append(list, Tool{
			Spec: spec, Hooks: t.Hooks(bind.Access{}), Index: i,
			outputs: sync.OnceValue(func() *redact.Schema { return redact.ParseSchema(*spec.OutputSchema) }),
		})
	}
	return list
}

// Specs returns the declarations of tools, in their order.
func Specs(list []Tool) []*runtime.Spec {
	specs := make([]*runtime.Spec, len(list))
	for i := range list {
		specs[i] = list[i].Spec
	}
	return specs
}

// CheckStore returns an error when tools declare artifact and there is no store for their outputs.
func CheckStore(list []Tool, s runtime.ArtifactStore) error {
	var names []string
	for _, t := range list {
		if t.Spec.Artifact != nil {
			names = append(names, wording.Quote(t.Spec.Name))
		}
	}
	if s != nil || names == nil {
		return nil
	}
	return fmt.Errorf("there is no store for the outputs of %s, which declare artifact: give one with WithArtifacts", strings.Join(names, ", "))
}

// Is reports whether a call that is recorded under a name is one of t, which may be nil: the name is that of the tool, or
// an earlier one (SEMANTICS 1.5.3).
func (t *Tool) Is(name string) bool {
	return t != nil && (name == t.Spec.Name || slices.Contains(t.Spec.RenamedFrom, name))
}

// Deadline returns how long one attempt may take.
func (t *Tool) Deadline() time.Duration {
	if t.Spec.Deadline > 0 {
		return t.Spec.Deadline
	}
	return runtime.DefaultDeadline
}

// InputLimit returns how many bytes an input may have; t may be nil.
func (t *Tool) InputLimit() int {
	if t == nil {
		return runtime.DefaultInputLimit
	}
	return t.Spec.InputLimit()
}

// OutputLimit returns how many bytes an output may have.
func (t *Tool) OutputLimit() int64 {
	if t.Spec.Limits.Output > 0 {
		return t.Spec.Limits.Output
	}
	return runtime.DefaultOutputLimit
}

// Undoable reports whether the declaration has undo; t may be nil.
func (t *Tool) Undoable() bool { return t != nil && t.Spec.Undo != nil }

// Restore returns the values of a recorded call of t, which may be nil. key is that of the recorded digests.
func (t *Tool) Restore(r *history.Call, key ruleinput.Key, now time.Time) entry.Values {
	if t == nil {
		return entry.Restore(r, nil, nil, key, now)
	}
	return entry.Restore(r, t.Spec, t.Hooks, key, now)
}

// OnlyReads reports whether a call has no effect that could be undone; t may be nil.
func (t *Tool) OnlyReads() bool {
	return t != nil && t.Spec.Effect == runtime.SideEffectRead && t.Spec.Undo == nil
}

// Place returns what the output schema says about p.
func (t *Tool) Place(p jsonedit.Pointer) redact.Place {
	if s := t.Spec.OutputSchema; s == nil || *s == "" { // only the handler knows
		return redact.PlaceOpen
	}
	root := t.outputs()
	if root == nil {
		return redact.PlaceNone
	}
	return root.Place(p)
}

// Periodic returns the specs of the tools that declare every. It fails for one that declares no args.
func Periodic(list []Tool) (specs []*runtime.Spec, err error) {
	for _, t := range list {
		if t.Spec.Every <= 0 {
			continue
		}
		if t.Spec.Args == "" {
			return nil, fmt.Errorf("tool %q is periodic and declares no args: add the arguments of its calls", t.Spec.Name)
		}
		specs = append(specs, t.Spec)
	}
	return specs, nil
}
