package workspace_test

import (
	"errors"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// isDiskFault says whether an error is one that a disk may have.
func isDiskFault(err error) bool { return errors.Is(err, syscall.EIO) || errors.Is(err, syscall.ENOSPC) }
