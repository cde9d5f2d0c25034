package dsl

import (
	"regexp"
	"time"
)

// What commands are said with.
var (
	tiers       = []string{"sandbox", "process"}
	networks    = []string{"none", "loopback"}
	outputForms = []string{"text", "lines", "json", "json_lines"}
	levelNames  = []string{"enforced", "watched", "advisory"}
	categories  = []string{"ok", "timeout", "permission_denied", "command_not_found", "resource_exhausted", "process_killed", "system_error"}

	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)
	hostVariable = regexp.MustCompile(`^\$[A-Za-z_][A-Za-z0-9_]{0,127}$`)
	folderName   = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$`)
	exitCode     = regexp.MustCompile(`^([0-9]{1,2}|1[0-9]{2}|2[0-4][0-9]|25[0-5])$`)
)

// The defaults of commands.
const (
	defaultTier        = "sandbox"
	defaultShell       = "sh"
	defaultConcurrency = 5
	maxStopGrace       = 4 * time.Second // a late handler is given up after 5 s
)
