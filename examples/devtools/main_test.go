package main

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/examples/devtools/devtools"
	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/isolate"
)

func TestMain(m *testing.M) {
	isolate.Enter()
	battery.Main(m)
}

// TestRun makes the calls of the example: each act that this host can run ends as it should, and each
// that it cannot is named.
func TestRun(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	var out bytes.Buffer
	var leaveOut []string
	if !battery.Full(t) { // it compiles a part of the standard library
		leaveOut = []string{devtools.GoTestName}
	}
	require.NoError(t, useGo())
	_, without, err := runnable(devtools.Tools(devtools.UnimplementedHandler{}), leaveOut)
	require.NoError(t, err)
	require.NoError(t, run(t.Context(), &out, t.TempDir(), leaveOut...))
	t.Log(out.String())
	for i, want := range []string{
		"returns the sum of numbers", "denied invalid_input", `"matches":0`, `range list {\n`, `"Action":"pass"`, " total\\n1\\n",
		"Permission denied", "timed_out deadline", `alice is asked about ["uname" "-s"], isolation process, and approves` + "\n  completed",
	} {
		parts := strings.Split(out.String(), "\n\n")
		name := calls[i].Tool
		assert.True(t, strings.HasPrefix(parts[i], name+" "), parts[i])
		if without[name] != "" {
			want = name + " is left out: "
		}
		assert.Contains(t, parts[i], want)
	}
	assert.NotContains(t, out.String(), `"stdout":"leaked`)
	assert.NotContains(t, out.String(), `changed\n`)
}

// TestPoliciesOfFewerTools leaves tools out: the policies of the declaration decide about the rest.
func TestPoliciesOfFewerTools(t *testing.T) {
	tools, _, err := runnable(devtools.Tools(devtools.UnimplementedHandler{}), []string{devtools.GitDiffName, devtools.GoTestName, devtools.HostNameName})
	require.NoError(t, err)
	policy, err := load(tools)
	require.NoError(t, err)
	at := slices.IndexFunc(tools, func(tool *runtime.Tool) bool { return tool.Name() == devtools.ShellName })
	require.GreaterOrEqual(t, at, 0, "every host of this test can run a shell in a box")
	for tier, want := range map[runtime.Tier]bool{runtime.TierSandbox: false, runtime.TierProcess: true} {
		d, err := policy.Decide(t.Context(), &runtime.PolicyInput{
			Tool: tools[at].Spec(), Index: at, Args: &devtools.ShellInput{Script: "true"}, Command: &runtime.Invocation{Tier: tier}, CallID: "c",
		})
		require.NoError(t, err)
		assert.Equal(t, want, len(d.Denials) > 0, "%s %+v", tier, d)
	}
}
