// Imported governs the tools of a server that knows nothing of this module: three tools
// of containers/kubernetes-mcp-server, as the server lists them (list.json), imported
// into a declaration, bound by policies and called. README.md tells the steps.
//
// The server is one in memory, so that the output is always the same.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/ambit-tools/ambit/examples/imported/helm"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/opa"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
}

// calls are what a model asks for.
var calls = []runtime.Call{
	{Tool: helm.HelmListName, Input: []byte(`{}`)},
	{Tool: helm.HelmInstallName, Input: []byte(`{"name":"cart","chart":"oci://registry.example.com/charts/cart","namespace":"shop","values":{"replicas":2}}`)},
	{Tool: helm.HelmInstallName, Input: []byte(`{"name":"graphs","chart":"stable/grafana","namespace":"shop"}`)},
	{Tool: helm.HelmInstallName, Input: []byte(`{"name":"cart","chart":"oci://registry.example.com/charts/cart","namespace":"shop","values":{"securityContext":{"privileged":true}}}`)},
	{Tool: helm.HelmInstallName, Input: []byte(`{"chart":"oci://registry.example.com/charts/cart","namspace":"shop"}`)},
	{Tool: helm.HelmUninstallName, Input: []byte(`{"name":"index-old"}`)},
	{Tool: helm.HelmUninstallName, Input: []byte(`{"name":"index"}`)},
	{Tool: helm.HelmListName, Input: []byte(`{}`)},
}

// run makes the calls and prints what becomes of them.
func run(ctx context.Context, out io.Writer) error {
	server := &cluster{releases: map[string]string{"index": "charts/index", "index-old": "charts/index"}}
	exec, err := setup(bridge{server.answer})
	if err != nil {
		return err
	}
	session := exec.Session(engine.SessionConfig{Principal: "agent"})
	job, err := session.StartRun(ctx, engine.RunConfig{})
	if err != nil {
		return err
	}
	for i, call := range calls {
		call.ID = fmt.Sprintf("call-%d", i+1)
		fmt.Fprintf(out, "%s %s\n", call.Tool, call.Input)
		o := job.Turn(engine.TurnConfig{}).Execute(ctx, call)
		if o.Kind == runtime.Pending {
			yes := string(call.Input) == `{"name":"index-old"}`
			fmt.Fprintf(out, "  a person is asked, and says %t\n", yes)
			exec.Decide(ctx, o.RequestID, action.Answer{By: runtime.ProgramActor("oncall"), Approve: yes})
			o = session.Await(ctx, call.ID)
		}
		if o.Kind == runtime.Completed {
			fmt.Fprintf(out, "  %s\n", o.Output)
		} else {
			fmt.Fprintf(out, "  %s: %s: %s\n", o.Kind, o.Reason, o.Message)
		}
	}
	return errors.Join(job.Close(ctx), exec.Shutdown(ctx))
}

// setup binds the imported tools to the server, and the policies to both.
func setup(handler helm.Handler) (*engine.Executor, error) {
	reg, err := runtime.NewRegistry(helm.Tools(handler)...)
	if err != nil {
		return nil, err
	}
	rules, err := helm.Policies()
	if err != nil {
		return nil, err
	}
	policy, err := opa.Load(rules, reg)
	if err != nil {
		return nil, err
	}
	return engine.NewExecutor(reg, policy, engine.WithPendingRequests(), engine.WithPolicyTimeout(2*time.Second))
}
