//go:build !linux || arm

package disk

import (
	"errors"
	"os"
)

// startWriting cannot be asked for on this system.
func startWriting(*os.File) error { return errors.ErrUnsupported }
