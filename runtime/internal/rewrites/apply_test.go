package rewrites_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/rewrites"
)

// TestApply: only the members that are rewritten change, to the last digit.
func TestApply(t *testing.T) {
	rewrite := func(pointer, value string) runtime.Rewrite {
		return runtime.Rewrite{Code: "r", Pointer: pointer, Value: []byte(value), At: "a.rego:1"}
	}
	text := []byte(`{"a": 1.50, "b":{"c":1}}`)
	for name, row := range map[string]struct {
		list []runtime.Rewrite
		want string
		err  string
	}{
		"none":          {want: string(text)},
		"one":           {list: []runtime.Rewrite{rewrite("/b/c", "2")}, want: `{"a": 1.50, "b":{"c":2}}`},
		"two":           {list: []runtime.Rewrite{rewrite("/b/c", "2"), rewrite("/a", `"x"`)}, want: `{"a": "x", "b":{"c":2}}`},
		"contradiction": {list: []runtime.Rewrite{rewrite("/a", "2"), rewrite("/a", "3")}, err: "contradict each other"},
		"no JSON":       {list: []runtime.Rewrite{rewrite("/a", "{")}, err: `rewrite "r" of "/a"`},
		"too large":     {list: []runtime.Rewrite{rewrite("/a", `"`+string(make([]byte, 100))+`"`)}, err: "its value is no JSON"},
		"no place":      {list: []runtime.Rewrite{rewrite("/a/b", "2")}, err: `rewrite "r" of "/a/b"`},
		"no pointer":    {list: []runtime.Rewrite{rewrite("a", "2")}, err: `rewrite "r" of "a"`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := rewrites.Apply(text, text, row.list, 64)
			if row.err != "" {
				require.ErrorContains(t, err, row.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, row.want, string(got))
		})
	}
	assert.Equal(t, `{"a": 1.50, "b":{"c":1}}`, string(text), "the text is not changed")
}
