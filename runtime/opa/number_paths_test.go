package opa

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/internal/rego/regotest"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// numberTool declares a tool that needs consent and has an open object. The verbs
// are for the head of the tool, the keywords of the object and its default.
const numberTool = `ambit: v1
package: numbertools
reasons: {night: At night.}
tools:
  pay:
    version: 1.0.0
    description: Pay.
    effect: write
    %s
    input:
      type: object
      properties:
        extra: {type: object, additionalProperties: true, description: Anything.%s}
    output: {type: object, properties: {}}
`

// pathNumbers are numbers without a schema, and whether a call may have them (SEMANTICS 7).
var pathNumbers = []struct {
	number string
	fits   bool
}{
	{"9999999999999999999", true},
	{"99999999999999999999", false},
	{"100.0000000000000001", true},
	{"100.000000000000000000001", false},
	{"1.50", true},
	{"1e300", true},
	{"1e-300", true},
	{"1234567890123456789e100", true},
	{"12345678901234567891e100", false},
}

const beyond = "a number of at most 19 significant digits with an exponent within ±308"

// A payment makes calls of numberTool, and has the text with which its handler ran.
type payment struct {
	t    *testing.T
	exec *engine.Executor
	turn *engine.Turn
	ran  string
}

// loadPayment loads a policy beside numberTool. Both errors end the test but that of
// the policy.
func loadPayment(t *testing.T, declaration, rules string) (*payment, error) {
	t.Helper()
	fsys, _, err := generate(declaration)
	require.NoError(t, err)
	for name, f := range regotest.Dir("o.rego", regotest.Org(rules)) {
		if !strings.HasPrefix(name, policydir.GeneratedDir) {
			fsys[name] = f
		}
	}
	f, err := dsl.Parse("tools.yaml", []byte(declaration))
	require.NoError(t, err)
	p := &payment{t: t}
	tools, err := dynamic.Tools(f, func(_ context.Context, _ string, v wire.Value) (wire.Value, error) {
		text, bad := wire.Append(nil, v)
		require.Empty(t, bad)
		p.ran = string(text)
		return wire.Raw("{}"), nil
	})
	require.NoError(t, err)
	reg, err := runtime.NewRegistry(tools...)
	require.NoError(t, err)
	policy, err := Load(fsys, reg)
	if err != nil {
		return nil, err
	}
	p.exec, err = engine.NewExecutor(reg, policy, engine.WithPolicyTimeout(time.Minute), engine.WithPendingRequests())
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.exec.Shutdown(context.Background()) })
	run, err := p.exec.Session(engine.SessionConfig{Principal: "agent"}).StartRun(t.Context(), engine.RunConfig{})
	require.NoError(t, err)
	p.turn = run.Turn(engine.TurnConfig{})
	return p, nil
}

func (p *payment) call(input string) runtime.Outcome {
	return p.turn.Execute(p.t.Context(), runtime.Call{ID: "c1", Tool: "pay", Input: []byte(input)})
}

// hasRun holds that the handler ran with a number.
func (p *payment) hasRun(out *runtime.Outcome, number string) {
	p.t.Helper()
	require.NotNil(p.t, out, number)
	require.Equal(p.t, runtime.Completed, out.Kind, "%s: %+v", number, out)
	_, x, _ := strings.Cut(strings.TrimRight(p.ran, "}"), `"x":`)
	assert.Zero(p.t, rat(p.t, x).Cmp(rat(p.t, number)), "%s: the handler has %s", number, x)
}

// onlyNumber denies every call whose number is neither 1 nor a given one.
func onlyNumber(number string) string {
	return `allow contains {"code": "night", "message": "m"}

deny contains {"code": "night", "message": "m"} if {
	x := object.get(input.args, ["extra", "x"], 0)
	x != 1
	x != ` + number + "\n}\n"
}

// TestNumbersOfEdits: what an approver writes is read as what the model writes.
func TestNumbersOfEdits(t *testing.T) {
	for _, test := range pathNumbers {
		t.Run(test.number, func(t *testing.T) {
			p, err := loadPayment(t, fmt.Sprintf(numberTool, "consent: {ask: always, allow_edit: true}", ""), onlyNumber(test.number))
			require.NoError(t, err)
			out := p.call(`{"extra":{"x":1}}`)
			require.Equal(t, runtime.Pending, out.Kind, "%+v", out)
			edited := func(number string) action.Resolution {
				return p.exec.Decide(t.Context(), out.RequestID, action.Answer{By: runtime.ProgramActor("ada"), Approve: true, Edit: []byte(`{"extra":{"x":` + number + `}}`)})
			}
			if !test.fits {
				res := edited(test.number)
				require.Equal(t, runtime.ResolutionRejected, res.Kind, "%+v", res)
				assert.Equal(t, "invalid_input", res.Reason.String())
				p.hasRun(edited("1").Outcome, "1") // the request stays open
				return
			}
			p.hasRun(edited(test.number).Outcome, test.number)
		})
	}
}

// TestNumbersOfRewrites: a value that a policy computes is read as what the model
// writes, and judged again as the handler gets it.
func TestNumbersOfRewrites(t *testing.T) {
	declaration := fmt.Sprintf(numberTool, "idempotent: false", "")
	for _, test := range pathNumbers {
		t.Run(test.number, func(t *testing.T) {
			// The value is that of a text of the call, so that it is no constant.
			p, err := loadPayment(t, declaration, onlyNumber(test.number)+`
modify contains {"code": "night", "pointer": "/extra/x", "value": to_number(input.args.extra.to)} if input.args.extra.to
`)
			require.NoError(t, err)
			out := p.call(`{"extra":{"x":1,"to":"` + test.number + `"}}`)
			if !test.fits {
				assert.Equal(t, runtime.ReasonPolicyError, out.Reason, "%+v", out)
				assert.Equal(t, "rewrite", out.Detail.Rule)
				assert.Empty(t, p.ran)
				return
			}
			p.hasRun(&out, test.number)
		})
		t.Run("constant "+test.number, func(t *testing.T) {
			p, err := loadPayment(t, declaration, onlyNumber(test.number)+`
modify contains {"code": "night", "pointer": "/extra/x", "value": `+test.number+`}
`)
			if !test.fits {
				require.ErrorContains(t, err, beyond)
				return
			}
			require.NoError(t, err)
			out := p.call(`{"extra":{"x":1}}`)
			p.hasRun(&out, test.number)
		})
	}
}

// TestNumbersOfDefaults: a default that a call could not have is refused when code is
// generated, and so are complete arguments.
func TestNumbersOfDefaults(t *testing.T) {
	for _, test := range pathNumbers {
		t.Run(test.number, func(t *testing.T) {
			withDefault := fmt.Sprintf(numberTool, "idempotent: false", ", default: {x: "+test.number+"}")
			if !test.fits {
				_, _, err := generate(withDefault)
				require.ErrorContains(t, err, "the default of extra: x: number: want "+beyond)
				_, _, err = generate(fmt.Sprintf(numberTool, "args: {extra: {x: "+test.number+"}}", ""))
				require.ErrorContains(t, err, "args: extra: x: number: want "+beyond)
				return
			}
			p, err := loadPayment(t, withDefault, onlyNumber(test.number))
			require.NoError(t, err)
			out := p.call(`{}`)
			p.hasRun(&out, test.number)
		})
	}
}
