// Package process identifies the process that writes a journal.
package process

import (
	"bytes"
	"os"
	"strings"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// Setup returns what identifies this process. A pid alone does not, because the system reuses
// it. If the system does not tell when it and the process started, that is omitted (SEMANTICS
// section 6.10).
func Setup() *journal.Setup {
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

// startOf returns when a process started, in ticks since the start of the machine, from its stat
// file (proc(5)); empty when stat does not have it.
func startOf(stat []byte) string {
	name := bytes.LastIndex(stat, []byte(") ")) // the name before it may hold any bytes
	if name < 0 {
		return ""
	}
	fields := bytes.Fields(stat[name+2:])
	if len(fields) < 20 {
		return ""
	}
	return string(fields[19]) // field 22 of stat
}
