//go:build !linux && !darwin

package isolate

import (
	"context"
	"errors"
	goruntime "runtime"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
)

var (
	roles    map[string]func() int
	readable []string
)

var errSystem = errors.New("isolate: there is no runner of processes for " + goruntime.GOOS)

func (r *Runner) examine() *Host {
	h := thisHost()
	h.WhyNot = "the system is " + goruntime.GOOS + ", not Linux"
	return h
}

// Run implements process.Runner.
func (r *Runner) Run(context.Context, *process.Job) (*process.Exit, error) { return nil, errSystem }

// Kill implements process.Runner. Nothing was started.
func (r *Runner) Kill(context.Context, runtime.ProcessID) error { return nil }
