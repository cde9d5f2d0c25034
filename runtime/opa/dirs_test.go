package opa

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ambit-tools/ambit/runtime"
)

const limitPolicy = "package ambit.policies.limits\n\ndeny contains {\"code\": \"too_many\", \"message\": \"m\"} if {\n\tinput.tool.name == \"file_read\"\n\tcount(input.args.path) > data.limits.reads\n}\n"

// folder returns a directory of pairs of name and text, without generated files.
func folder(pairs ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		fsys[pairs[i]] = text(pairs[i+1])
	}
	return fsys
}

// Directories decide together: rules add up, data and helpers are shared, files
// of the same path are told apart.
func TestJoinedDirectories(t *testing.T) {
	own := dir("o.rego", org(closedPolicy), "limits/data.json", `{"writes": 3}`)
	shared := folder("o.rego", limitPolicy, "limits/data.json", `{"reads": 2}`)
	reg := registryOf(t, specs())
	p, err := Load(Join(Dir{FS: own}, Dir{Name: "/etc/org", FS: shared}), reg)
	require.NoError(t, err)
	in := call(t, reg, "file_read", `{"path":"abc"}`)
	var at []string
	for _, d := range decide(t, p, in).Denials {
		at = append(at, d.Code+" "+d.At)
	}
	assert.Equal(t, []string{"night o.rego:3", "too_many /etc/org/o.rego:3"}, at)
}

func TestJoinedRevision(t *testing.T) {
	own, shared := dir("o.rego", org(closedPolicy)), folder("limits/data.json", `{"reads": 2}`)
	revision := func(fsys fs.FS) string {
		src, err := readSource(fsys)
		require.NoError(t, err)
		return src.revision
	}
	alone := revision(own)
	assert.Equal(t, alone, revision(Join(Dir{FS: own})))
	assert.Equal(t, alone, revision(Join(Dir{Name: "x", FS: own})), "a name decides nothing")
	both := revision(Join(Dir{FS: own}, Dir{Name: "x", FS: shared}))
	assert.NotEqual(t, alone, both)
	assert.Equal(t, both, revision(Join(Dir{Name: "a", FS: own}, Dir{Name: "b", FS: shared})))
	assert.NotEqual(t, both, revision(Join(Dir{Name: "b", FS: shared}, Dir{Name: "a", FS: own})), "the order names the directories")
	assert.NotEqual(t, both, revision(Join(Dir{FS: own}, Dir{Name: "x", FS: folder("limits/data.json", `{"reads": 3}`)})))
}

// What is wrong is named with the directory that it is in.
func TestMistakesInJoinedDirectories(t *testing.T) {
	own := Dir{Name: "shop/policy", FS: dir("o.rego", org(closedPolicy), "limits/data.json", `{"reads": 1}`)}
	with := func(pairs ...string) []Dir { return []Dir{own, {Name: "org", FS: folder(pairs...)}} }
	for _, test := range []struct {
		dirs []Dir
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
		{[]Dir{{Name: "a", FS: folder()}, {Name: "b", FS: folder()}}, "a/ambit_gen/data.json: the declarations are missing (run go generate beside tools.yaml)"},
		{[]Dir{{Name: "a", FS: folder()}, {Name: "b", FS: folder("ambit_gen/data.json", "{}")}}, "b/ambit_gen/schemas.json: the file is missing (run go generate)"},
		{[]Dir{own, {Name: "shop", FS: folder("policy/o.rego", "package acme\n")}}, "shop/policy/o.rego: files of two policy directories have this name (give one of the directories another name; if one is inside the other, leave it out)"},
		{[]Dir{own, own}, `shop/policy: two policy directories have the name "shop/policy" (give each its own name)`},
		{[]Dir{own, {Name: "org"}}, "org: no policy directory (pass its file system)"},
		{[]Dir{own, {Name: "ambit:org", FS: folder()}}, `ambit:org: no policy directory can be named so: "ambit:" begins the names of the library's files (give it another name)`},
		{[]Dir{own, {Name: "org", FS: Join(own)}}, "org: directories that are joined already (pass all of them to one Join)"},
		{nil, ".: no policy directory (pass its file system)"},
		{[]Dir{own, {Name: "org", FS: os.DirFS("testdata/nosuch")}}, `policy directory "org": `},
	} {
		err := Check(Join(test.dirs...))
		assert.ErrorContains(t, err, test.want)
	}
	errs, ok := Check(Join(with("o.rego", "package ambit.policies.org\n\nx if nosuch(1)\n")...)).(Errors)
	require.True(t, ok)
	assert.Equal(t, "x if nosuch(1)", errs[0].Excerpt)
}

// Declarations that are not those of the program are named where they are.
func TestStaleJoinedDirectories(t *testing.T) {
	changed := specs()
	changed[0].Pin = "sha256:other"
	_, err := Load(Join(Dir{Name: "org", FS: folder()}, Dir{Name: "shop/policy", FS: dir()}), registryOf(t, changed))
	assert.ErrorContains(t, err, `shop/policy/ambit_gen/data.json: the tool "file_read" was declared anew`)
}

// A joined file system opens what an error or a decision names.
func TestOpenJoinedDirectories(t *testing.T) {
	joined := Join(Dir{FS: folder("o.rego", "own")}, Dir{Name: "../org", FS: folder("a/o.rego", "shared")}, Dir{Name: "none"})
	for name, want := range map[string]string{"o.rego": "own", "../org/a/o.rego": "shared"} {
		got, err := fs.ReadFile(joined, name)
		require.NoError(t, err, name)
		assert.Equal(t, want, string(got))
	}
	for _, name := range []string{"a/o.rego", "../org/o.rego", "../org/../o.rego", "../org", "none/o.rego", ""} {
		_, err := joined.Open(name)
		assert.ErrorIs(t, err, fs.ErrNotExist, name)
	}
}

// Tests of all directories run against all of them.
func TestTestsOfJoinedDirectories(t *testing.T) {
	own := Dir{Name: "own", FS: dir("o.rego", org(closedPolicy), "o_test.rego", passingTest)}
	shared := Dir{Name: "org", FS: folder("o.rego", limitPolicy, "limits/data.json", `{"reads": 2}`, "o_test.rego",
		"package ambit.policies.limits_test\n\ntest_limit if count(data.ambit.policies.limits.deny) == 1 with input as {\"tool\": {\"name\": \"file_read\"}, \"args\": {\"path\": \"abc\"}}\n")}
	report, err := Test(t.Context(), Join(own, shared), TestOptions{})
	require.NoError(t, err)
	require.Len(t, report.Tests, 2)
	assert.Empty(t, report.Failed())
	assert.Equal(t, "org/o_test.rego", report.Tests[0].File)
	assert.Equal(t, "own/o_test.rego", report.Tests[1].File)
	require.Len(t, report.Files, 2)
	assert.Equal(t, "org/o.rego", report.Files[0].File)
}

// A change of any directory is taken, and none while one of them is not whole.
func TestWatchJoinedDirectories(t *testing.T) {
	defer goleak.VerifyNone(t)
	own, shared := t.TempDir(), t.TempDir()
	write(t, own, dir())
	write(t, shared, folder("limits/data.json", `{"reads": 2}`))
	rules := Join(Dir{FS: os.DirFS(own)}, Dir{Name: "org", FS: os.DirFS(shared)})
	reg := registryOf(t, specs())
	p, err := Load(rules, reg)
	require.NoError(t, err)
	in := call(t, reg, "file_read", `{"path":"a"}`)
	policy := filepath.Join(shared, "o.rego")
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Millisecond) // so that the looks are between the changes
		watch(t, func(ctx context.Context, report func(error)) error { return p.WatchFS(ctx, rules, report) }, func(reports func() []error) {
			ticks(3)
			assert.Empty(t, reports(), "nothing changed")

			require.NoError(t, os.WriteFile(policy, []byte(org(closedPolicy)), 0o644))
			ticks(2)
			assert.Equal(t, []error{nil}, reports())
			d := decide(t, p, in)
			require.Equal(t, runtime.EffectDeny, d.Effect)
			assert.Equal(t, "org/o.rego:3", d.Denials[0].At)

			good := p.Revision()
			require.NoError(t, os.WriteFile(filepath.Join(own, "w.rego"), []byte("package ambit.tools.nosuch\n"), 0o644))
			ticks(3)
			require.Len(t, reports(), 2)
			assert.ErrorContains(t, reports()[1], `w.rego:1:1: package of the unknown tool "nosuch"`)
			require.NoError(t, os.Remove(policy))
			ticks(3)
			require.Len(t, reports(), 3, "the other directory is wrong still")
			assert.Equal(t, good, p.Revision())

			require.NoError(t, os.Rename(shared, shared+".away"))
			require.NoError(t, os.Remove(filepath.Join(own, "w.rego")))
			ticks(3)
			require.Len(t, reports(), 4)
			assert.ErrorContains(t, reports()[3], `policy directory "org": `)
			assert.Equal(t, good, p.Revision(), "one of them is not there")

			require.NoError(t, os.Rename(shared+".away", shared))
			ticks(2)
			require.Len(t, reports(), 5)
			assert.NoError(t, reports()[4])
			assert.Equal(t, runtime.EffectAllow, decide(t, p, in).Effect)
		})
	})
}

// Reloads of joined directories while decisions run.
func TestReloadJoinedDirectories(t *testing.T) {
	defer goleak.VerifyNone(t)
	own := Dir{FS: dir()}
	open, closed := Join(own, Dir{Name: "org", FS: folder()}), Join(own, Dir{Name: "org", FS: folder("o.rego", org(closedPolicy))})
	reg := registryOf(t, specs())
	p, err := Load(open, reg)
	require.NoError(t, err)
	in := call(t, reg, "file_read", `{"path":"a"}`)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				if _, err := p.Decide(t.Context(), in); !assert.NoError(t, err) {
					return
				}
			}
		})
	}
	for _, rules := range []fs.FS{closed, open, closed} {
		require.NoError(t, p.Reload(rules))
	}
	wg.Wait()
	assert.Equal(t, runtime.EffectDeny, decide(t, p, in).Effect)
}
