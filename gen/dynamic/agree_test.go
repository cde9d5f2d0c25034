package dynamic_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen"
	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/gen/dynamic/internal/answer"
	"github.com/ambit-tools/ambit/internal/buildcache"
)

// TestAgree generates code from the corpus, builds and runs it, and compares
// what it answers to each input with what package dynamic answers.
// SEMANTICS 7.1.1
func TestAgree(t *testing.T) {
	file := parse(t, "agree.yaml")
	tools, err := dynamic.Tools(file, nil)
	require.NoError(t, err)
	inputs := corpus(t)
	require.Greater(t, len(inputs), 150)

	out := run(t, file, program, inputs)
	require.True(t, out.Scan(), "the specifications")
	specs, err := json.Marshal(answer.Specs(tools))
	require.NoError(t, err)
	assert.JSONEq(t, string(specs), out.Text())

	valid, invalid := 0, 0
	for _, in := range inputs {
		require.True(t, out.Scan(), in)
		got, err := json.Marshal(answer.To(tools, in.Tool, in.Text))
		require.NoError(t, err)
		assert.Equal(t, out.Text(), string(got), "%s %s", in.Tool, in.Text)
		if strings.HasPrefix(out.Text(), `{"violations":null`) {
			valid++
		} else {
			invalid++
		}
	}
	assert.False(t, out.Scan())
	assert.Greater(t, valid, 60)
	assert.Greater(t, invalid, 90)
}

func parse(t *testing.T, name string) *dsl.File {
	t.Helper()
	src, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	file, err := dsl.Parse(name, src)
	require.NoError(t, err)
	return file
}

// corpus reads agree.txt: a tool and an input per line.
func corpus(t *testing.T) []answer.Input {
	t.Helper()
	src, err := os.ReadFile("testdata/agree.txt")
	require.NoError(t, err)
	var inputs []answer.Input
	for line := range strings.Lines(string(src)) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") {
			continue
		}
		tool, text, _ := strings.Cut(line, " ")
		if s, err := strconv.Unquote(text); err == nil {
			text = s
		}
		inputs = append(inputs, answer.Input{Tool: tool, Text: []byte(text)})
	}
	return inputs
}

const program = `package main

import (
	"%[1]s/gen/dynamic/internal/answer"
	"%[1]s/gen/dynamic/agreed/agree"
)

func main() { answer.Main(agree.Tools(agree.UnimplementedHandler{})) }
`

// run builds a program around the generated code and gives it the inputs, as JSON. The
// files stand in a temporary folder and in this module at the same time, by
// way of an overlay: nothing is written here and nothing needs to be fetched.
func run(t *testing.T, file *dsl.File, program string, inputs any) *bufio.Scanner {
	t.Helper()
	here, err := os.Getwd()
	require.NoError(t, err)
	dir := t.TempDir()
	overlay := map[string]string{}
	write := func(name string, content []byte) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, content, 0o644))
		overlay[filepath.Join(here, "agreed", filepath.FromSlash(name))] = path
	}
	files, err := gen.Generate(file, gen.Options{})
	require.NoError(t, err)
	for _, f := range files {
		write(file.Package+"/"+f.Name, f.Content)
	}
	write("main.go", fmt.Appendf(nil, program, "github.com/ambit-tools/ambit"))
	replace, err := json.Marshal(map[string]any{"Replace": overlay})
	require.NoError(t, err)
	write("overlay.json", replace)

	binary := filepath.Join(dir, "agree.exe")
	require.NoError(t, buildcache.Copy("./agreed", binary, "-overlay", filepath.Join(dir, "overlay.json")))

	stdin, err := json.Marshal(inputs)
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), binary)
	cmd.Stdin = bytes.NewReader(stdin)
	text, err := cmd.Output()
	require.NoError(t, err)
	out := bufio.NewScanner(bytes.NewReader(text))
	out.Buffer(nil, 1<<20)
	return out
}
