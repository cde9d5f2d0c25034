package testscripts_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/cmd/ambit/cli"
	"github.com/ambit-tools/ambit/runtime"
)

// TestEveryOutcomeHasAScript: the name of a script about outcomes says after its
// category which kind it is about, every kind has one, and it looks for that kind.
func TestEveryOutcomeHasAScript(t *testing.T) {
	var kinds []string
	for k := runtime.OutcomeKind(0); new(runtime.OutcomeKind).UnmarshalText([]byte(k.String())) == nil; k++ {
		kinds = append(kinds, k.String())
	}
	require.Contains(t, kinds, runtime.Unknown.String())
	shown := map[string]bool{}
	for name, text := range scripts(t, "outcome_*") {
		i := slices.IndexFunc(kinds, func(kind string) bool { return strings.HasPrefix(name+"_", "outcome_"+kind+"_") })
		require.GreaterOrEqual(t, i, 0, "%s names none of the kinds %q", name, kinds)
		look := regexp.MustCompile(`(?m)^(stdout .*)?[a-z0-9_]* ?` + kinds[i] + `\b`)
		require.True(t, look.MatchString(text), "%s does not look for %s", name, kinds[i])
		shown[kinds[i]] = true
	}
	for _, kind := range kinds {
		require.True(t, shown[kind], "no script outcome_%s*.txtar", kind)
	}
}

// TestEveryVerbHasAScript: every command of the command line, as its help lists
// them, is run by a script in which it succeeds.
func TestEveryVerbHasAScript(t *testing.T) {
	var all strings.Builder
	for _, text := range scripts(t, "*") {
		all.WriteString(text)
	}
	list := verbs(t, nil)
	require.Contains(t, list, "approvals deny")
	for _, verb := range list {
		run := regexp.MustCompile(`(?m)^(\[\w+\] )?exec ambit ` + verb + `( |$)`)
		assert.True(t, run.MatchString(all.String()), "no script runs ambit %s", verb)
	}
}

// TestEveryVerbRefusesAFormerStore: cli_former_store names each verb that takes a store.
func TestEveryVerbRefusesAFormerStore(t *testing.T) {
	text := scripts(t, "cli_former_store")["cli_former_store"]
	n := 0
	for _, verb := range verbs(t, nil) {
		var help bytes.Buffer
		require.Zero(t, cli.Run(append(strings.Fields(verb), "--help"), strings.NewReader(""), &help, &help), verb)
		if strings.Contains(help.String(), "--store file") {
			n++
			assert.Contains(t, text, "\nexits 1 ambit "+verb+" ", "the script does not run ambit %s", verb)
		}
	}
	assert.GreaterOrEqual(t, n, 30, "verbs with a store")
}

// verbs returns the commands below one that have no subcommands.
func verbs(t *testing.T, path []string) []string {
	t.Helper()
	var help bytes.Buffer
	require.Zero(t, cli.Run(append(slices.Clone(path), "--help"), strings.NewReader(""), &help, &help), "%q", path)
	_, list, ok := strings.Cut(help.String(), "\nAvailable Commands:\n")
	if !ok {
		return []string{strings.Join(path, " ")}
	}
	list, _, _ = strings.Cut(list, "\n\n")
	var out []string
	for line := range strings.Lines(list) {
		out = append(out, verbs(t, append(slices.Clone(path), strings.Fields(line)[0]))...)
	}
	return out
}

// scripts returns the scripts whose names, which are without their ending, match a pattern.
func scripts(t *testing.T, pattern string) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(pattern + ".txtar")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	out := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		out[strings.TrimSuffix(path, ".txtar")] = string(text)
	}
	return out
}
