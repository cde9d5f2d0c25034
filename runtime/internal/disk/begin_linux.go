//go:build !arm

package disk

import (
	"os"
	"syscall"
)

// rangeWrite is SYNC_FILE_RANGE_WRITE, which package syscall does not name.
const rangeWrite = 2

// startWriting asks for what a file has to be written. The error is what is
// known at once.
func startWriting(f *os.File) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var asked error
	if err := conn.Control(func(fd uintptr) { asked = syscall.SyncFileRange(int(fd), 0, 0, rangeWrite) }); err != nil {
		return err
	}
	return asked
}
