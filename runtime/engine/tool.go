package engine

import (
	"sync"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/bind"
	"github.com/ambit-tools/ambit/runtime/internal/jsonedit"
	"github.com/ambit-tools/ambit/runtime/internal/redact"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A tool is a registered Tool with the code that the executor calls.
type tool struct {
	*runtime.Tool
	spec  *runtime.Spec
	hooks *bind.Hooks

	outputs func() *redact.Schema // returns the schema in spec.OutputSchema, parsed at first use
}

// read decodes an input of a call: the arguments, and request_heartbeat if the tool declares
// heartbeat. rest is the text of the arguments, without request_heartbeat.
func (t *tool) read(input []byte) (v wire.Value, rest []byte, heartbeat bool, violations []wire.Violation) {
	if !t.spec.Heartbeat {
		v, violations = t.Decode(input)
		return v, input, false, violations
	}
	rest, value := jsonedit.Take(input, heartbeatName, wire.Limits{Size: t.spec.InputLimit()})
	v, violations = t.Decode(rest)
	switch string(value) {
	case "", "false":
	case "true":
		heartbeat = true
	default:
		actual := wire.Violation{Pointer: "/" + heartbeatName, Keyword: "type", Expected: "boolean", Actual: string(value[:min(len(value), 64)])}
		violations = append(violations, actual)
	}
	return v, rest, heartbeat, violations
}

// heartbeatName is the member that an input has beside the arguments if its tool declares
// heartbeat. It says whether the model wants to continue after the call.
const heartbeatName = "request_heartbeat"

// place returns what the output schema of the tool says about p.
func (t *tool) place(p jsonedit.Pointer) redact.Place {
	if s := t.spec.OutputSchema; s == nil || *s == "" { // only the handler knows
		return redact.PlaceOpen
	}
	root := t.outputs()
	if root == nil {
		return redact.PlaceNone
	}
	return root.Place(p)
}

// toolsOf returns the tools of reg, in its order.
func toolsOf(reg *runtime.Registry) []tool {
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

// inputLimit returns how many bytes an input of t may have; t may be nil.
func inputLimit(t *tool) int {
	if t == nil {
		return runtime.DefaultInputLimit
	}
	return t.spec.InputLimit()
}
