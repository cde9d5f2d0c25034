package lint

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/rego/regotest"
	"github.com/ambit-tools/ambit/policies"
)

// A verdict is a policy of an organization's package and what is wrong with it;
// nothing when want is empty. The body of the rule stands for itself.
type verdict struct{ policy, want string }

// judge checks all policies at once, each in a file and a package of its own, and
// holds what is reported of each against what is wanted.
func judge(t *testing.T, header string, table []verdict) {
	t.Helper()
	fsys := regotest.ShopDir(t)
	for i, v := range table {
		fsys[fmt.Sprintf("p%03d.rego", i)] = regotest.Text(fmt.Sprintf(header, fmt.Sprintf("p%03d", i)) + "\n\n" + v.policy)
	}
	said, data := reported(checkDir(fsys))
	for i, v := range table {
		got := said[fmt.Sprintf("p%03d.rego", i)]
		switch {
		case v.want == "":
			assert.Empty(t, got, v.policy)
		case strings.HasPrefix(v.want, "acme/data.json"):
			assert.Contains(t, data, v.want, v.policy)
		default:
			assert.Contains(t, got, v.want, v.policy)
		}
	}
}

// reported returns the errors of each file, and those of all data files.
func reported(err error) (byFile map[string]string, data string) {
	byFile = map[string]string{}
	list, _ := err.(policies.Diagnostics)
	if err != nil && list == nil {
		panic(err)
	}
	for _, e := range list {
		byFile[e.File] += e.Error() + "\n"
		if strings.HasSuffix(e.File, "data.json") {
			data += e.Error() + "\n"
		}
	}
	return byFile, data
}

const orgHeader = "package ambit.policies.%s\n\nimport data.acme\n\nallow contains {\"code\": \"a\", \"message\": \"m\"} if acme.number == 1"

// alone checks policies one by one, in the package of a tool.
func alone(t *testing.T, tool string, table []verdict) {
	t.Helper()
	fsys := regotest.ShopDir(t)
	for _, v := range table {
		fsys["t.rego"] = regotest.Text("package ambit.tools." + tool + "\n\n" + v.policy)
		_, err := fs.Stat(fsys, "t.rego")
		require.NoError(t, err)
		if err := checkDir(fsys); v.want == "" {
			assert.NoError(t, err, v.policy)
		} else {
			assert.ErrorContains(t, err, v.want, v.policy)
		}
	}
}

// warned returns the warnings about a policy of an organization.
func warned(t *testing.T, fsys fstest.MapFS) policies.Diagnostics {
	t.Helper()
	b, err := read(fsys)
	require.NoError(t, err)
	return b.Warnings()
}

// checkDir returns what is wrong with a policy directory.
func checkDir(fsys fs.FS) error {
	report, err := Check(fsys)
	if err != nil {
		return err
	}
	return report.Err()
}
