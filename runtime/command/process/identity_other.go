//go:build !linux && !darwin

package process

import (
	"fmt"
	"os"
	"time"
)

// An identity changes when a file is written.
type identity struct {
	size     int64
	modified time.Time
}

func identify(f *os.File) (identity, error) {
	info, err := f.Stat()
	if err != nil {
		return identity{}, fmt.Errorf("process: %w", err)
	}
	return identity{info.Size(), info.ModTime()}, nil
}
