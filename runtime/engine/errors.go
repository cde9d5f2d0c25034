package engine

import (
	"errors"
	"syscall"

	"github.com/ambit-tools/ambit/runtime/internal/errmark"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
)

// publicError returns the text and the code of the marked error in err; code is empty if there is
// none. The caller holds no lock: the methods of err are code of the tool and may hang or panic.
func publicError(err error) (text, code string) {
	var marked *errmark.Public
	if !errors.As(err, &marked) {
		return "", ""
	}
	return usercode.ErrorText(marked.Err), marked.Code
}

// isTransient reports whether err is that of an exhausted resource: marked, or an error of the
// system for processes, descriptors, memory or disk space.
func isTransient(err error) bool {
	var marked *errmark.Transient
	if errors.As(err, &marked) {
		return true
	}
	for _, no := range []syscall.Errno{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.ENOSPC} {
		if errors.Is(err, no) {
			return true
		}
	}
	return false
}
