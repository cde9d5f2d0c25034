package isolate

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// stage is the last program before the tool's. It takes from itself what the tool must not
// have, and executes the tool's program by its descriptor. What fails it writes to errorFD,
// whose end without a text says that the program runs.
func stage() int {
	runtime.LockOSThread() // what is on this thread is on the program
	err := becomeProgram()
	_, _ = os.NewFile(errorFD, "errors").WriteString(err.Error())
	return failure
}

func becomeProgram() error {
	var b box
	if err := json.NewDecoder(os.NewFile(boxFD, "box")).Decode(&b); err != nil {
		return fmt.Errorf("box: %w", err)
	}
	// A descriptor that the agent was started with, and that has no mark, would be the program's.
	if err := unix.CloseRange(programFD, 1<<31-1, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("descriptors: %w", err)
	}
	if err := os.Chdir(b.Dir); err != nil {
		return fmt.Errorf("folder: %w", err)
	}
	argv, env, err := pointers(&b)
	if err != nil {
		return err
	}
	if b.Sandbox {
		if err := confine(&b); err != nil {
			return err
		}
	}
	if err := limit(&b); err != nil {
		return err
	}
	if b.Sandbox { // the last one: from here on raw calls only, since RLIMIT_NPROC refuses threads
		if err := seccomp(&b); err != nil {
			return err
		}
	}
	empty := [1]byte{}
	_, _, e := unix.RawSyscall6(unix.SYS_EXECVEAT, programFD, uintptr(unsafe.Pointer(&empty[0])),
		uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&env[0])), unix.AT_EMPTY_PATH, 0)
	return fmt.Errorf("execute: %w", e)
}

// pointers makes what execveat takes.
func pointers(b *box) (argv, env []*byte, err error) {
	for _, l := range []struct {
		texts []string
		to    *[]*byte
	}{{b.Argv, &argv}, {b.Env, &env}} {
		for _, s := range l.texts {
			p, err := unix.BytePtrFromString(s)
			if err != nil {
				return nil, nil, errors.New("an argument or a variable holds a NUL")
			}
			*l.to = append(*l.to, p)
		}
		*l.to = append(*l.to, nil)
	}
	return argv, env, nil
}

// confine takes capabilities, files and new privileges from the calling thread.
func confine(b *box) error {
	if err := dropCapabilities(); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	return landlock(b)
}

// dropCapabilities leaves none, and no way back to any.
func dropCapabilities() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var have, none [2]unix.CapUserData
	if err := unix.Capget(&header, &have[0]); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	if have[0].Effective&(1<<unix.CAP_SETPCAP) != 0 {
		const locked = 1<<0 | 1<<1 | 1<<2 | 1<<3 // SECBIT_NOROOT and SECBIT_NO_SETUID_FIXUP, and their locks
		if err := unix.Prctl(unix.PR_SET_SECUREBITS, locked, 0, 0, 0); err != nil {
			return fmt.Errorf("securebits: %w", err)
		}
		for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
			if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil && err != unix.EINVAL { // one that the kernel does not have
				return fmt.Errorf("capability %d: %w", c, err)
			}
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("ambient capabilities: %w", err)
	}
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	return nil
}

// limit sets the rlimits of this process, which the program inherits.
func limit(b *box) error {
	for _, l := range []struct {
		name string
		what uintptr
		most uint64
	}{
		{"core", unix.RLIMIT_CORE, 0}, {"cpu", unix.RLIMIT_CPU, b.CPU}, {"files", unix.RLIMIT_NOFILE, b.Files},
		{"file", unix.RLIMIT_FSIZE, b.File}, {"data", unix.RLIMIT_DATA, b.Data}, {"processes", unix.RLIMIT_NPROC, b.Tasks},
	} {
		if l.most == 0 && l.what != unix.RLIMIT_CORE {
			continue
		}
		var old unix.Rlimit
		if _, _, e := unix.RawSyscall6(unix.SYS_PRLIMIT64, 0, l.what, 0, uintptr(unsafe.Pointer(&old)), 0, 0); e != 0 {
			return fmt.Errorf("limit of %s: %w", l.name, e)
		}
		most := min(l.most, old.Max) // a hard limit of the agent holds
		set := unix.Rlimit{Cur: most, Max: most}
		if _, _, e := unix.RawSyscall6(unix.SYS_PRLIMIT64, 0, l.what, uintptr(unsafe.Pointer(&set)), 0, 0, 0); e != 0 {
			return fmt.Errorf("limit of %s: %w", l.name, e)
		}
	}
	return nil
}
