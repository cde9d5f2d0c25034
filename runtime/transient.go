package runtime

import "github.com/ambit-tools/ambit/runtime/internal/errmark"

// Transient marks an error of a handler as that of a resource that is temporarily exhausted. The
// executor retries an idempotent tool that declares retry. If err is nil, Transient returns nil.
func Transient(err error) error {
	if err == nil {
		return nil
	}
	return &errmark.Transient{Err: err}
}
