package runtime

import (
	"errors"
	"fmt"
)

// NotImplemented returns the error of a tool that is declared and has no handler yet. It names the
// tool and wraps [errors.ErrUnsupported]. Generated code returns it.
func NotImplemented(tool string) error {
	return fmt.Errorf("tool %q is declared and not implemented: %w", tool, errors.ErrUnsupported)
}
