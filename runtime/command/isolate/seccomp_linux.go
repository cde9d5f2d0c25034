//go:build linux && (amd64 || arm64)

package isolate

import (
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The groups of system calls that answer EPERM. The names are what the attacks and the mutants
// call them.
var (
	callsOnProcesses = []uint32{
		unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
		unix.SYS_PROCESS_MADVISE, unix.SYS_MOVE_PAGES, unix.SYS_MIGRATE_PAGES,
	}
	callsOnKernel = []uint32{
		unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
		unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
		unix.SYS_SYSLOG, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD,
		unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_REBOOT,
		unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_PERSONALITY,
		unix.SYS_SETDOMAINNAME, unix.SYS_SETHOSTNAME, unix.SYS_FANOTIFY_INIT, unix.SYS_VHANGUP, unix.SYS_LSM_SET_SELF_ATTR,
	}
	callsOnMounts = []uint32{
		unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG,
		unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_OPEN_TREE, unix.SYS_OPEN_TREE_ATTR, unix.SYS_MOUNT_SETATTR, unix.SYS_CHROOT,
		unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_OPEN_BY_HANDLE_AT,
	}
	callsOnSharedMemory = []uint32{unix.SYS_MEMFD_CREATE, unix.SYS_MEMFD_SECRET}
	callsOnQueues       = []uint32{
		unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL,
		unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
	}
	// Landlock lets modes, owners, times and attributes of files be changed. In a mount namespace
	// they are on read-only mounts.
	callsOnMetadata = []uint32{
		unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT,
		unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT,
		unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT, unix.SYS_FILE_SETATTR,
	}
	callsOnNetwork = []uint32{unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN, unix.SYS_ACCEPT, unix.SYS_ACCEPT4}
)

// denied returns the calls that a box refuses whatever their arguments are.
func denied(b *box) []uint32 {
	list := slices.Concat(callsOnProcesses, callsOnKernel, oldKernel, callsOnMounts)
	if !b.Shared {
		list = append(list, callsOnSharedMemory...)
	}
	if !b.Shared || !b.Namespaces { // without a namespace of their own they would stay on the host
		list = append(list, callsOnQueues...)
	}
	if !b.Namespaces {
		list = slices.Concat(list, callsOnMetadata, oldMetadata)
	}
	if !b.Loopback {
		list = append(list, callsOnNetwork...)
	}
	return list
}

// seccomp filters the system calls of the calling thread, and of what it executes.
func seccomp(b *box) error {
	p := filter(b)
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	_, _, e := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(p)
	if e != 0 {
		return fmt.Errorf("seccomp: %w", e)
	}
	return nil
}

const (
	retAllow           = unix.SECCOMP_RET_ALLOW
	retEPERM           = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	retKill            = unix.SECCOMP_RET_KILL_PROCESS
	tiocsti, tioclinux = 0x5412, 0x541c
	argument           = 16 // where the arguments begin in seccomp_data; the low half of each comes first
)

func load(offset uint32) unix.SockFilter { return unix.SockFilter{Code: 0x20, K: offset} }
func ret(k uint32) unix.SockFilter       { return unix.SockFilter{Code: 0x06, K: k} }
func ifEqual(k uint32, t, f uint8) unix.SockFilter {
	return unix.SockFilter{Code: 0x15, Jt: t, Jf: f, K: k}
}
func ifAny(bits uint32, t, f uint8) unix.SockFilter {
	return unix.SockFilter{Code: 0x45, Jt: t, Jf: f, K: bits}
}

// when is a part of a filter for one call: it decides by the instructions that follow, each of
// which ends in a return.
func when(call uint32, decide ...unix.SockFilter) []unix.SockFilter {
	return append([]unix.SockFilter{ifEqual(call, 0, uint8(len(decide)))}, decide...)
}

// onlyZero refuses a call unless an argument is zero, which means the caller itself.
func onlyZero(call, index uint32) []unix.SockFilter {
	return when(call, load(argument+8*index), ifEqual(0, 1, 0), ret(retEPERM), ret(retAllow))
}

func filter(b *box) []unix.SockFilter {
	p := []unix.SockFilter{load(4), ifEqual(auditArch, 1, 0), ret(retKill), load(0)}
	if otherCalls != 0 {
		p = append(p, unix.SockFilter{Code: 0x35, Jt: 0, Jf: 1, K: otherCalls}, ret(retKill)) // jump if greater or equal
	}
	for _, n := range denied(b) {
		p = append(p, when(n, ret(retEPERM))...)
	}
	// No new namespaces: they are flags of clone. clone3 has its flags in memory, where no filter
	// sees them, so it does not exist and the C library falls back to clone.
	const spaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
	p = append(p, when(unix.SYS_CLONE, load(argument), ifAny(spaces, 0, 1), ret(retEPERM), ret(retAllow))...)
	p = append(p, when(unix.SYS_CLONE3, ret(unix.SECCOMP_RET_ERRNO|uint32(unix.ENOSYS)))...)
	// What a terminal would take for the typing of its user.
	p = append(p, when(unix.SYS_IOCTL, load(argument+8), ifEqual(tiocsti, 1, 0), ifEqual(tioclinux, 0, 1), ret(retEPERM), ret(retAllow))...)
	// A process that cannot be dumped hides its memory from the watcher. It is told that it can not.
	p = append(p, when(unix.SYS_PRCTL, load(argument), ifEqual(unix.PR_SET_DUMPABLE, 0, 1), ret(unix.SECCOMP_RET_ERRNO), ret(retAllow))...)
	p = append(p, sockets(b)...)
	// A process of the same user may set the limits of another.
	p = append(p, onlyZero(unix.SYS_PRLIMIT64, 0)...)
	if !b.Namespaces { // and how it is scheduled
		p = append(p, onlyZero(unix.SYS_SETPRIORITY, 1)...)
		p = append(p, onlyZero(unix.SYS_IOPRIO_SET, 1)...)
		for _, n := range []uint32{unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR} {
			p = append(p, onlyZero(n, 0)...)
		}
	}
	return append(p, ret(retAllow))
}

// sockets allows connected pairs, and with a loopback TCP and UDP. A pair of datagram sockets
// is refused: one of them can send to any socket that has a path.
func sockets(b *box) []unix.SockFilter {
	decide := []unix.SockFilter{ret(retEPERM)}
	if b.Loopback {
		decide = []unix.SockFilter{load(argument), ifEqual(unix.AF_INET, 2, 0), ifEqual(unix.AF_INET6, 1, 0), ret(retEPERM), ret(retAllow)}
	}
	mask := unix.SockFilter{Code: 0x54, K: 0xf} // and: without SOCK_CLOEXEC and SOCK_NONBLOCK
	pair := when(unix.SYS_SOCKETPAIR, load(argument+8), mask, ifEqual(unix.SOCK_STREAM, 2, 0), ifEqual(unix.SOCK_SEQPACKET, 1, 0), ret(retEPERM), ret(retAllow))
	return append(when(unix.SYS_SOCKET, decide...), pair...)
}
