package lint

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/rego/regotest"
	"github.com/ambit-tools/ambit/policies"
)

// What is wrong is named with the directory that it is in.
func TestMistakesInJoinedDirectories(t *testing.T) {
	own := policies.Dir{Name: "shop/policy", FS: regotest.Dir("o.rego", regotest.Org(regotest.ClosedPolicy), "limits/data.json", `{"reads": 1}`)}
	with := func(pairs ...string) []policies.Dir {
		return []policies.Dir{own, {Name: "org", FS: regotest.Folder(pairs...)}}
	}
	for _, test := range []struct {
		dirs []policies.Dir
		want string
	}{
		{with("o.rego", "package ambit.policies.org\n\nx if nosuch(1)\n"), "org/o.rego:3:6: undefined function nosuch"},
		{with("o.rego", "package ambit.policies.org\n\ndeny contains {\"code\": \"nite\", \"message\": \"m\"}\n"), `org/o.rego:3:24: the code "nite" is not declared`},
		{with("freeze.reg", ""), `org/freeze.reg: "freeze.reg" is not read (call it freeze.rego)`},
		{with("limits/data.json", `{"reads": 2}`), "shop/policy/limits/data.json: data.limits.reads is given by org/limits/data.json:1 too (keep one of them)"},
		{with("limits/data.json", `{"reads"`), "org/limits/data.json: not JSON"},
		{with("limits/data.json", `{"x": 1, "x": 2}`), `org/limits/data.json:1:10: duplicate key "x"`},
		{with("ambit_gen/data.json", "{}"), "org/ambit_gen: the declarations of the tools are in shop/policy/ambit_gen already (one of the policy directories holds ambit_gen: remove it from the others)"},
		{with("o_test.rego", "package x_test\n\ntest_x if nosuch(1)\n"), "org/o_test.rego:3:11: undefined function nosuch"},
		{[]policies.Dir{{Name: "a", FS: regotest.Folder()}, {Name: "b", FS: regotest.Folder()}}, "a/ambit_gen/data.json: the declarations are missing (run go generate beside tools.yaml)"},
		{[]policies.Dir{{Name: "a", FS: regotest.Folder()}, {Name: "b", FS: regotest.Folder("ambit_gen/data.json", "{}")}}, "b/ambit_gen/schemas.json: the file is missing (run go generate)"},
		{[]policies.Dir{own, {Name: "shop", FS: regotest.Folder("policy/o.rego", "package acme\n")}}, "shop/policy/o.rego: files of two policy directories have this name (give one of the directories another name; if one is inside the other, leave it out)"},
		{[]policies.Dir{own, own}, `shop/policy: two policy directories have the name "shop/policy" (give each its own name)`},
		{[]policies.Dir{own, {Name: "org"}}, "org: no policy directory (pass its file system)"},
		{[]policies.Dir{own, {Name: "ambit:org", FS: regotest.Folder()}}, `ambit:org: no policy directory can be named so: "ambit:" begins the names of the library's files (give it another name)`},
		{[]policies.Dir{own, {Name: "org", FS: policies.Join(own)}}, "org: directories that are joined already (pass all of them to one Join)"},
		{nil, ".: no policy directory (pass its file system)"},
		{[]policies.Dir{own, {Name: "org", FS: os.DirFS("testdata/nosuch")}}, `policy directory "org": `},
	} {
		err := checkDir(policies.Join(test.dirs...))
		assert.ErrorContains(t, err, test.want)
	}
	errs, ok := checkDir(policies.Join(with("o.rego", "package ambit.policies.org\n\nx if nosuch(1)\n")...)).(policies.Diagnostics)
	require.True(t, ok)
	assert.Equal(t, "x if nosuch(1)", errs[0].Excerpt)
}

func TestLinkLoop(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.Symlink(".", filepath.Join(root, "again")))
	assert.ErrorContains(t, checkDir(os.DirFS(root)), "directories nest deeper than 16")
}
