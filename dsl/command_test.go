package dsl

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCommands(t *testing.T) {
	f, err := Parse("commands.yaml", read(t, "testdata/good/commands.yaml"))
	require.NoError(t, err)
	tools := map[string]*Tool{}
	for _, tool := range f.Tools {
		tools[tool.Name] = tool
	}
	diff := tools["git_diff"].Command
	assert.Equal(t, "sandbox", diff.Tier)
	require.Len(t, diff.Run, 7)
	assert.Equal(t, []string{"git", "stat", "--stat", "ref", "--", "paths"},
		[]string{diff.Run[0].Text, diff.Run[3].When, diff.Run[3].Add, diff.Run[4].Arg, diff.Run[5].Literal, diff.Run[6].Each})
	assert.True(t, diff.Run[5].Terminator)
	assert.Len(t, diff.Env, 3)

	find := tools["text_find"]
	require.Len(t, find.Command.Exits, 2)
	assert.Equal(t, Exit{Code: 2, Category: "resource_exhausted", Pos: find.Command.Exits[1].Pos}, *find.Command.Exits[1])
	assert.Equal(t, []string{"lines", "dropped"}, find.Output.Required)
	assert.False(t, find.Output.Properties[0].Schema.Items.Closed, "the item is what the tool declares")
	assert.Equal(t, "stdout", tools["deploy"].Output.Properties[0].Name)
	assert.Equal(t, "path", tools["version"].Output.Properties[0].Name)
	assert.Equal(t, "process", tools["deploy"].Command.Tier)
	assert.Equal(t, Shell{Script: "script", With: "bash"}, *tools["shell"].Command.Shell)

	limits := tools["go_test"].Limits
	assert.Equal(t, ProcessLimits{
		MemoryEnforcement: "advisory", SharedMemory: true, Processes: Bound{512, "enforced"}, CPU: Bound{Max: int64(10 * time.Minute)},
		File: Bound{Max: 256 << 20}, Scratch: Bound{Max: 2 << 30}, Files: Bound{Max: 1024}, StopGrace: 4 * time.Second,
	}, limits.Process)
	assert.Equal(t, int64(2<<30), limits.Memory)
	assert.Equal(t, 2, limits.Concurrency)
	assert.Equal(t, 5, find.Limits.Concurrency, "the default of commands")
	assert.Equal(t, Bound{Max: 64}, find.Limits.Process.Processes, "of the defaults")
}
