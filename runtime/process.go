package runtime

import (
	"bytes"
	"os"
	"strings"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// thisProcess says which process this is. A pid alone does not: it is used again.
// Where the system does not tell when it and the process started, that is left
// out (SEMANTICS section 6.10).
func thisProcess() *journal.Setup {
	setup := &journal.Setup{PID: os.Getpid()}
	setup.Host, _ = os.Hostname()
	if boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		setup.Boot = strings.TrimSpace(string(boot))
	}
	if stat, err := os.ReadFile("/proc/self/stat"); err == nil {
		setup.Start = startOf(stat)
	}
	return setup
}

// startOf returns when a process started, in ticks since the machine did, from
// what proc(5) says of it; empty when it does not.
func startOf(stat []byte) string {
	name := bytes.LastIndex(stat, []byte(") ")) // which may hold anything
	if name < 0 {
		return ""
	}
	fields := bytes.Fields(stat[name+2:])
	if len(fields) < 20 {
		return ""
	}
	return string(fields[19]) // field 22 of the whole
}
