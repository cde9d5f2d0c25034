package engine

import (
	"fmt"
	"strings"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/errmark"
	"github.com/ambit-tools/ambit/runtime/internal/rewrites"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
)

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

// publicError returns the text and the code of the marked error in err; code is empty if there is
// none. The caller holds no lock: the methods of err are code of the tool and may hang or panic.
func publicError(err error) (text, code string) {
	marked := errmark.PublicOf(err)
	if marked == nil {
		return "", ""
	}
	return usercode.ErrorText(marked.Err), marked.Code
}

// refusalCause returns the cause of a refusal for an operator.
func refusalCause(out *runtime.Outcome) string {
	if len(out.Violations) > 0 {
		return wording.Violations(out.Violations)
	}
	texts := make([]string, len(out.Denials))
	for i, d := range out.Denials {
		texts[i] = strings.TrimSpace(fmt.Sprintf("%s %s %s", d.Code, rewrites.At(d.At), d.Message))
	}
	return strings.Join(texts, "; ")
}
