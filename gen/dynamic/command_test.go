package dynamic_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/gen/dynamic/internal/answer"
	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
)

// TestCommandsAgree generates the functions of the arguments of commands, and compares what they
// make of random inputs with what the templates of package dynamic make of them.
// SEMANTICS 7.5.1, 7.5.10
func TestCommandsAgree(t *testing.T) {
	file := parse(t, "commands.yaml")
	tools, err := dynamic.Tools(file, nil)
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(35, 16))
	inputs := make([]answer.Input, battery.Count(t, 500, 10_000))
	for i := range inputs {
		tool := file.Tools[r.IntN(len(file.Tools))]
		text, err := json.Marshal(randomInput(r, tool.Input))
		require.NoError(t, err)
		inputs[i] = answer.Input{Tool: tool.Name, Text: text}
	}
	out := run(t, file, program, inputs)
	require.True(t, out.Scan(), "the specifications")
	specs, err := json.Marshal(answer.Specs(tools))
	require.NoError(t, err)
	assert.JSONEq(t, string(specs), out.Text())
	made := 0
	for _, in := range inputs {
		require.True(t, out.Scan(), in)
		got, err := json.Marshal(answer.To(tools, in.Tool, in.Text))
		require.NoError(t, err)
		require.Equal(t, out.Text(), string(got), "%s %s", in.Tool, in.Text)
		if strings.Contains(out.Text(), `"argv":[`) {
			made++
		}
	}
	require.Greater(t, made, len(inputs)/4, "inputs of which arguments were made")
}

// hostileTexts are values that a shell, a careless split or an option parser would make something
// else of.
var hostileTexts = []string{"-x", "--", "--help", "", " ", "a b", "$(id)", ";id", "*", `"`, `'`, `\`, "\n", "{mode}", "{{", "é", "a\x00b", "a", "b", "x", "fixed", "fast", "slow", "./a", "main~1"}

// randomInput is a value that often fits a schema. The members of an object are there or not.
func randomInput(r *rand.Rand, s *dsl.Schema) any {
	for s.Ref != "" {
		s = s.Target.Schema
	}
	if s.Nullable && r.IntN(3) == 0 {
		return nil
	}
	if s.Const != nil && r.IntN(20) > 0 {
		return s.Const.Text
	}
	if len(s.Enum) > 0 && r.IntN(20) > 0 {
		return json.RawMessage(s.Enum[r.IntN(len(s.Enum))].JSON())
	}
	switch s.Type {
	case dsl.TypeObject:
		all := map[string]any{}
		for _, p := range s.Properties {
			if slices.Contains(s.Required, p.Name) && r.IntN(20) > 0 || r.IntN(2) == 0 {
				all[p.Name] = randomInput(r, p.Schema)
			}
		}
		return all
	case dsl.TypeArray:
		list := make([]any, r.IntN(4))
		for i := range list {
			list[i] = randomInput(r, s.Items)
		}
		return list
	case dsl.TypeInteger:
		return r.IntN(200) - 20
	case dsl.TypeBoolean:
		return r.IntN(2) == 0
	}
	return hostileTexts[r.IntN(len(hostileTexts))]
}

// TestCommandsAreRegistered: a declaration with commands makes tools that an executor runs by its runner.
func TestCommandsAreRegistered(t *testing.T) {
	tools, err := dynamic.Tools(parse(t, "commands.yaml"), nil)
	require.NoError(t, err)
	_, err = runtime.NewRegistry(tools...)
	require.NoError(t, err)
}

// TestNULIsNoArgument: the decoder of a command refuses a value of which no argument can be made.
// SEMANTICS 7.5.10
func TestNULIsNoArgument(t *testing.T) {
	tools, err := dynamic.Tools(parse(t, "commands.yaml"), nil)
	require.NoError(t, err)
	for _, c := range []struct{ tool, input, pointer string }{
		{"shell", `{"script": "a\u0000b"}`, "/script"},
		{"words", `{"kind": "fixed", "mode": "fast", "level": 1, "own": ["a", "\u0000"]}`, "/own/1"},
		{"text_find", `{"pattern": "\u0000"}`, "/pattern"},
	} {
		i := slices.IndexFunc(tools, func(t *runtime.Tool) bool { return t.Name() == c.tool })
		v, bad := tools[i].Decode([]byte(c.input))
		require.Len(t, bad, 1, c.tool)
		require.Nil(t, v)
		require.Equal(t, c.pointer, bad[0].Pointer)
		require.Equal(t, "argument", bad[0].Keyword)
	}
	i := slices.IndexFunc(tools, func(t *runtime.Tool) bool { return t.Name() == "text_find" })
	_, bad := tools[i].Decode([]byte(`{"pattern": "a", "text": "\u0000"}`))
	require.Empty(t, bad, "what is read as input may be anything")
}
