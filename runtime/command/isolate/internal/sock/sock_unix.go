//go:build linux || darwin

package sock

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Pair returns two ends of a socket. The end of ours ends a goroutine that reads it; theirs is for
// another process.
func Pair() (ours, theirs *os.File, err error) {
	fds, err := pair()
	if err != nil {
		return nil, nil, err
	}
	if err := unix.SetNonblock(fds[0], true); err != nil { // before NewFile, which goes by it
		return nil, nil, errors.Join(err, unix.Close(fds[0]), unix.Close(fds[1]))
	}
	return os.NewFile(uintptr(fds[0]), "control"), os.NewFile(uintptr(fds[1]), "control"), nil
}

// CloseWrite ends what the other end reads.
func CloseWrite(socket *os.File) error {
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) { failed = unix.Shutdown(int(fd), unix.SHUT_WR) })
	return errors.Join(err, failed)
}
