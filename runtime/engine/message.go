package engine

import (
	"fmt"
	"strings"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/rewrites"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// invalidInput returns the message for the model about invalid arguments.
func invalidInput(violations []wire.Violation) string {
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

// handlerMessage returns what a model reads of a failed handler, and the code of a public error.
// The text is that of the public error, or that of any error if the tool declares safe_errors.
func (c *call) handlerMessage(fault *CallError) (message, code string) {
	return c.toolMessage(fault.Err, fault.text(), fmt.Sprintf("%q failed", c.record.tool))
}

// toolMessage returns what a model reads of an error of the tool: the text of a public error, with
// its code; whole if the tool declares safe_errors; otherwise other.
func (c *call) toolMessage(err error, whole, other string) (message, code string) {
	text, code := publicError(err)
	if text == "" && c.tool.spec.SafeErrors {
		text = whole
	}
	if text == "" {
		return other, code
	}
	return c.redactText(text), code
}

// refusalCause returns the cause of a refusal for an operator.
func refusalCause(out *runtime.Outcome) string {
	if len(out.Violations) > 0 {
		return violationList(out.Violations)
	}
	texts := make([]string, len(out.Denials))
	for i, d := range out.Denials {
		texts[i] = strings.TrimSpace(fmt.Sprintf("%s %s %s", d.Code, rewrites.At(d.At), d.Message))
	}
	return strings.Join(texts, "; ")
}
