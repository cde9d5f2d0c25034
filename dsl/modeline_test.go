package dsl

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEditorSchemaFile(t *testing.T) {
	for src, want := range map[string]string{
		"# yaml-language-server: $schema=ambit.schema.json\nambit: v1\n":                          "ambit.schema.json",
		"\ufeff# yaml-language-server: $schema=ambit.schema.json\r\nambit: v1\r\n":                "ambit.schema.json",
		"%YAML 1.2\n---\n\n# ours\n#  yaml-language-server : x=1 $schema=./a/b.json y\nambit: v1": "a/b.json",
		"# yaml-language-server: $schema=x/../a.json":                                             "a.json",
		"#yaml-language-server: $schema=a.json":                                                   "", // an editor passes over it
		"ambit: v1\n# yaml-language-server: $schema=ambit.schema.json\n":                          "",
		"# yaml-language-server: $schema=https://example.com/a.json":                              "",
		"# yaml-language-server: $schema=file:///a.json":                                          "",
		"# yaml-language-server: $schema=/a.json":                                                 "",
		"# yaml-language-server: $schema=../a.json":                                               "",
		"# yaml-language-server: $schema=a/../../a.json":                                          "",
		`# yaml-language-server: $schema=a\b.json`:                                                "",
		"# yaml-language-server: $schema=tools.yaml":                                              "",
		"# yaml-language-server: $schema=.json":                                                   ".json",
		"# yaml-language-server: schema=a.json":                                                   "",
		"":                                                                                        "",
	} {
		assert.Equal(t, want, editorSchemaFile([]byte(src)), "%q", src)
	}
}

func TestParseReadsTheModeline(t *testing.T) {
	src := string(read(t, "testdata/good/minimal.yaml"))
	f, err := Parse("tools.yaml", []byte("# yaml-language-server: $schema=ambit.schema.json\n"+src))
	require.NoError(t, err)
	assert.Equal(t, "ambit.schema.json", f.EditorSchema)
	f, err = Parse("tools.yaml", []byte(strings.TrimPrefix(src, "\ufeff")))
	require.NoError(t, err)
	assert.Empty(t, f.EditorSchema)
}
