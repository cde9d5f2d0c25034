package console_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/host"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// anything declares tools whose schema allows any value: large, which takes texts of 8 MiB and asks, heap, which takes
// them and does not ask, and small, which takes what a declaration takes that says nothing about it.
const anything = `
ambit: v1
package: anything
tools:
  large:
    version: 1.0.0
    title: Keep anything
    description: Keeps a value.
    effect: write
    limits: {input: 8MiB, output: 8MiB}
    input: {type: object, properties: {data: {description: Anything.}}, required: [data]}
    output: {type: object}
    consent: {ask: always, approvers: [alice], message: "Keep {data}?"}
  heap:
    version: 1.0.0
    description: Keeps a value.
    effect: write
    limits: {input: 8MiB, output: 8MiB}
    input: {type: object, properties: {data: {description: Anything.}}, required: [data]}
    output: {type: object}
  small:
    version: 1.0.0
    description: Keeps a value.
    effect: write
    input: {type: object, properties: {data: {description: Anything.}}, required: [data]}
    output: {type: object}
`

func anythingTools(t *testing.T) []*runtime.Tool {
	file, err := dsl.Parse("tools.yaml", []byte(anything))
	require.NoError(t, err)
	tools, err := dynamic.Tools(file, func(context.Context, string, wire.Value) (wire.Value, error) { return wire.Raw("{}"), nil })
	require.NoError(t, err)
	return tools
}

const wide, deep = 100_000, 128

// bigArguments returns arguments of the tools above, by what they are, with n members.
func bigArguments(n int) map[string]string {
	return map[string]string{
		"members": `{"data":{` + strings.Join(members(n), ",") + `}}`,
		"items":   `{"data":[` + strings.Repeat("0,", n-1) + `0]}`,
		"depth":   `{"data":` + strings.Repeat("[", deep-1) + strings.Repeat("]", deep-1) + `}`, // the object is the first one
		"objects": `{"data":` + strings.Repeat(`{"a":`, deep-1) + `"<script>alert(1)</script>"` + strings.Repeat("}", deep-1) + `}`,
		"deeper":  `{"data":` + strings.Repeat("[", deep) + strings.Repeat("]", deep) + `}`,
	}
}

func members(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`"m%d<b>":%d`, i, i)
	}
	return list
}

// give makes a call of a tool with arguments as they are.
func (r *rig) give(id, tool, input string) runtime.Outcome {
	return r.turn().Execute(r.Context(), runtime.Call{ID: id, Tool: tool, Input: []byte(input)})
}

// TestBigArguments: arguments with 100,000 members, or as deep as a decoder goes, are on pages of a bounded length, with
// all of them as text. What is larger or deeper than a tool takes is refused before a page shows it.
func TestBigArguments(t *testing.T) {
	r := startWith(t, func(c *host.Config) { c.Tools = append(c.Tools, anythingTools(t)...) })
	alice, eve := r.as("alice"), r.as("eve", "audit")
	for name, input := range bigArguments(min(battery.Count(t, wide/10, wide), wide)) {
		small := r.give("small "+name, "small", input)
		asked := r.give("large "+name, "large", input)
		ran := r.give("heap "+name, "heap", input)
		if name == "deeper" {
			for _, o := range []runtime.Outcome{small, asked, ran} {
				assert.Equal(t, runtime.Denied, o.Kind, name)
				assert.Equal(t, runtime.ReasonInvalidInput, o.Reason, name)
			}
			continue
		}
		assert.Equal(t, len(input) > 64<<10, small.Kind == runtime.Denied, "%s: %s", name, small.Reason)
		require.Equal(t, runtime.Pending, asked.Kind, name)
		require.Equal(t, runtime.Completed, ran.Kind, name)
		list := r.Executor.Requests()
		id := list[len(list)-1].ID
		for _, p := range []*page{alice.get("/approvals/" + id), alice.get("/"), eve.get("/calls/s/heap%20" + name)} {
			require.Equal(t, http.StatusOK, p.StatusCode, name)
			legible(t, p)
		}
		text := alice.get("/approvals/" + id + "/arguments").text
		assert.Greater(t, len(text), len(input)/2, "%s: all arguments are there as text", name)
		require.Equal(t, http.StatusSeeOther, alice.answer(id, "decision", "deny").StatusCode)
		legible(t, alice.get("/approvals/"+id))
	}
	assert.Empty(t, r.reported.String())
}
