package opa

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/rego/regotest"
	"github.com/ambit-tools/ambit/policies/lint"
	"github.com/ambit-tools/ambit/runtime"
)

// TestPolicySeesACommand: a rule sees each member of what would run, and a tool with a handler has
// none of it.
func TestPolicySeesACommand(t *testing.T) {
	p, reg := load(t, "w.rego", `# METADATA
# custom:
#   reasons: {pushes: P., unboxed: U., open: O., elsewhere: E., variable: V., script: S., other: X.}
package ambit.policies.commands

import data.ambit.command

allow contains {"code": "ok", "message": "m"}

deny contains {"code": "pushes", "message": "m"} if command.starts_with(["git", "push"])

deny contains {"code": "unboxed", "message": "m"} if input.command.tier == "process"

deny contains {"code": "open", "message": "m"} if input.command.network == "loopback"

deny contains {"code": "elsewhere", "message": "m"} if input.command.dir != ""

deny contains {"code": "variable", "message": "m"} if "TOKEN" in input.command.env

deny contains {"code": "script", "message": "m"} if contains(input.command.script, "rm")

deny contains {"code": "other", "message": "m"} if {
	input.command
	not input.command.program in {"git", "sh"}
}
`)
	git := func(change func(c *runtime.Invocation), args ...string) *runtime.Invocation {
		c := &runtime.Invocation{Program: "git", Argv: append([]string{"git"}, args...)}
		if change != nil {
			change(c)
		}
		return c
	}
	for name, c := range map[string]struct {
		command *runtime.Invocation
		want    []string
	}{
		"a handler":       {nil, nil},
		"a command":       {git(nil, "diff", "push"), nil},
		"its arguments":   {git(nil, "push", "--force"), []string{"pushes"}},
		"whole arguments": {git(nil, "push --force"), nil},
		"its tier":        {git(func(c *runtime.Invocation) { c.Tier = runtime.TierProcess }), []string{"unboxed"}},
		"its network":     {git(func(c *runtime.Invocation) { c.Network = runtime.NetworkLoopback }), []string{"open"}},
		"its folder":      {git(func(c *runtime.Invocation) { c.Dir = "src" }), []string{"elsewhere"}},
		"its variables":   {git(func(c *runtime.Invocation) { c.Env = []string{"A", "TOKEN"} }), []string{"variable"}},
		"its script": {&runtime.Invocation{Program: "sh", Argv: []string{"sh", "-c", "--", "rm x"}, Script: "rm x"},
			[]string{"script"}},
		"its program": {&runtime.Invocation{Program: "/bin/git", Argv: []string{"/bin/git"}}, []string{"other"}},
	} {
		t.Run(name, func(t *testing.T) {
			in := call(t, reg, "file_write", `{"path":"x"}`)
			in.Command = c.command
			assert.Equal(t, c.want, deniedBy(t, p, in))
		})
	}
}

// deniedBy returns the codes of the denials of a call; nil: it is allowed.
func deniedBy(t *testing.T, p *Policy, in *runtime.PolicyInput) (codes []string) {
	t.Helper()
	d := decide(t, p, in)
	for _, denial := range d.Denials {
		codes = append(codes, denial.Code)
	}
	assert.Equal(t, codes == nil, d.Effect == runtime.EffectAllow)
	return codes
}

// TestTypedHeadersKnowCommands: the members of input.command are checked, and the package of a tool that
// has a handler has none.
func TestTypedHeadersKnowCommands(t *testing.T) {
	const declaration = `ambit: v1
package: samples
unboxed: true
tools:
  git_diff:
    version: 1.0.0
    description: Shows changes.
    effect: read
    input: {type: object}
    command: {run: [git, diff]}
  read:
    version: 1.0.0
    description: Reads.
    effect: read
    input: {type: object}
    output: {type: object}
`
	for name, c := range map[string]struct{ policy, want string }{
		"a command":               {regotest.In("git_diff", `input.command.argv[0] == "git"; input.command.tier == "sandbox"`), ""},
		"the library":             {regotest.In("git_diff", `data.ambit.command.starts_with(["git"])`), ""},
		"a misspelt member":       {regotest.In("git_diff", `input.command.args[0] == "git"`), `input.command has no member "args"`},
		"a tier that is none":     {regotest.In("git_diff", `input.command.tier == "box"`), `input.command.tier is never "box"`},
		"a tool with a handler":   {regotest.In("read", `input.command.program == "git"`), `input has no member "command"`},
		"all tools":               {regotest.Org(regotest.When(`input.command.program == "git"`)), ""},
		"all tools, misspelt":     {regotest.Org(regotest.When(`input.command.programs == "git"`)), `input.command has no member "programs"`},
		"all tools, not a member": {regotest.Org(regotest.When(`not input.command`)), ""},
	} {
		t.Run(name, func(t *testing.T) {
			fsys, err := regotest.Generate(declaration)
			require.NoError(t, err)
			fsys["p.rego"] = regotest.Text("# METADATA\n# custom:\n#   reasons: {no: N.}\n" + c.policy)
			report, err := lint.Check(fsys)
			require.NoError(t, err)
			if c.want == "" {
				require.NoError(t, report.Err())
				assert.Empty(t, report.Warnings)
				return
			}
			require.ErrorContains(t, report.Err(), c.want)
		})
	}
}
