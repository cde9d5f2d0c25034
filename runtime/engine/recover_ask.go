package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/ambit-tools/ambit/runtime/internal/callctx"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
	"github.com/ambit-tools/ambit/runtime/wire"
)

var errNoAnswer = errors.New("the reconcile handler returned neither an output nor an error: return ErrNothingHappened when nothing happened")

// askReconcile calls the reconcile handler of a tool for a call that ran with args, and checks its output as that of a
// handler. text is the output as JSON. An error of the handler is returned as it is.
func askReconcile(ctx context.Context, t *tools.Tool, info callctx.Info, args wire.Value) (value wire.Value, text wire.Raw, err error) {
	value, err = t.Hooks.Reconcile(ctx, info, args)
	if err != nil {
		return nil, nil, err
	}
	if value == nil {
		return nil, nil, errNoAnswer
	}
	text, violations, err := t.Encode(nil, value)
	if err != nil {
		return nil, nil, fmt.Errorf("the output of the reconcile handler is too large or too deep: %w", err)
	}
	if violations != nil {
		return nil, nil, fmt.Errorf("the output of the reconcile handler is invalid: %s", wording.Violations(violations))
	}
	return value, text, nil
}
