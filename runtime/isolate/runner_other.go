//go:build !linux && !darwin

package isolate

import (
	"context"
	"errors"
	"runtime"

	"github.com/ambit-tools/ambit/runtime/process"
)

var (
	roles    map[string]func() int
	readable []string
)

var errSystem = errors.New("isolate: there is no runner of processes for " + runtime.GOOS)

func (r *Runner) examine() *Host {
	h := thisHost()
	h.WhyNot = "the system is " + runtime.GOOS + ", not Linux"
	return h
}

// Run implements process.Runner.
func (r *Runner) Run(context.Context, *process.Job) (*process.Exit, error) { return nil, errSystem }

// Kill implements process.Runner. Nothing was started.
func (r *Runner) Kill(context.Context, process.ProcessID) error { return nil }
