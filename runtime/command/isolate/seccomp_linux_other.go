//go:build linux && !amd64 && !arm64

package isolate

import (
	"errors"
	"runtime"
)

const auditArch = 0

func seccomp(*box) error {
	return errors.New("seccomp: there is no filter for " + runtime.GOARCH)
}
