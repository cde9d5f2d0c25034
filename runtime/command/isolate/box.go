package isolate

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"syscall"
	"time"

	"github.com/ambit-tools/ambit/runtime"
)

// A box is what init and the stage are told. They hear nothing by arguments or environment,
// because other processes could read those.
type box struct {
	Argv    []string
	Env     []string
	Dir     string
	Private string // HOME and TMPDIR of the program; the agent has made it

	Sandbox    bool // else the process tier
	Namespaces bool
	Loopback   bool
	Shared     bool // memory by handles
	Read       []string
	Write      []string // and kept
	Devices    []string // read and written

	Data, File, CPU, Files, Tasks uint64 // rlimits; 0: none
	Tree, Scratch                 int64  // watched: bytes of the tree, and of Private
	Processes                     int    // watched: with threads
	TreeCPU                       time.Duration
}

// A report is what shim and init say.
type report struct {
	Event  event
	PID    int               `json:",omitempty"` // of init, where the shim sees it
	Why    string            `json:",omitempty"` // of failed
	Lacks  bool              `json:",omitempty"` // of failed: the host has too little of something
	Code   int               `json:",omitempty"`
	Signal string            `json:",omitempty"`
	Limit  runtime.LimitName `json:",omitempty"` // that the watcher saw exceeded
	Usage  runtime.ProcessUsage
}

type event uint8

const (
	eventReady   event = iota + 1 // init waits for the box
	eventStarted                  // the program runs
	eventBeat
	eventExited // and nothing is left in the box
	eventFailed // the program did not run
)

// failed is the report of a program that did not run.
func failed(err error) report {
	return report{Event: eventFailed, Why: err.Error(), Lacks: exhausted(err)}
}

// exhausted says whether an error means that the host has too little of something.
func exhausted(err error) bool {
	var e syscall.Errno
	return errors.As(err, &e) && slices.Contains([]syscall.Errno{
		syscall.EAGAIN, syscall.ENOMEM, syscall.ENOSPC, syscall.EDQUOT, syscall.EMFILE, syscall.ENFILE}, e)
}

// An order is what the agent says: the box first, then SIGTERM when it asks for the end.
type order struct {
	Box  *box `json:",omitempty"`
	Term bool `json:",omitempty"`
}

// say writes one message. An error is that the other side is gone, which the reader sees too.
func say(w io.Writer, message any) {
	if text, err := json.Marshal(message); err == nil {
		_, _ = w.Write(append(text, '\n'))
	}
}
