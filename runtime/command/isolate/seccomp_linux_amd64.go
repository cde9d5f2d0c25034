package isolate

import "golang.org/x/sys/unix"

const (
	auditArch  = 0xc000003e // AUDIT_ARCH_X86_64
	otherCalls = 0x40000000 // the x32 numbers, which would go around every rule
)

// oldMetadata and oldKernel are the calls that only this architecture has.
var (
	oldMetadata = []uint32{unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT}
	oldKernel   = []uint32{unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_CREATE_MODULE}
)
