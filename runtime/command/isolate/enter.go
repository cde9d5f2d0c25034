package isolate

import (
	"errors"
	"os"
	"slices"
	"sync/atomic"
	"syscall"
)

// The roles of a process that is this program and not the application. They are told by
// argv[0], so that no argument of the application is one.
const (
	roleShim  = "ambit-shim"
	rolePlain = "ambit-init-plain"
	roleInit  = "ambit-init"
	roleStage = "ambit-stage"
	roleProbe = "ambit-probe"
)

// ownEnv is the environment of shim, init and stage, not of the program. They wait more than they
// compute, and start faster with one processor.
var ownEnv = []string{"GOMAXPROCS=1"}

var entered atomic.Bool

// Enter is the first line of main, and of TestMain. It returns in the application. In a
// process that a runner has started it does that process's work and does not return.
func Enter() {
	entered.Store(true)
	if work := roles[os.Args[0]]; work != nil {
		syscall.Exit(work()) // not os.Exit: a build that measures coverage would write a warning where the output of the tool goes
	}
}

// checkEntered refuses a runner to a program that does not call Enter: its shims would be
// further processes of the application.
func checkEntered() error {
	names := []string{roleShim, rolePlain, roleInit, roleStage, roleProbe}
	switch {
	case slices.Contains(names, os.Args[0]):
		return errors.New("isolate: this process is a shim and runs the application: call isolate.Enter() in the first line of main")
	case !entered.Load():
		return errors.New("isolate: call isolate.Enter() in the first line of main, and of TestMain: the program starts itself as the shim of a process")
	}
	return nil
}
