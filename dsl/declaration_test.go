package dsl

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDeclarationTable holds docs/declaration.md to the tables of keys.
func TestDeclarationTable(t *testing.T) {
	golden(t, "../docs/declaration.md", declarationTable())
}

const declarationHead = `# The declaration

Every key of ` + "`tools.yaml`" + `; [tools.md](tools.md) is the guide. A **bold** key is required. Numbers in parentheses are sections of [semantics.md](semantics.md). ` + "`ambit schema`" + ` prints the same as a JSON Schema for editors,
which ` + "`ambit generate`" + ` writes where the first line of the file names it (` + "`# yaml-language-server: $schema=ambit.schema.json`" + `).
Package ` + "`dsl`" + ` documents the rules that are not about a single key.

Words: a *duration* is a number with a unit (` + "`500ms`, `5s`, `1h30m`" + `) above zero, a *delay* one that may be ` + "`0`" + `; a *size* is bytes or a
number with ` + "`B`, `KiB`, `MiB` or `GiB`" + `; a *name* has at most 64 lower-case letters, digits and underscores, a letter first; a *label* has
letters, digits and ` + "`. _ : / -`" + `; a *version* is a semantic version.
`

// declarationTable writes docs/declaration.md.
func declarationTable() []byte {
	var b bytes.Buffer
	b.WriteString(declarationHead)
	l := newLevels()
	describeTable(&b, "The file", l.file)
	describeTable(&b, "`rules` of the file", l.setRules)
	describeTable(&b, "`defaults`", l.defaults)
	describeTable(&b, "`consent` of `defaults`", l.defaultConsent)
	describeTable(&b, "`tools.NAME`", l.tool)
	describeTable(&b, "`limits`", l.limits)
	describeTable(&b, "`retry`", l.retry)
	describeTable(&b, "`idempotency`", l.idempotency)
	describeTable(&b, "`consent`", l.consent)
	describeTable(&b, "`undo`", l.undo)
	describeTable(&b, "`artifact`", l.artifact)
	describeTable(&b, "`deprecated`", l.deprecated)
	describeTable(&b, "`rules` of a tool", l.rules)
	describeTable(&b, "`requires_preceding`, long form", l.preceding)
	describeTable(&b, "`max_calls`, long form", l.maxCalls)
	describeTable(&b, "`cooldown`, long form", l.cooldown)
	describeTable(&b, "`allowed_operations`", l.operations)
	describeTable(&b, "`command`", l.command)
	describeTable(&b, "An entry of `command.run`, long form", l.element)
	describeTable(&b, "`command.shell`", l.shell)
	describeTable(&b, "An exit code of `command.exits`, long form", l.exit)
	describeTable(&b, "`limits.memory`, long form", l.memoryBound)
	b.WriteString("\nThose of `file`, `scratch`, `processes`, `files` and `cpu` have `max`, which is what the short form is, and `enforcement`.\n")
	describeTable(&b, "A schema", l.schema)
	return b.Bytes()
}

// describeTable writes the keys of a mapping.
func describeTable[T any](b *bytes.Buffer, title string, l level[T]) {
	fmt.Fprintf(b, "\n## %s\n| key | type; default | meaning |\n|---|---|---|\n", title)
	for _, k := range l.keys {
		name := "`" + k.name + "`"
		if k.required {
			name = "**" + name + "**"
		}
		is, means := k.is.words, k.doc
		if k.without != "" {
			is += "; " + k.without
		}
		if k.rules != "" {
			means += " (" + k.rules + ")"
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", name, is, means)
	}
}

// TestDefaults holds the defaults of the table to those of Parse.
// SEMANTICS 8.1.1, 8.1.3, 8.1.4, 8.1.5, 8.1.6, 8.1.13
func TestDefaults(t *testing.T) {
	f, err := Parse("minimal.yaml", []byte(`
ambit: v1
package: shop
tools:
  buy:
    version: 1.0.0
    description: Buy something.
    idempotent: true
    input: {type: object}
    output: {type: object}
    limits: {}
    retry: {}
    consent: {ask: always}
    undo: {state: {type: object}}
    artifact: {type: text/plain}
`))
	require.NoError(t, err)
	tool := f.Tools[0]
	l := newLevels()
	duration := func(said string) time.Duration {
		d, err := time.ParseDuration(said)
		require.NoError(t, err)
		return d
	}
	assert.Equal(t, duration(l.defaults.key("deadline").without), tool.Deadline)
	assert.Equal(t, duration(l.defaultConsent.key("timeout").without), tool.Consent.Timeout)
	assert.Equal(t, l.defaults.key("dedupe").without, tool.Dedupe.Mode)
	assert.Equal(t, l.tool.key("effect").without, tool.Effect)
	assert.Equal(t, duration(l.tool.key("deadline").without), tool.Deadline)
	assert.Equal(t, l.tool.key("dedupe").without, tool.Dedupe.Mode)
	assert.Equal(t, "64KiB 1MiB", l.limits.key("input").without+" "+l.limits.key("output").without)
	assert.Equal(t, Limits{Input: 64 << 10, Output: 1 << 20}, tool.Limits)
	assert.Equal(t, l.retry.key("max").without, fmt.Sprint(tool.Retry.Max))
	assert.Equal(t, duration(l.retry.key("initial").without), tool.Retry.Initial)
	assert.Equal(t, duration(l.retry.key("cap").without), tool.Retry.Cap)
	assert.Equal(t, duration(l.consent.key("timeout").without), tool.Consent.Timeout)
	assert.Equal(t, l.consent.key("quorum").without, fmt.Sprint(tool.Consent.Quorum))
	assert.Equal(t, l.consent.key("max_cover").without, tool.Consent.MaxCover)
	assert.Equal(t, duration(l.undo.key("ttl").without), tool.Undo.TTL)
	assert.Equal(t, l.artifact.key("over").without, fmt.Sprint(tool.Artifact.Over))
}

// TestRulesOfKeys: the sections that the table names are those of docs/semantics.md.
func TestRulesOfKeys(t *testing.T) {
	text, err := os.ReadFile("../docs/semantics.md")
	require.NoError(t, err)
	page, named := string(text), 0
	for _, m := range regexp.MustCompile(`(?m) \(([0-9., ]+)\) \|$`).FindAllStringSubmatch(string(declarationTable()), -1) {
		for section := range strings.SplitSeq(m[1], ", ") {
			named++
			assert.True(t, regexp.MustCompile(`(?m)^##+ `+regexp.QuoteMeta(section)+`\.? `).MatchString(page), "docs/semantics.md has no section %s", section)
		}
	}
	assert.NotZero(t, named)
}
