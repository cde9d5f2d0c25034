package isolate_test

import (
	"errors"
	"fmt"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

func connects(network, address string) error {
	c, err := net.DialTimeout(network, address, 2*time.Second)
	if err == nil {
		c.Close()
	}
	return err
}

// attacksOnNetwork connect to the loopback of the host and to sockets on it, to nothing else.
var attacksOnNetwork = []attack{
	{name: "TCP", do: func(e target) error { return connects("tcp4", e.TCP) }},
	{name: "UDP", do: func(e target) error {
		c, err := net.Dial("udp4", e.UDP)
		if err != nil {
			return err
		}
		_, _ = c.Write([]byte("ping"))
		_ = c.SetReadDeadline(time.Now().Add(500 * time.Millisecond))
		_, err = c.Read(make([]byte, 8))
		return err
	}},
	{name: "a datagram without connect", do: func(e target) error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
		if err != nil {
			return err
		}
		to, err := net.ResolveUDPAddr("udp4", e.UDP)
		if err != nil {
			return err
		}
		if err := unix.Sendto(fd, []byte("ping"), 0, &unix.SockaddrInet4{Port: to.Port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
			return err
		}
		_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Usec: 500_000})
		_, _, err = unix.Recvfrom(fd, make([]byte, 8), 0)
		return err
	}},
	{name: "listen", needs: noLoopback, do: func(target) error {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err == nil {
			l.Close()
		}
		return err
	}},
	{name: "a unix socket by its path", do: func(e target) error { return connects("unix", e.Unix) }},
	{name: "an abstract unix socket", do: func(e target) error { return connects("unix", e.Abstract) }},
	{name: "a datagram from a pair to a unix socket by its path", do: func(e target) error {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
		if err != nil {
			return err
		}
		return unix.Sendto(fds[0], []byte("x"), 0, &unix.SockaddrUnix{Name: e.Datagram})
	}},
	{name: "connect a pair to a unix socket by its path", do: func(e target) error {
		for _, kind := range []int{unix.SOCK_DGRAM, unix.SOCK_STREAM, unix.SOCK_SEQPACKET} {
			fds, err := unix.Socketpair(unix.AF_UNIX, kind, 0)
			if err != nil {
				continue
			}
			path := e.Datagram
			if kind != unix.SOCK_DGRAM {
				path = e.Unix
			}
			if unix.Connect(fds[0], &unix.SockaddrUnix{Name: path}) == nil {
				return nil
			}
		}
		return unix.EPERM
	}},
	{name: "netlink, packet, raw, vsock and crypto sockets", do: func(target) error {
		for _, s := range [][3]int{{unix.AF_NETLINK, unix.SOCK_RAW, 0}, {unix.AF_PACKET, unix.SOCK_RAW, 0}, {unix.AF_VSOCK, unix.SOCK_STREAM, 0},
			{unix.AF_ALG, unix.SOCK_SEQPACKET, 0}, {unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP}} {
			if fd, err := unix.Socket(s[0], s[1], s[2]); err == nil {
				_ = unix.Close(fd)
				return nil
			}
		}
		return unix.EPERM
	}},
	{name: "MPTCP", do: func(e target) error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP)
		if err != nil {
			return err
		}
		to, err := net.ResolveTCPAddr("tcp4", e.TCP)
		if err != nil {
			return err
		}
		return unix.Connect(fd, &unix.SockaddrInet4{Port: to.Port, Addr: [4]byte{127, 0, 0, 1}})
	}},
	{name: "control: the loopback of the box", needs: onlyLoopback, do: func(target) error {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return fmt.Errorf("listen: %w", err)
		}
		defer l.Close()
		return errors.Join(connects("tcp4", l.Addr().String()))
	}},
}
