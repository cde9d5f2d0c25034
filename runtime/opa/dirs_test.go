package opa

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/internal/rego/regotest"
	"github.com/ambit-tools/ambit/policies"
	"github.com/ambit-tools/ambit/runtime"
)

const limitPolicy = "package ambit.policies.limits\n\ndeny contains {\"code\": \"too_many\", \"message\": \"m\"} if {\n\tinput.tool.name == \"file_read\"\n\tcount(input.args.path) > data.limits.reads\n}\n"

// Directories decide together: rules add up, data and helpers are shared, files
// of the same path are told apart.
func TestJoinedDirectories(t *testing.T) {
	own := regotest.Dir("o.rego", regotest.Org(regotest.ClosedPolicy), "limits/data.json", `{"writes": 3}`)
	shared := regotest.Folder("o.rego", limitPolicy, "limits/data.json", `{"reads": 2}`)
	reg := registryOf(t, specs())
	p, err := Load(policies.Join(policies.Dir{FS: own}, policies.Dir{Name: "/etc/org", FS: shared}), reg)
	require.NoError(t, err)
	in := call(t, reg, "file_read", `{"path":"abc"}`)
	var at []string
	for _, d := range decide(t, p, in).Denials {
		at = append(at, d.Code+" "+d.At)
	}
	assert.Equal(t, []string{"night o.rego:3", "too_many /etc/org/o.rego:3"}, at)
}

func TestJoinedRevision(t *testing.T) {
	own, shared := regotest.Dir("o.rego", regotest.Org(regotest.ClosedPolicy)), regotest.Folder("limits/data.json", `{"reads": 2}`)
	revision := func(fsys fs.FS) string {
		src, err := policydir.ReadSource(fsys)
		require.NoError(t, err)
		return src.Revision
	}
	alone := revision(own)
	assert.Equal(t, alone, revision(policies.Join(policies.Dir{FS: own})))
	assert.Equal(t, alone, revision(policies.Join(policies.Dir{Name: "x", FS: own})), "a name decides nothing")
	both := revision(policies.Join(policies.Dir{FS: own}, policies.Dir{Name: "x", FS: shared}))
	assert.NotEqual(t, alone, both)
	assert.Equal(t, both, revision(policies.Join(policies.Dir{Name: "a", FS: own}, policies.Dir{Name: "b", FS: shared})))
	assert.NotEqual(t, both, revision(policies.Join(policies.Dir{Name: "b", FS: shared}, policies.Dir{Name: "a", FS: own})), "the order names the directories")
	assert.NotEqual(t, both, revision(policies.Join(policies.Dir{FS: own}, policies.Dir{Name: "x", FS: regotest.Folder("limits/data.json", `{"reads": 3}`)})))
}

// Declarations that are not those of the program are named where they are.
func TestStaleJoinedDirectories(t *testing.T) {
	changed := specs()
	changed[0].Pin = "sha256:other"
	_, err := Load(policies.Join(policies.Dir{Name: "org", FS: regotest.Folder()}, policies.Dir{Name: "shop/policy", FS: regotest.Dir()}), registryOf(t, changed))
	assert.ErrorContains(t, err, `shop/policy/ambit_gen/data.json: the tool "file_read" was declared anew`)
}

// Tests of all directories run against all of them.
func TestTestsOfJoinedDirectories(t *testing.T) {
	own := policies.Dir{Name: "own", FS: regotest.Dir("o.rego", regotest.Org(regotest.ClosedPolicy), "o_test.rego", passingTest)}
	shared := policies.Dir{Name: "org", FS: regotest.Folder("o.rego", limitPolicy, "limits/data.json", `{"reads": 2}`, "o_test.rego",
		"package ambit.policies.limits_test\n\ntest_limit if count(data.ambit.policies.limits.deny) == 1 with input as {\"tool\": {\"name\": \"file_read\"}, \"args\": {\"path\": \"abc\"}}\n")}
	report, err := Test(t.Context(), policies.Join(own, shared), TestOptions{})
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
	write(t, own, regotest.Dir())
	write(t, shared, regotest.Folder("limits/data.json", `{"reads": 2}`))
	rules := policies.Join(policies.Dir{FS: os.DirFS(own)}, policies.Dir{Name: "org", FS: os.DirFS(shared)})
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

			require.NoError(t, os.WriteFile(policy, []byte(regotest.Org(regotest.ClosedPolicy)), 0o644))
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
	own := policies.Dir{FS: regotest.Dir()}
	open, closed := policies.Join(own, policies.Dir{Name: "org", FS: regotest.Folder()}), policies.Join(own, policies.Dir{Name: "org", FS: regotest.Folder("o.rego", regotest.Org(regotest.ClosedPolicy))})
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
