package yamldoc_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/ambit-tools/ambit/dsl/yamldoc"
)

func TestDecode(t *testing.T) {
	doc, second, err := yamldoc.Decode([]byte("a: 1\n"))
	require.NoError(t, err)
	require.NotNil(t, doc)
	assert.Nil(t, second)
	assert.Equal(t, "a", doc.Content[0].Content[0].Value)

	doc, second, err = yamldoc.Decode(nil)
	require.NoError(t, err)
	assert.Nil(t, doc)
	assert.Nil(t, second)

	_, second, err = yamldoc.Decode([]byte("a: 1\n---\nb: 2\n"))
	require.NoError(t, err)
	require.NotNil(t, second)
	assert.Equal(t, 2, second.Line)
}

func TestFault(t *testing.T) {
	for src, want := range map[string]struct {
		line int
		what string
	}{
		"a:\n\t- b\n":         {2, "found character that cannot start any token"},
		"a: b: c\n":           {0, "mapping values are not allowed in this context"},
		"a: *x\n":             {0, "unknown anchor 'x' referenced"},
		"a: 1\nb: 2\nc: [1\n": {3, "did not find expected ',' or ']'"},
	} {
		doc, second, err := yamldoc.Decode([]byte(src))
		require.Error(t, err, src)
		assert.Nil(t, doc)
		assert.Nil(t, second)
		line, what := yamldoc.Fault(err)
		assert.Equal(t, want.what, what, src)
		assert.Equal(t, want.line, line, src)
	}
}

func TestYAML12(t *testing.T) {
	for src, want := range map[string]string{
		"%YAML 1.2\n---\na: b\n":             "b",
		"# c\n%YAML 1.3\n---\na: b\n":        "b",
		"a: |\n  \tb\n  c\n":                 "\tb\nc\n",
		"a: >- # c\n\n    \tb\n":             "\n\tb",
		"a: |\n  %YAML 1.2\n":                "%YAML 1.2\n",
		"a: |\n  b: |\n  \tc\n":              "b: |\n\tc\n",
		"a:\n- |\n  \tb\n- x\n":              "\tb\n",
		"a:\n  - b: |\n        \tc\n  - x\n": "\tc\n",
	} {
		doc, _, err := yamldoc.Decode([]byte(src))
		require.NoError(t, err, "%q", src)
		var texts []string
		var visit func(n *yaml.Node)
		visit = func(n *yaml.Node) {
			if n.Kind == yaml.ScalarNode {
				texts = append(texts, n.Value)
			}
			for _, part := range n.Content {
				visit(part)
			}
		}
		visit(doc)
		assert.Contains(t, texts, want, "%q", src)
	}
	_, _, err := yamldoc.Decode([]byte("a:\n\tb: c\n"))
	require.Error(t, err, "a tab is no indentation of keys")
}

func TestFaultIn(t *testing.T) {
	for src, want := range map[string]int{
		"a:\n  b: 1\n  c: {d: 1}\n e: 2\n": 4,
		"a:\n  - b\n  - c\n  d: 1\n":       4,
		"a: [1\nb: 2\n":                    2,
	} {
		_, _, err := yamldoc.Decode([]byte(src))
		require.Error(t, err, src)
		line, what := yamldoc.FaultIn([]byte(src), err)
		assert.Equal(t, want, line, "%q: %s", src, what)
	}
}
