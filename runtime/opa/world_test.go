package opa

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/ambit-tools/ambit/runtime/internal/facts"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/internal/rego/regotest"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// writeArgs are arguments as generated code has them.
type writeArgs struct {
	Path    string `json:"path"`
	Content string `json:"content"`
	Mode    string `json:"mode"`
}

func (v *writeArgs) ReadMember(r *wire.Reader, name string) {
	switch name {
	case "path":
		wire.ReadString(r, &v.Path, nil)
	case "content":
		wire.ReadString(r, &v.Content, nil)
	case "mode":
		wire.ReadString(r, &v.Mode, nil)
	}
}

func (v *writeArgs) Walk(w wire.Visitor) {
	wire.BeginObject(w, nil)
	wire.Member(w, "path", &v.Path, wire.WalkString, nil)
	wire.Member(w, "content", &v.Content, wire.WalkString, nil)
	wire.Member(w, "mode", &v.Mode, wire.WalkString, nil)
	wire.End(w)
}

// The input as a program writes it that uses OPA directly.
type (
	naiveInput struct {
		Tool      naiveTool         `json:"tool"`
		Args      *writeArgs        `json:"args"`
		Behavior  string            `json:"behavior"`
		Modes     map[string]string `json:"modes"`
		Principal naivePrincipal    `json:"principal"`
		Session   naiveID           `json:"session"`
		Run       naiveRun          `json:"run"`
		Call      naiveID           `json:"call"`
		Now       int64             `json:"now_ns"`
	}
	naiveTool struct {
		Name          string   `json:"name"`
		Version       string   `json:"version"`
		Effect        string   `json:"effect"`
		Idempotent    bool     `json:"idempotent"`
		Deterministic bool     `json:"deterministic"`
		Capabilities  []string `json:"capabilities"`
		Behaviors     []string `json:"behaviors"`
	}
	naivePrincipal struct {
		ID           string          `json:"id"`
		Capabilities map[string]bool `json:"capabilities"`
	}
	naiveID struct {
		ID string `json:"id"`
	}
	naiveRun struct {
		ID        string          `json:"id"`
		Counts    map[string]int  `json:"counts"`
		Succeeded map[string]bool `json:"succeeded"`
	}
)

// naive builds the input of a call as a struct.
func naive(w *world, in *runtime.PolicyInput) naiveInput {
	s := in.Tool
	out := naiveInput{
		Tool: naiveTool{s.Name, s.Version, s.Effect.String(), s.Idempotent, s.Deterministic, s.Capabilities, s.Behaviors},
		Args: in.Args.(*writeArgs), Behavior: in.Behavior, Modes: map[string]string{},
		Principal: naivePrincipal{in.Principal, map[string]bool{"fs.write": slices.Contains(in.Capabilities, "fs.write")}},
		Session:   naiveID{in.SessionID}, Call: naiveID{in.CallID}, Now: in.Now.UnixNano(),
		Run: naiveRun{in.RunID, make(map[string]int, w.reg.Len()), make(map[string]bool, w.reg.Len())},
	}
	for i, t := range w.reg.All() {
		f := in.Facts().Tool(i)
		out.Run.Counts[t.Name()] = int(f.Invocations)
		out.Run.Succeeded[t.Name()] = f.Successes > 0
	}
	return out
}

// A world is a set of n tools with policies for each, and a run in which calls were made.
type world struct {
	policy *Policy
	plain  rego.PreparedEvalQuery
	reg    *runtime.Registry
	turn   *engine.Turn
	facts  *runtime.Facts // as the last call saw them
	during func(*runtime.PolicyInput)
}

func toolPolicy(name string) string {
	return `package ambit.tools.` + name + `

allow contains {"code": "workspace", "message": "inside the workspace"} if startswith(input.args.path, "/ws/")

deny contains {"code": "system_path", "message": sprintf("%s is a system path", [input.args.path])} if startswith(input.args.path, "/etc/")

deny contains {"code": "too_big", "message": sprintf("%d characters", [count(input.args.content)])} if count(input.args.content) > 1000

ask contains {"id": "home", "message": "into a home", "approvers": ["owner"]} if startswith(input.args.path, "/home/")
`
}

func teamPolicy(i int) string {
	return fmt.Sprintf(`package ambit.policies.team%d

deny contains {"code": "night", "message": "not at night"} if {
	input.tool.effect == "destructive"
	input.behavior == "night%d"
}

deny contains {"code": "too_many", "message": "too often"} if input.run.counts[input.tool.name] > %d
`, i, i, 100_000+i)
}

// declarationOf declares n tools.
func declarationOf(n int) string {
	const properties = `{path: {type: string, description: Where.}, content: {type: string, description: What.}, mode: {type: string, description: How.}}`
	var b strings.Builder
	b.WriteString("ambit: v1\npackage: world\nreasons: {system_path: System., too_big: Big., night: Night., too_many: Many.}\ntools:\n")
	for i := range n {
		fmt.Fprintf(&b, "  tool_%04d:\n    version: 1.0.0\n    description: Write.\n    effect: write\n    capabilities: [fs.write]\n    behaviors: [day]\n", i)
		fmt.Fprintf(&b, "    input: {type: object, properties: %s, required: [path, content, mode]}\n    output: {type: object, properties: {}}\n", properties)
	}
	return b.String()
}

// newWorld returns a world of n tools; pairs of name and text are more policies.
func newWorld(tb testing.TB, n int, pairs ...string) *world {
	tb.Helper()
	fsys, declared, err := generate(declarationOf(n))
	require.NoError(tb, err)
	for _, t := range declared {
		fsys[t.Name()+".rego"] = regotest.Text(toolPolicy(t.Name()))
	}
	for i := range 3 {
		fsys[fmt.Sprintf("team%d.rego", i)] = regotest.Text(teamPolicy(i))
	}
	for i := 0; i < len(pairs); i += 2 {
		fsys[pairs[i]] = regotest.Text(pairs[i+1])
	}
	w := &world{during: func(*runtime.PolicyInput) {}}
	var tools []*runtime.Tool
	for _, t := range declared {
		tools = append(tools, runtime.NewTool(t.Spec(), &wire.ObjectRule{Names: []string{"path", "content", "mode"}, Required: 3},
			func(context.Context, *writeArgs) (*writeArgs, error) { return new(writeArgs), nil }))
	}
	w.reg, err = runtime.NewRegistry(tools...)
	require.NoError(tb, err)
	w.policy, err = Load(fsys, w.reg)
	require.NoError(tb, err)
	g := w.policy.current.Load().generation
	w.plain, err = rego.New(rego.Query(policydir.EntryPoint), rego.Compiler(unguarded(tb, g.Bundle)), rego.StrictBuiltinErrors(true),
		rego.Store(inmem.NewFromObjectWithOpts(g.Data, inmem.OptReturnASTValuesOnRead(true)))).PrepareForEval(tb.Context())
	require.NoError(tb, err)
	w.start(tb)
	return w
}

// unguarded compiles the policies of a bundle as OPA does, without the guards.
func unguarded(tb testing.TB, b *policydir.Bundle) *ast.Compiler {
	tb.Helper()
	c := b.NewCompiler()
	c.Compile(b.Stamped())
	require.False(tb, c.Failed())
	return c
}

// start starts a run whose calls are all allowed.
func (w *world) start(tb testing.TB) {
	tb.Helper()
	exec, err := engine.NewExecutor(w.reg, runtime.PolicyFunc(func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
		w.facts = in.Facts()
		w.during(in)
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	}), engine.WithPolicyTimeout(time.Minute))
	require.NoError(tb, err)
	run, err := exec.Session(engine.SessionConfig{ID: "s", Principal: "agent", Capabilities: []string{"fs.write"}, Behavior: "day"}).StartRun(tb.Context(), engine.RunConfig{ID: "r"})
	require.NoError(tb, err)
	w.turn = run.Turn(engine.TurnConfig{})
}

// calls makes n calls, of one tool after the other.
func (w *world) calls(tb testing.TB, n int) {
	tb.Helper()
	names := w.reg.Names()
	for i := range n {
		out := w.turn.Execute(tb.Context(), runtime.Call{Tool: names[i%len(names)], Input: []byte(`{"path":"/ws/a","content":"hello","mode":"create"}`)})
		require.Equal(tb, runtime.Completed, out.Kind, out.Message)
	}
}

// input returns the input of a call of the tool at position i.
func (w *world) input(i int, path string) *runtime.PolicyInput {
	in := &runtime.PolicyInput{
		Tool: w.spec(i), Index: i, Args: &writeArgs{path, "hello", "create"}, CallID: "c1", SessionID: "s", RunID: "r",
		Principal: "agent", Capabilities: []string{"fs.write"}, Behavior: "day", Now: time.Unix(1_700_040_000, 123_456_789),
	}
	in.SetFacts((*facts.Snapshot)(w.facts))
	return in
}

// lean and eval evaluate a call on the two ways that are compared.
func (w *world) lean(tb testing.TB, in *runtime.PolicyInput) {
	if _, err := w.policy.Decide(context.Background(), in); err != nil {
		tb.Fatal(err)
	}
}

func (w *world) eval(tb testing.TB, in naiveInput) any {
	results, err := w.plain.Eval(context.Background(), rego.EvalInput(in))
	if err != nil || len(results) != 1 {
		tb.Fatal(err)
	}
	return results[0].Expressions[0].Value
}

func (w *world) spec(i int) *runtime.Spec {
	t, _, _ := w.reg.Lookup(w.reg.Names()[i])
	return t.Spec()
}
