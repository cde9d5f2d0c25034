// Package wording has the texts that the engine writes for models and operators: lists, limits and
// quotations of what came from outside, with bounds on their length.
package wording

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/wire"
)

const (
	// maxListed is how many names or violations a message lists.
	maxListed = 50
	// maxMessage is how many bytes an Outcome's message has.
	maxMessage = 8 << 10
	// maxQuoted is how many characters of a name or an id a text quotes.
	maxQuoted = 64
)

// Truncate returns a message, cut when it is longer than maxMessage.
func Truncate(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return cut(message)
}

// cut is Truncate for a message that is too long.
func cut(message string) string {
	ending := fmt.Sprintf("... (cut here: it has %d bytes)", len(message))
	cut := maxMessage - len(ending)
	for !utf8.RuneStart(message[cut]) {
		cut--
	}
	return message[:cut] + ending
}

// ValidUTF8 returns a name or an id that came from outside in a form that can be recorded: valid
// UTF-8.
func ValidUTF8(name string) string {
	if utf8.ValidString(name) { // which is several times faster
		return name
	}
	return strings.ToValidUTF8(name, "\uFFFD")
}

// What the texts may have that callers, models and operators name things by, in bytes. They are in entries of the
// journal, most of them several times.
const (
	MaxName = 256     // of tools, principals and operators
	MaxID   = 8 << 10 // of calls, runs and sessions; gateways put a signature of a model into the id of a call
)

// Check returns an error when a text is longer than most, and says so of what it is.
func Check(what, text string, most int) error {
	if len(text) <= most {
		return nil
	}
	return fmt.Errorf("%s has %d bytes, and %d are allowed", what, len(text), most)
}

// Cut returns at most most bytes of a text, whole characters, and an ellipsis in the place of the rest.
func Cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most -= len("…"); most > 0 && !utf8.RuneStart(text[most]); {
		most--
	}
	return text[:most] + "…"
}

// Call names a call in a text for operators.
func Call(id, tool string) string { return "call " + Quote(id) + " of " + Quote(tool) }

// Quote quotes a name or an id that came from outside, and cuts it when it is too long.
func Quote(name string) string {
	n := 0
	for i := range name {
		if n++; n > maxQuoted {
			return strconv.Quote(name[:i]) + "..."
		}
	}
	return strconv.Quote(name)
}

// Names joins names, the first maxListed of them.
func Names(names []string) string {
	if len(names) <= maxListed {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed], ", "), len(names)-maxListed)
}

// Plural returns one for n = 1, and many formatted with n otherwise.
func Plural[N int | int64](n N, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(many, n)
}

// Wait prints a wait or a remaining time for people: 90s, 2s, 250ms.
func Wait(d time.Duration) string { return runtime.WaitText(d) }

// Limit prints a declared or remaining bound for people, rounded up to the millisecond: 1.5s,
// 250ms.
func Limit(d time.Duration) string {
	if up := d % time.Millisecond; up > 0 {
		d += time.Millisecond - up
	}
	if d < time.Second {
		return Wait(d)
	}
	return strconv.FormatFloat(float64(d.Milliseconds())/1000, 'f', -1, 64) + "s"
}

// Violations joins violations to one text.
func Violations(violations []wire.Violation) string {
	texts := make([]string, len(violations))
	for i, v := range violations {
		texts[i] = v.String()
	}
	return strings.Join(texts, "; ")
}

// InvalidInput returns the message for the model about invalid arguments.
func InvalidInput(violations []wire.Violation) string {
	if len(violations) == 0 {
		return "the input could not be checked"
	}
	texts := make([]string, 0, min(len(violations), maxListed+1))
	for i, v := range violations {
		if i == maxListed {
			texts = append(texts, fmt.Sprintf("and %d more", len(violations)-maxListed))
			break
		}
		texts = append(texts, v.String())
	}
	return "the input is invalid: " + strings.Join(texts, "; ")
}

// WithoutValues returns violations of an output without their values. The model must not see what
// the handler returned; operators may.
func WithoutValues(violations []wire.Violation) []wire.Violation {
	violations = slices.Clone(violations)
	for i := range violations {
		violations[i].Actual = "(hidden)"
	}
	return violations
}
