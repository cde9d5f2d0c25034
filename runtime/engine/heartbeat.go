package engine

import (
	"github.com/ambit-tools/ambit/runtime/internal/jsonedit"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// heartbeatName is the member that an input has beside the arguments if its tool declares
// heartbeat. It says whether the model wants to go on after the call.
const heartbeatName = "request_heartbeat"

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
