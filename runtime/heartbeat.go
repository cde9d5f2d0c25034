package runtime

import (
	"github.com/ambit-tools/ambit/runtime/internal/jsonedit"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// heartbeatName is the member that tools which declare heartbeat take beside
// their own: whether the model wants to go on after the call.
const heartbeatName = "request_heartbeat"

// read decodes an input of a call: what the tool declares, and request_heartbeat
// if it takes that. The latter is no part of the arguments, whose text is rest.
func (t *Tool) read(input []byte) (v wire.Value, rest []byte, heartbeat bool, violations []wire.Violation) {
	if !t.spec.Heartbeat {
		v, violations = t.Decode(input)
		return v, input, false, violations
	}
	rest, value := jsonedit.Take(input, heartbeatName, t.spec.inputLimits())
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
