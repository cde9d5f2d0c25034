//go:build linux || darwin

package process

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

// An identity changes when a file is replaced or written.
type identity struct {
	device, inode uint64
	size          int64
	modified      time.Time
	changed       syscall.Timespec
}

func identify(f *os.File) (identity, error) {
	info, err := f.Stat()
	if err != nil {
		return identity{}, fmt.Errorf("process: %w", err)
	}
	st := info.Sys().(*syscall.Stat_t)
	return identity{uint64(st.Dev), st.Ino, info.Size(), info.ModTime(), changeTime(st)}, nil
}
