package proc

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// All returns the processes that /proc shows, but the first one.
func All() (all []int) {
	dirs, _ := os.ReadDir("/proc")
	for _, d := range dirs {
		if pid, err := strconv.Atoi(d.Name()); err == nil && pid != 1 {
			all = append(all, pid)
		}
	}
	return all
}

// Descendants returns the processes below one.
func Descendants(pid int) (all []int) {
	for queue := []int{pid}; len(queue) > 0; queue = queue[1:] {
		tasks, _ := filepath.Glob("/proc/" + strconv.Itoa(queue[0]) + "/task/*/children")
		for _, t := range tasks {
			text, _ := os.ReadFile(t)
			for _, f := range strings.Fields(string(text)) {
				if child, err := strconv.Atoi(f); err == nil {
					all, queue = append(all, child), append(queue, child)
				}
			}
		}
	}
	return all
}

// A Status is what /proc says of a process that lives.
type Status struct {
	Private, Shared int64 // resident bytes that no file backs
	Tasks           int
	User, System    time.Duration
}

// StatusOf returns the status of a process, and nothing of one that is gone.
func StatusOf(pid int) (s Status) {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch name {
		case "RssAnon":
			s.Private = kilobytes(value)
		case "RssShmem":
			s.Shared = kilobytes(value)
		case "Threads":
			s.Tasks, _ = strconv.Atoi(value)
		}
	}
	fields := statFields(pid)
	if len(fields) > 14 { // the fields 14 to 17 of proc(5): of the process and of its reaped children
		ticks := func(i int) time.Duration {
			n, _ := strconv.ParseInt(fields[i], 10, 64)
			return time.Duration(n) * (time.Second / 100)
		}
		s.User, s.System = ticks(11)+ticks(13), ticks(12)+ticks(14)
	}
	return s
}

func kilobytes(text string) int64 {
	n, _ := strconv.ParseInt(strings.TrimSuffix(text, " kB"), 10, 64)
	return n << 10
}

// statFields returns the fields of /proc/PID/stat from the third on.
func statFields(pid int) []string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	name := strings.LastIndex(string(text), ") ") // the name before it may hold any bytes
	if name < 0 {
		return nil
	}
	return strings.Fields(string(text[name+2:]))
}

// StartOf returns when a process started, in ticks since the boot; empty when it is gone.
func StartOf(pid int) string {
	if fields := statFields(pid); len(fields) > 19 {
		return fields[19]
	}
	return ""
}
