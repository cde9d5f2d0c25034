// Devtools is an agent that runs programs on a checkout: tools that are declared, boxed, watched and
// ended, without a handler. It makes a repository in a temporary folder and prints what becomes of a
// diff, a search, a run of tests, a script, a read that the box refuses, a command that takes too long,
// and one without a box that an approver has to allow.
//
// What this host cannot run it leaves out, and says so: a tool that needs namespaces, or a program that
// is not installed.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/ambit-tools/ambit/examples/devtools/devtools"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/command/isolate"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host"
	"github.com/ambit-tools/ambit/runtime/opa"
)

func main() {
	isolate.Enter() // this program is also the shim, init and last stage of its boxes
	caches, err := os.UserCacheDir()
	if err == nil {
		err = run(context.Background(), os.Stdout, filepath.Join(caches, "ambit-devtools"))
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
}

// calls are what a model asks for.
var calls = []runtime.Call{
	{Tool: devtools.GitDiffName, Input: []byte(`{"paths":["sum.go"]}`)},
	{Tool: devtools.GitDiffName, Input: []byte(`{"ref":"--output=/tmp/x"}`)},
	{Tool: devtools.TextFindName, Input: []byte(`{"pattern":"--files","paths":["sum.go"]}`)},
	{Tool: devtools.TextFindName, Input: []byte(`{"pattern":"range list"}`)},
	{Tool: devtools.GoTestName, Input: []byte(`{"run":"TestServed","packages":["./"]}`)},
	{Tool: devtools.ShellName, Input: []byte(`{"script":"wc -l *.go | tail -n 1; echo $HOME | grep -c ambit-box"}`)},
	{Tool: devtools.ShellName, Input: []byte(`{"script":"cat /etc/shadow && echo leaked; touch sum.go && echo changed; true"}`)},
	{Tool: devtools.WaitName, Input: []byte(`{}`)},
	{Tool: devtools.HostNameName, Input: []byte(`{}`)},
}

// run makes the calls and prints what becomes of them. The tools leaveOut are left out, as on a host that
// cannot run them. What commands cache
// lasts in the folder caches.
func run(ctx context.Context, out io.Writer, caches string, leaveOut ...string) (err error) {
	dir, err := os.MkdirTemp("", "devtools-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	work := filepath.Join(dir, "checkout")
	if err := errors.Join(os.Mkdir(work, 0o755), checkout(work), useGo()); err != nil {
		return err
	}
	tools, without, err := runnable(devtools.Tools(devtools.UnimplementedHandler{}), leaveOut)
	if err != nil {
		return err
	}
	policy, err := load(tools)
	if err != nil {
		return err
	}
	h, err := host.Open(ctx, host.Config{Tools: tools, Policy: policy, Dir: filepath.Join(dir, "store"), Workspace: work, Caches: caches})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close(ctx)) }()
	job, err := h.Executor.Session(engine.SessionConfig{
		Principal: "agent", Capabilities: []string{"filesystem.read", "filesystem.cache", "network.loopback"},
	}).StartRun(ctx, engine.RunConfig{})
	if err != nil {
		return err
	}
	for i, call := range calls {
		if why := without[call.Tool]; why != "" {
			fmt.Fprintf(out, "%s is left out: %s\n\n", call.Tool, why)
			continue
		}
		call.ID = fmt.Sprintf("call-%d", i+1)
		fmt.Fprintf(out, "%s %s\n", call.Tool, call.Input)
		o := job.Turn(engine.TurnConfig{}).Execute(ctx, call)
		if o.Kind == runtime.Pending {
			o = approve(ctx, out, h.Executor, o)
		}
		print(out, &o)
	}
	return nil
}

// load returns the policies for some tools. They are written for all tools of the declaration and load
// for no fewer, so those that are left out come behind: no call is one of them.
func load(tools []*runtime.Tool) (*opa.Policy, error) {
	policies, err := devtools.Policies()
	if err != nil {
		return nil, err
	}
	all := slices.Clone(tools)
	for _, t := range devtools.Tools(devtools.UnimplementedHandler{}) {
		if !slices.ContainsFunc(tools, func(other *runtime.Tool) bool { return other.Name() == t.Name() }) {
			all = append(all, t)
		}
	}
	registry, err := runtime.NewRegistry(all...)
	if err != nil {
		return nil, err
	}
	return opa.Load(policies, registry)
}

// runnable returns the tools that this host can run, without those of some names, and why the rest is
// left out.
func runnable(tools []*runtime.Tool, leaveOut []string) (list []*runtime.Tool, without map[string]string, err error) {
	runner, err := isolate.New(isolate.Options{})
	if err != nil {
		return nil, nil, err
	}
	without = map[string]string{}
	for _, t := range tools {
		command := t.Spec().Command
		if slices.Contains(leaveOut, t.Name()) {
			without[t.Name()] = "not asked for"
		} else if _, err := runner.Enforces(process.SpecOf(command, 0, t.Spec().Deadline)); err != nil {
			without[t.Name()] = err.Error()
		} else if _, err := process.Find(command.Program, path(command)); err != nil {
			without[t.Name()] = err.Error()
		} else {
			list = append(list, t)
		}
	}
	return list, without, nil
}

// path is where a command looks for its program.
func path(c *runtime.Command) string {
	for _, v := range c.Env {
		if v.Name == "PATH" {
			return os.ExpandEnv(v.Value)
		}
	}
	return process.DefaultPath
}

// approve shows what a call would run, and approves it for a person who looked at it.
func approve(ctx context.Context, out io.Writer, exec *engine.Executor, o runtime.Outcome) runtime.Outcome {
	r, ok := exec.Request(o.RequestID)
	if !ok || r.Command == nil {
		return o
	}
	fmt.Fprintf(out, "  alice is asked about %q, isolation %s, and approves\n", r.Command.Argv, r.Command.Tier)
	res := exec.Decide(ctx, o.RequestID, action.Answer{Approve: true, By: runtime.Actor{ID: "alice"}, Binding: r.Binding})
	if res.Outcome == nil {
		return o
	}
	return *res.Outcome
}

// most is how much of an output is printed.
const most = 2000

func print(out io.Writer, o *runtime.Outcome) {
	if o.Kind == runtime.Completed {
		fmt.Fprintf(out, "  %s\n", o.Kind)
	} else {
		fmt.Fprintf(out, "  %s %s: %s\n", o.Kind, o.Reason, o.Message)
	}
	if text := string(o.Output); len(text) > most {
		fmt.Fprintf(out, "  %s... (%d bytes)\n", text[:most], len(text))
	} else if text != "" {
		fmt.Fprintf(out, "  %s\n", text)
	}
	fmt.Fprintln(out)
}
