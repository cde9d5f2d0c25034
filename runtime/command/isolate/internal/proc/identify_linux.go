package proc

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ambit-tools/ambit/runtime"
)

// Identify says which process a pid is now.
func Identify(pid int, mark string) (runtime.ProcessID, error) {
	id := runtime.ProcessID{PID: pid, Start: StartOf(pid), Mark: mark}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err == nil {
		id.Boot = strings.TrimSpace(string(boot))
		id.Namespace, err = os.Readlink("/proc/self/ns/pid")
	}
	if err == nil && id.Start == "" {
		err = unix.ESRCH
	}
	if err != nil {
		return id, fmt.Errorf("isolate: the process %d cannot be identified, so it is not started: %w", pid, err)
	}
	return id, nil
}
