package runtime

import (
	"fmt"

	"github.com/ambit-tools/ambit/runtime/internal/errmark"
)

// Public marks one error of a handler as safe for the model, without safe_errors for the whole
// tool: the text of err becomes Outcome.Message and code becomes Outcome.Detail.Code. Values of the
// call that are x-sensitive are removed from the text. Of an error that wraps the result, the model
// sees the marked part only; operators see all of it. Of several marked errors the outermost
// counts. If err is nil, Public returns nil.
//
// The code is for programs: at most 64 lower-case letters, digits and underscores, starting with a
// letter. An error with any other code is not public, and its text tells operators so.
func Public(code string, err error) error {
	switch {
	case err == nil:
		return nil
	case !isCode(code):
		return fmt.Errorf("runtime.Public: the code %q is not a name of lower-case letters, digits and underscores, a letter first, so the error is not public: %w", code, err)
	}
	return &errmark.Public{Code: code, Err: err}
}

// isCode reports whether s has the form of a name in the declaration.
func isCode(s string) bool {
	if s == "" || len(s) > 64 || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}
