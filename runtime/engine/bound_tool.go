package engine

import (
	"sync"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/bind"
	"github.com/ambit-tools/ambit/runtime/internal/redact"
)

// A tool is a registered Tool with the code that the executor calls.
type tool struct {
	*runtime.Tool
	spec  *runtime.Spec
	hooks *bind.Hooks

	outputs func() *redact.Schema // returns the schema in spec.OutputSchema, parsed at first use
}

// bound returns the tools of reg, in its order.
func bound(reg *runtime.Registry) []tool {
	tools := make([]tool, 0, reg.Len())
	for _, t := range reg.All() {
		spec := t.Spec()
		tools = append(tools, tool{
			Tool: t, spec: spec, hooks: t.Hooks(bind.Access{}),
			outputs: sync.OnceValue(func() *redact.Schema { return redact.ParseSchema(*spec.OutputSchema) }),
		})
	}
	return tools
}

// lookup returns the tool with that name and its position in the registry, nil when there is none.
func (e *Executor) lookup(name string) (t *tool, i int) {
	_, i, ok := e.reg.Lookup(name)
	if !ok {
		return nil, 0
	}
	return &e.tools[i], i
}

// inputLimit returns how many bytes an input of t may have; t may be nil.
func inputLimit(t *tool) int {
	if t == nil {
		return runtime.DefaultInputLimit
	}
	return t.spec.InputLimit()
}
