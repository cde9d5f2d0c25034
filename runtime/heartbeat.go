package runtime

import (
	"bytes"

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
	rest, value := takeMember(input, heartbeatName, t.spec.inputLimits())
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

// takeMember takes a member out of the object that text is. A text that is not
// strict JSON, or has no such member, is returned as it is.
func takeMember(text []byte, name string, l wire.Limits) (rest, value []byte) {
	if !bytes.Contains(text, []byte(name)) && !bytes.Contains(text, []byte(`\`)) {
		return text, nil
	}
	raw, violations := wire.ParseRaw(text, l)
	if violations != nil {
		return text, nil
	}
	i := space(raw, 0)
	if raw[i] != '{' {
		return text, nil
	}
	from := i + 1 // where the member begins, with the comma before it
	for i = space(raw, i+1); raw[i] != '}'; i = space(raw, i) {
		first := raw[i] != ','
		if !first {
			from = i
			i = space(raw, i+1)
		}
		end := skip(raw, i)
		have := unquoted(raw[i:end], l)
		i = space(raw, space(raw, end)+1) // over the colon
		end = skip(raw, i)
		if have != name {
			i = end
			continue
		}
		to := end
		if next := space(raw, end); first && raw[next] == ',' {
			to = next + 1
		}
		return append(bytes.Clone(raw[:from]), raw[to:]...), raw[i:end]
	}
	return text, nil
}

// unquoted is a string of a text that ParseRaw accepted with the same limits.
func unquoted(raw wire.Raw, l wire.Limits) string {
	var r wire.Reader
	var s string
	r.Reset(raw, l)
	wire.ReadString(&r, &s, nil)
	return s
}
