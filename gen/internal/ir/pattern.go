package ir

import (
	"errors"
	"strconv"
	"strings"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// PatternFault says what is wrong with a pattern, if anything, and what to do.
func PatternFault(pattern string) (fault, hint string) {
	_, err := wire.CompilePattern(pattern)
	if err == nil {
		return "", ""
	}
	if spelling, ok := wire.RespellPattern(pattern); ok {
		return err.Error(), "write " + strconv.Quote(spelling)
	}
	words := err.Error()
	if inner := errors.Unwrap(err); inner != nil {
		words = inner.Error() // without the pattern
	}
	return err.Error(), patternHint(words)
}

// patternHint says what to write instead, by the words of the fault.
func patternHint(fault string) string {
	for _, remedy := range []struct{ in, hint string }{
		{"look-arounds", "say some of them in another way, or check the value in a policy"},
		{"back reference", "write out the alternatives, as (?:aa|bb) does, or check the value in the handler"},
		{"group modifier", "leave it out: write [aA] for both cases of a letter, and (?<name>...) for a group with a name"},
		{"more than 1000", "let minLength and maxLength say the length"},
		{"is empty", "write [^] for any character, or leave the class out"},
		{"property", `use a general category, as \p{Letter}, a script, as \p{Script=Greek}, or a property, as \p{White_Space}`},
		{"class", `close it with ], or write \[ for the character`},
		{"out of order", "put the smaller character first"},
		{"none of ECMA-262", `leave the backslash out, or write \\ for a backslash`},
		{"has no character", `write \\ for a backslash`},
		{`\uXXXX`, `write four hexadecimal digits, as \u00e4`},
		{"closing )", `close it with ), or write \( for the character`},
		{"unexpected )", `open it with (, or write \) for the character`},
		{"repetition operator", `put it after what repeats, once, or write \*, \+ or \? for the character`},
		{"write ", ""}, // said already
	} {
		if strings.Contains(fault, remedy.in) {
			return remedy.hint
		}
	}
	return "write a regular expression of ECMA-262, without back references"
}
