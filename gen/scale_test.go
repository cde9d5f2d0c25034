package gen_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen"
	"github.com/ambit-tools/ambit/gen/internal/fixture/declare"
	"github.com/ambit-tools/ambit/internal/battery"
)

func fixture(n int) []byte {
	var b bytes.Buffer
	declare.Tools(&b, n)
	return b.Bytes()
}

// TestBudget holds the size of what many tools become, and that it is the same
// twice.
func TestBudget(t *testing.T) {
	n := battery.Count(t, 200, 1000)
	files := generate(t, fixture(n))
	again := generate(t, fixture(n))
	require.Len(t, again, len(files))
	for i := range files {
		require.Equal(t, files[i].Name, again[i].Name)
		require.True(t, bytes.Equal(files[i].Content, again[i].Content), "%s differs from one run to the next", files[i].Name)
	}
	registry, codec, walk := lines(files)
	t.Logf("lines per tool: %d types, rules and decoders, %d walks, %d handler and declarations, %d in all",
		(codec-walk)/n, walk/n, registry/n, (registry+codec)/n)
	require.LessOrEqual(t, codec-walk, 105*n)
	require.LessOrEqual(t, registry+codec, 170*n)
}

// lines counts the lines of the two Go files, and those of the walks in the second.
func lines(files []gen.OutputFile) (registry, codec, walk int) {
	count := func(b []byte) int { return bytes.Count(b, []byte("\n")) }
	walks := regexp.MustCompile(`(?ms)^(// Walk [^\n]*\n)?func (\(v \*\w+\) Walk|walk\w+)\(.*?^}\n\n?`)
	for _, w := range walks.FindAll(files[1].Content, -1) {
		walk += count(w)
	}
	return count(files[0].Content), count(files[1].Content), walk
}

// TestScale prints what generating and compiling a thousand tools costs, beside
// what go-jsonschema needs for the same schemas. It judges nothing: a time on
// a shared machine is no fact about the code.
func TestScale(t *testing.T) {
	if !battery.Full(t) {
		t.Skip("it builds for a minute: AMBIT_BATTERY=ci")
	}
	rounds := battery.Count(t, 1, 1) // in which each time is taken, turn by turn
	const n = 1000
	source := fixture(n)
	files := generate(t, source)
	ours, theirs := module(t, "ours"), peer(t, files)
	for _, f := range files {
		write(t, ours, "tools/"+f.Name, f.Content)
	}
	run(t, ours, "go", "build", "./tools") // what it imports is warm from here on

	var generated, built, peerBuilt []time.Duration
	for i := range rounds {
		generated = append(generated, timed(func() { generate(t, source) }))
		built = append(built, cold(t, ours, i))
		peerBuilt = append(peerBuilt, cold(t, theirs, i))
	}
	peerLines := strings.Count(read(t, filepath.Join(theirs, "tools", "tools.go")), "\n")
	registry, codec, _ := lines(files)
	g, b, p := median(generated), median(built), median(peerBuilt)
	fmt.Printf("%d tools, median of %d interleaved\n", n, rounds)
	fmt.Printf("generate (parse, decide, print)  %6.2f s\n", g.Seconds())
	fmt.Printf("cold build of the output         %6.2f s   generate / build %.2f (bar 0.20)\n", b.Seconds(), g.Seconds()/b.Seconds())
	fmt.Printf("cold build of go-jsonschema's    %6.2f s   build / theirs   %.2f (bar 1.20)\n", p.Seconds(), b.Seconds()/p.Seconds())
	fmt.Printf("lines per tool                   %6d     theirs %d\n", (registry+codec)/n, peerLines/n)
}

// peer has go-jsonschema generate from the same schemas, in a module of its own.
func peer(t *testing.T, files []gen.OutputFile) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "go.mod", []byte("module theirs\n\ngo 1.26.0\n"))
	args := []string{"-p", "tools", "-o", "tools/tools.go"}
	for _, f := range files {
		if name, ok := strings.CutPrefix(f.Name, "schemas/"); ok {
			name = "schemas/" + strings.NewReplacer(".input.json", "_input.json", ".output.json", "_output.json").Replace(name)
			write(t, dir, name, f.Content)
			args = append(args, name)
		}
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "tools"), 0o755))
	command(t, dir, "go", "get", "-tool", "github.com/atombender/go-jsonschema@v0.24.1")
	command(t, dir, "go", append([]string{"tool", "go-jsonschema"}, args...)...)
	command(t, dir, "go", "mod", "tidy")
	command(t, dir, "go", "build", "./tools")
	return dir
}

// cold builds the package tools as if it had never been built: its content is new.
func cold(t *testing.T, dir string, round int) time.Duration {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "tools", "*.go"))
	require.NoError(t, err)
	f, err := os.OpenFile(paths[0], os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = fmt.Fprintf(f, "\n// round %d at %d\n", round, time.Now().UnixNano())
	require.NoError(t, err)
	require.NoError(t, f.Close())
	return timed(func() { command(t, dir, "go", "build", "./tools") })
}

func timed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// command is run with the network allowed.
func command(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(b)
}

// BenchmarkGenerate is the whole way from YAML to files, a hundred tools at a time.
func BenchmarkGenerate(b *testing.B) {
	source := fixture(100)
	for b.Loop() {
		f, err := dsl.Parse("tools.yaml", source)
		require.NoError(b, err)
		_, err = gen.Generate(f, gen.Options{})
		require.NoError(b, err)
	}
}
