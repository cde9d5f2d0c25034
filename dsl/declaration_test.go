package dsl

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDeclarationTable holds docs/declaration.md to the grammar types.
func TestDeclarationTable(t *testing.T) {
	golden(t, "../docs/declaration.md", declarationTable())
}

const declarationHead = `# The declaration

Every key of a declaration file (` + "`tools.yaml`" + `) with its type, its default and its rules. This page is written by
` + "`go test ./dsl -update`" + ` from the types in ` + "`dsl/grammar.go`" + `; ` + "`ambit schema`" + ` prints the same as a JSON Schema for editors,
which ` + "`ambit generate`" + ` writes where the first line of the file names it (` + "`# yaml-language-server: $schema=ambit.schema.json`" + `).
Package ` + "`dsl`" + ` documents the rules that are not about a single key.

*Rules* names the sections of [semantics.md](semantics.md) that say what a key does. A **bold** key is required.

Words: a *duration* is a number with a unit (` + "`500ms`, `5s`, `1h30m`" + `) above zero, a *delay* one that may be ` + "`0`" + `; a *size* is bytes or a
number with ` + "`B`, `KiB`, `MiB` or `GiB`" + `; a *name* has at most 64 lower-case letters, digits and underscores, a letter first; a *label* has
letters, digits and ` + "`. _ : / -`" + `; a *version* is a semantic version.
`

// declarationTable writes docs/declaration.md.
func declarationTable() []byte {
	var b bytes.Buffer
	b.WriteString(declarationHead)
	for _, section := range []struct {
		title   string
		grammar any
	}{
		{"The file", grammarFile{}}, {"`rules` of the file", grammarSetRules{}},
		{"`defaults`", grammarDefaults{}}, {"`consent` of `defaults`", grammarDefaultConsent{}}, {"`tools.NAME`", grammarTool{}},
		{"`limits`", grammarLimits{}}, {"`retry`", grammarRetry{}}, {"`idempotency`", grammarIdempotency{}},
		{"`consent`", grammarConsent{}}, {"`undo`", grammarUndo{}}, {"`artifact`", grammarArtifact{}},
		{"`deprecated`", grammarDeprecated{}}, {"`rules` of a tool", grammarRules{}},
		{"`requires_preceding`, long form", grammarPrecedingMap{}}, {"`max_calls`, long form", grammarMaxCallsMap{}},
		{"`cooldown`, long form", grammarCooldownMap{}},
		{"`allowed_operations`", grammarOperations{}}, {"A schema", grammarSchema{}},
	} {
		fmt.Fprintf(&b, "\n## %s\n| key | type | default | rules | meaning |\n|---|---|---|---|---|\n", section.title)
		for f := range reflect.TypeOf(section.grammar).Fields() {
			key := "`" + f.Tag.Get("yaml") + "`"
			if strings.Contains(f.Tag.Get("jsonschema"), "required") {
				key = "**" + key + "**"
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n",
				key, typeWords(f.Type), f.Tag.Get("default"), f.Tag.Get("rules"), f.Tag.Get("doc"))
		}
	}
	return b.Bytes()
}

// typeWords says in the table what a Go type of the grammar stands for.
func typeWords(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[grammarVersion]():
		return "`v1`"
	case reflect.TypeFor[grammarPackage]():
		return "Go identifier"
	case reflect.TypeFor[grammarSemver]():
		return "version"
	case reflect.TypeFor[grammarMedia]():
		return "media type"
	case reflect.TypeFor[grammarDedupe]():
		return "duration, `true`, `always` or `never`"
	case reflect.TypeFor[grammarDialect](), reflect.TypeFor[grammarRef](), reflect.TypeFor[grammarProse](), reflect.TypeFor[string]():
		return "text"
	case reflect.TypeFor[grammarType]():
		return "`" + strings.Join(typeNames, "`, `") + "`, or a list of one of them and `\"null\"`"
	case reflect.TypeFor[grammarFormat]():
		return "`" + strings.Join(formats, "`, `") + "`"
	case reflect.TypeFor[grammarGroup]():
		return "label or list of labels"
	case reflect.TypeFor[grammarPreceding]():
		return "list of tools, or long form"
	case reflect.TypeFor[grammarMaxCalls]():
		return "count, or long form"
	case reflect.TypeFor[grammarCooldown]():
		return "delay, or long form"
	case reflect.TypeFor[grammarToolNames]():
		return "list of tools"
	case reflect.TypeFor[grammarNames](), reflect.TypeFor[grammarUnique]():
		return "list of texts"
	case reflect.TypeFor[grammarReasons]():
		return "name to text"
	case reflect.TypeFor[grammarModes]():
		return "name to list of labels"
	case reflect.TypeFor[grammarTools]():
		return "name to tool"
	case reflect.TypeFor[grammarTypes](), reflect.TypeFor[grammarProperties]():
		return "name to schema"
	case reflect.TypeFor[grammarBranches]():
		return "list of schemas"
	case reflect.TypeFor[grammarRoot]():
		return "schema"
	case reflect.TypeFor[grammarAdditional]():
		return "boolean or schema"
	case reflect.TypeFor[grammarItems]():
		return "schema or `false`"
	}
	return kindWords(t)
}

// kindWords names the types that need no words of their own.
func kindWords(t reflect.Type) string {
	name := definitionName(t)
	switch t.Kind() {
	case reflect.Pointer:
		return "see below"
	case reflect.Bool:
		return "boolean"
	case reflect.Float64:
		return "number"
	case reflect.Int:
		if name == "bound" {
			return "whole number from 0"
		}
		return "whole number from 1"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Interface {
			return "list of values"
		}
		return "list of " + typeWords(t.Elem()) + "s"
	case reflect.Map:
		return "member to value"
	case reflect.Interface:
		return "value"
	case reflect.String:
		switch name {
		case "effect":
			return "`read`, `write` or `destructive`"
		case "ask":
			return "`always` or `policy`"
		case "cover":
			return "`exact`, `args` or `tool`"
		}
	}
	return name
}

// TestDefaults holds the defaults of the table to those of Parse.
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
	said := func(grammar any, key string) string {
		for f := range reflect.TypeOf(grammar).Fields() {
			if f.Tag.Get("yaml") == key {
				return f.Tag.Get("default")
			}
		}
		return ""
	}
	duration := func(grammar any, key string) time.Duration {
		d, err := time.ParseDuration(said(grammar, key))
		require.NoError(t, err)
		return d
	}
	assert.Equal(t, duration(grammarDefaults{}, "deadline"), tool.Deadline)
	assert.Equal(t, duration(grammarDefaultConsent{}, "timeout"), tool.Consent.Timeout)
	assert.Equal(t, said(grammarDefaults{}, "dedupe"), tool.Dedupe.Mode)
	assert.Equal(t, said(grammarTool{}, "effect"), tool.Effect)
	assert.Equal(t, duration(grammarTool{}, "deadline"), tool.Deadline)
	assert.Equal(t, said(grammarTool{}, "dedupe"), tool.Dedupe.Mode)
	assert.Equal(t, "64KiB 1MiB", said(grammarLimits{}, "input")+" "+said(grammarLimits{}, "output"))
	assert.Equal(t, Limits{Input: 64 << 10, Output: 1 << 20}, tool.Limits)
	assert.Equal(t, said(grammarRetry{}, "max"), fmt.Sprint(tool.Retry.Max))
	assert.Equal(t, duration(grammarRetry{}, "initial"), tool.Retry.Initial)
	assert.Equal(t, duration(grammarRetry{}, "cap"), tool.Retry.Cap)
	assert.Equal(t, duration(grammarConsent{}, "timeout"), tool.Consent.Timeout)
	assert.Equal(t, said(grammarConsent{}, "quorum"), fmt.Sprint(tool.Consent.Quorum))
	assert.Equal(t, said(grammarConsent{}, "max_cover"), tool.Consent.MaxCover)
	assert.Equal(t, duration(grammarUndo{}, "ttl"), tool.Undo.TTL)
	assert.Equal(t, said(grammarArtifact{}, "over"), fmt.Sprint(tool.Artifact.Over))
}

// TestRulesOfKeys: the sections that the table names are those of docs/semantics.md.
func TestRulesOfKeys(t *testing.T) {
	text, err := os.ReadFile("../docs/semantics.md")
	require.NoError(t, err)
	page, named := string(text), 0
	for _, m := range regexp.MustCompile(`(?m)^(?:\|[^|]*){3}\| ([0-9., ]+) \|`).FindAllStringSubmatch(string(declarationTable()), -1) {
		for section := range strings.SplitSeq(m[1], ", ") {
			named++
			assert.True(t, regexp.MustCompile(`(?m)^##+ `+regexp.QuoteMeta(section)+`\.? `).MatchString(page), "docs/semantics.md has no section %s", section)
		}
	}
	assert.NotZero(t, named)
}
