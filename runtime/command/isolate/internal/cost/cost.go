// Package cost measures what a boxed command costs, side by side with exec of the same program. Its
// programs differ in what they link.
package cost

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	goruntime "runtime"
	"strconv"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/isolate"
	"github.com/ambit-tools/ambit/runtime/command/process"
)

// Main is what the programs do after isolate.Enter: it prints the best of each way in ns.
//
//	PROGRAM ROUNDS [MiB of heap]
func Main() {
	if err := measure(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func measure(args []string) error {
	rounds, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	if len(args) > 1 {
		mib, err := strconv.Atoi(args[1])
		if err != nil {
			return err
		}
		heap := make([]byte, mib<<20)
		for i := 0; i < len(heap); i += 4096 {
			heap[i] = 1
		}
		defer goruntime.KeepAlive(heap)
	}
	ways, err := ways()
	if err != nil {
		return err
	}
	best := map[string]time.Duration{}
	for range rounds { // side by side, so that what else the machine does meets all of them
		for name, do := range ways {
			began := time.Now()
			if err := do(); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if took := time.Since(began); best[name] == 0 || took < best[name] {
				best[name] = took
			}
		}
	}
	return json.NewEncoder(os.Stdout).Encode(best)
}

func ways() (map[string]func() error, error) {
	program, err := process.Find("true", "/usr/bin:/bin")
	if err != nil {
		return nil, err
	}
	ways := map[string]func() error{"exec": func() error { return exec.Command(program.Path).Run() }}
	for _, w := range []struct {
		name  string
		tier  runtime.Tier
		plain bool
	}{{"box", runtime.TierSandbox, false}, {"box without namespaces", runtime.TierSandbox, true}, {"process", runtime.TierProcess, true}} {
		r, err := isolate.New(isolate.Options{WithoutNamespaces: w.plain})
		if err != nil {
			return nil, err
		}
		if h := r.Host(); w.tier == runtime.TierSandbox && (!h.Sandbox || !w.plain && !h.Namespaces) {
			continue
		}
		spec := &process.Spec{Tier: w.tier, Limits: runtime.ProcessLimits{}.Defaults(time.Minute)}
		ways[w.name] = func() error {
			exit, err := r.Run(context.Background(), &process.Job{Spec: spec, Program: program, Argv: []string{"true"}})
			if err == nil && exit.Code != 0 {
				err = fmt.Errorf("%+v", exit)
			}
			return err
		}
	}
	return ways, nil
}
