package sock

import "golang.org/x/sys/unix"

func pair() ([2]int, error) {
	return unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
}

// Listen opens a socket that queues connections. Its caller closes the descriptor.
func Listen(family int, at unix.Sockaddr) (fd int, err error) {
	if fd, err = unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err != nil {
		return -1, err
	}
	if err = unix.Bind(fd, at); err == nil {
		err = unix.Listen(fd, 1)
	}
	if err != nil {
		unix.Close(fd)
	}
	return fd, err
}

// Dial is nil when a connection is made, which it ends.
func Dial(family int, to unix.Sockaddr) error {
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Connect(fd, to)
}
