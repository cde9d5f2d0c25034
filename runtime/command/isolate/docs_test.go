package isolate_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/isolate"
	"github.com/ambit-tools/ambit/runtime/command/process"
)

// TestTableOfTheDocs: the table of docs/isolation.md is what Levels says of each class of host.
func TestTableOfTheDocs(t *testing.T) {
	hosts := []struct {
		title string
		tier  runtime.Tier
		host  isolate.Host
	}{
		{"sandbox", runtime.TierSandbox, isolate.Host{System: "linux", Sandbox: true, Namespaces: true}},
		{"sandbox, as root", runtime.TierSandbox, isolate.Host{System: "linux", Sandbox: true, Namespaces: true, Root: true}},
		{"sandbox without namespaces", runtime.TierSandbox, isolate.Host{System: "linux", Sandbox: true}},
		{"process, Linux", runtime.TierProcess, isolate.Host{System: "linux", Sandbox: true, Namespaces: true}},
		{"process, macOS", runtime.TierProcess, isolate.Host{System: "darwin"}},
	}
	var b strings.Builder
	b.WriteString("\n| limit |")
	for _, h := range hosts {
		b.WriteString(" " + h.title + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(hosts)) + "\n")
	for _, name := range runtime.LimitNames() {
		fmt.Fprintf(&b, "| `%s` |", name)
		for _, h := range hosts {
			level := isolate.Levels(h.host, &process.Spec{Tier: h.tier}).Of(name)
			require.True(t, level.Level == runtime.LevelEnforced || level.Note != "", "%s is %s and does not say why", name, level.Level)
			b.WriteString(" " + level.Level.String() + " |")
		}
		b.WriteString("\n")
	}
	page, err := os.ReadFile("../../../docs/isolation.md")
	require.NoError(t, err)
	_, table, _ := strings.Cut(string(page), "<!-- levels -->\n")
	table, _, _ = strings.Cut(table, "<!-- /levels -->")
	require.Equal(t, b.String()+"\n", table)
	t.Log(b.String())
}
