package jsonedit

import (
	"bytes"

	"github.com/ambit-tools/ambit/runtime/internal/jsonscan"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// Take returns text without the member called name of its object, and the value of that
// member. A text that is not strict JSON, or has no such member, is returned as it is,
// with a nil value.
func Take(text []byte, name string, l wire.Limits) (rest, value []byte) {
	if !bytes.Contains(text, []byte(name)) && !bytes.Contains(text, []byte(`\`)) {
		return text, nil
	}
	raw, violations := wire.ParseRaw(text, l)
	if violations != nil {
		return text, nil
	}
	i := jsonscan.Space(raw, 0)
	if raw[i] != '{' {
		return text, nil
	}
	from := i + 1 // where the member begins, with the comma before it
	for i = jsonscan.Space(raw, i+1); raw[i] != '}'; i = jsonscan.Space(raw, i) {
		first := raw[i] != ','
		if !first {
			from = i
			i = jsonscan.Space(raw, i+1)
		}
		end := jsonscan.Value(raw, i)
		have := unquoted(raw[i:end], l)
		i = jsonscan.Space(raw, jsonscan.Space(raw, end)+1) // over the colon
		end = jsonscan.Value(raw, i)
		if have != name {
			i = end
			continue
		}
		to := end
		if next := jsonscan.Space(raw, end); first && raw[next] == ',' {
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
