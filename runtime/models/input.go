package models

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/runtime"
)

// maxExact is 2^53. A float64 of this size or more may be the rounded form of another whole number.
const maxExact = 1 << 53

// Input returns the text of arguments that an SDK has decoded before the program sees them, as
// those that give a map[string]any do. Such an SDK has rounded large numbers: a number whose digits
// may have been others, which is one from 2^53 on, is an error, which Refuse makes a result of. Input
// cannot see that a fraction has lost digits, such as 0.12345678901234567890, and of a name that was in
// an object twice the SDK has kept one, which it cannot see either.
func Input(arguments any) ([]byte, error) {
	if rounded(arguments) {
		at, n, _ := inexact(arguments, "")
		return nil, fmt.Errorf("%s: the number %s may have lost digits on its way: write it as text if the tool takes one, or use a number below 9007199254740992",
			at, json.Number(fmt.Sprintf("%.0f", n)))
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(arguments); err != nil {
		return nil, fmt.Errorf("the arguments are not JSON: %w", err)
	}
	if text := bytes.TrimSpace(b.Bytes()); string(text) != "null" {
		return text, nil
	}
	return []byte("{}"), nil
}

// rounded reports whether a number in v may have been another one.
func rounded(v any) bool {
	switch v := v.(type) {
	case float64:
		return math.Abs(v) >= maxExact
	case []any:
		return slices.ContainsFunc(v, rounded)
	case map[string]any:
		for _, member := range v {
			if rounded(member) {
				return true
			}
		}
	}
	return false
}

// pointerToken escapes a name for a JSON Pointer (RFC 6901).
var pointerToken = strings.NewReplacer("~", "~0", "/", "~1")

// inexact returns the first number that may have been another one, by the order of names, and where it is.
func inexact(v any, at string) (where string, n float64, found bool) {
	switch v := v.(type) {
	case float64:
		return at, v, math.Abs(v) >= maxExact
	case []any:
		for i, e := range v {
			if where, n, found = inexact(e, fmt.Sprintf("%s/%d", at, i)); found {
				return where, n, true
			}
		}
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			if where, n, found = inexact(v[name], at+"/"+pointerToken.Replace(name)); found {
				return where, n, true
			}
		}
	}
	return "", 0, false
}

// Refuse returns the result of a call whose arguments could not be read as the model wrote them:
// denied, invalid_input. The executor does not see such a call.
func Refuse(id, tool string, err error) Result {
	return ResultOf(runtime.Outcome{
		CallID: id, Tool: tool, Kind: runtime.Denied, Reason: runtime.ReasonInvalidInput,
		AllReasons: []runtime.Reason{runtime.ReasonInvalidInput}, Message: err.Error(),
	})
}
