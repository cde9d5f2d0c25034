package opa

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/internal/rego/regotest"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
)

const (
	failingTest = "package ambit.policies.security_test\n\ntest_never if 1 == 2\n"
	passingTest = "package ambit.policies.security_test\n\ntest_closed if {\n\tcount(data.ambit.policies.security.deny) == 1 with input as {\"behavior\": \"research\"}\n}\n"
)

// SEMANTICS 3.6.5
func TestReload(t *testing.T) {
	p, reg := load(t)
	in := call(t, reg, "file_read", `{"path":"a"}`)
	first := p.Revision()
	require.Equal(t, runtime.EffectAllow, decide(t, p, in).Effect)

	require.ErrorContains(t, p.Reload(regotest.Dir("o.rego", regotest.Org(`denny contains 1`))), `nothing reaches "denny"`)
	require.Error(t, p.Reload(nil))
	assert.Equal(t, first, p.Revision())
	assert.Equal(t, runtime.EffectAllow, decide(t, p, in).Effect)

	require.NoError(t, p.Reload(regotest.Dir("o.rego", regotest.Org(regotest.ClosedPolicy), "o_test.rego", passingTest)))
	assert.NotEqual(t, first, p.Revision())
	d := decide(t, p, in)
	assert.Equal(t, runtime.EffectDeny, d.Effect)
	assert.Equal(t, p.Revision(), d.Revision)

	require.NoError(t, p.Reload(regotest.Dir()))
	assert.Equal(t, first, p.Revision(), "same content, same revision")
}

// TestFailedTests: a start and a reload take policies whose tests do not pass, and report them; with RequireTests both
// refuse them.
// SEMANTICS 3.6.6
func TestFailedTests(t *testing.T) {
	_, reg := load(t)
	broken := map[string]string{
		failingTest: "o_test.rego:3: data.ambit.policies.security_test.test_never did not pass: false or undefined",
		"package x_test\n\ntest_x if nosuch(1)\n":                                          "undefined function nosuch",
		"package x_test\n\ntest_x if data.ambit.policies.security.deny with input as {}\n": "which is never false",
	}
	good := regotest.Dir()
	for test, want := range broken {
		fsys := regotest.Dir("o.rego", regotest.Org(regotest.ClosedPolicy), "o_test.rego", test)
		var told []error
		hears := OnFailedTests(func(err error) { told = append(told, err) })
		p, err := Load(fsys, reg, hears)
		require.NoError(t, err)
		require.Len(t, told, 1)
		require.ErrorContains(t, told[0], want)
		revision := p.Revision()
		require.NoError(t, p.Reload(good))
		require.Len(t, told, 1, "the tests of the new policies pass")
		require.NoError(t, p.Reload(fsys))
		assert.Equal(t, revision, p.Revision())
		require.Len(t, told, 2)
		require.ErrorContains(t, told[1], want)

		_, err = Load(fsys, reg, RequireTests(), hears)
		require.ErrorContains(t, err, want)
		p, err = Load(good, reg, RequireTests(), hears)
		require.NoError(t, err)
		require.ErrorContains(t, p.Reload(fsys), want)
		assert.NotEqual(t, revision, p.Revision(), "the policies that decided stay")
		require.Len(t, told, 2)

		_, err = Load(fsys, reg, OnFailedTests(nil))
		require.NoError(t, err)
	}
}

// TestApprovalOutlivesAnEditOfThePolicies reloads while a request is pending: a
// comment, another tool's rules, the lines of rules and their messages do not end the approval,
// other values that it is bound to do.
// SEMANTICS 5.7.7
func TestApprovalOutlivesAnEditOfThePolicies(t *testing.T) {
	rule := func(message string) string {
		return `ask contains {"id": "big", "message": "` + message + `", "bound": {"rate": data.rates.eur}} if input.args.path != ""`
	}
	for name, c := range map[string]struct {
		files  []string
		voided bool
	}{
		"comment":      {[]string{"w.rego", regotest.Tool("# a comment\n\n" + rule("m"))}, false},
		"another file": {[]string{"moved.rego", regotest.Tool(rule("m"))}, false},
		"another tool": {[]string{
			"w.rego", regotest.Tool(rule("m")),
			"d.rego", "package ambit.tools.file_delete\n\n" + `ask contains {"id": "careful", "message": "m"} if input.args.path != ""`,
		}, false},
		"another message": {[]string{"w.rego", regotest.Tool(rule("n"))}, false},
		"other data":      {[]string{"w.rego", regotest.Tool(rule("m")), "rates/data.json", `{"eur": 1.20}`}, true},
	} {
		t.Run(name, func(t *testing.T) {
			rates := []string{"rates/data.json", `{"eur": 1.10}`}
			p, reg := load(t, append(rates, "w.rego", regotest.Tool(rule("m")))...)
			exec, err := engine.NewExecutor(reg, p, engine.WithPendingRequests(), engine.WithPolicyTimeout(time.Minute))
			require.NoError(t, err)
			run, err := exec.Session(engine.SessionConfig{Principal: "agent", Capabilities: []string{"filesystem.write"}}).StartRun(t.Context(), engine.RunConfig{})
			require.NoError(t, err)
			out := asking{exec, run}.call(t, "file_write", writing)
			require.Equal(t, runtime.Pending, out.Kind, out.Message)
			before := p.Revision()
			require.NoError(t, p.Reload(regotest.Dir(append(rates, c.files...)...)))
			require.NotEqual(t, before, p.Revision())
			res := exec.Decide(t.Context(), out.RequestID, action.Answer{By: runtime.ProgramActor("owner"), Approve: true})
			require.Equal(t, runtime.ResolutionAccepted, res.Kind)
			assert.Equal(t, c.voided, res.Outcome.Reason == runtime.ReasonBindingMismatch)
			assert.Equal(t, c.voided, res.State == runtime.StateDenied, "its handler was started")
		})
	}
}

// TestGrantsEndWithTheirRule gives a grant, and removes the rule that asked for it: a
// rule that is added later asks again.
func TestGrantsEndWithTheirRule(t *testing.T) {
	rule := func(id string) string {
		return regotest.Tool(`ask contains {"id": "` + id + `", "message": "m", "approvers": ["owner"], "max_cover": "tool"} if input.args.path != ""`)
	}
	p, reg := load(t, "w.rego", rule("big"))
	exec, err := engine.NewExecutor(reg, p, engine.WithPendingRequests(), engine.WithPolicyTimeout(time.Minute))
	require.NoError(t, err)
	p.OnReload(func() { exec.RetireGrants(p.Asks) })
	run, err := exec.Session(engine.SessionConfig{Principal: "agent", Capabilities: []string{"filesystem.write"}}).StartRun(t.Context(), engine.RunConfig{})
	require.NoError(t, err)
	write := func() runtime.Outcome {
		return run.Turn(engine.TurnConfig{}).Execute(t.Context(), runtime.Call{
			Tool: "file_write", Input: []byte(`{"path":"docs/a","content":"x","mode":"create","meta":{"owner":"o"}}`),
		})
	}
	out := write()
	require.Equal(t, runtime.Pending, out.Kind, out.Message)
	res := exec.Decide(t.Context(), out.RequestID, action.Answer{By: runtime.ProgramActor("owner"), Approve: true, Grant: consent.ForSession})
	require.Equal(t, runtime.ResolutionAccepted, res.Kind, res.Reason)
	require.NotEqual(t, runtime.Pending, write().Kind, "the grant answers")

	require.NoError(t, p.Reload(regotest.Dir("w.rego", rule("big"), "c.rego", regotest.Org(regotest.ClosedPolicy))))
	require.NotEqual(t, runtime.Pending, write().Kind, "the rule is still there")
	require.NoError(t, p.Reload(regotest.Dir("w.rego", rule("large"))))
	require.NoError(t, p.Reload(regotest.Dir("w.rego", rule("big"))))
	require.Equal(t, runtime.Pending, write().Kind, "the rule went, and the grant with it")
}

// write makes dir hold the files of fsys.
func write(t *testing.T, dir string, fsys fs.FS) {
	t.Helper()
	require.NoError(t, fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return errors.Join(err, os.MkdirAll(filepath.Join(dir, name), 0o755))
		}
		text, err := fs.ReadFile(fsys, name)
		return errors.Join(err, os.WriteFile(filepath.Join(dir, name), text, 0o644))
	}))
}

// watch runs Watch or WatchFS in a bubble until test returns.
func watch(t *testing.T, start func(context.Context, func(error)) error, test func(reports func() []error)) {
	t.Helper()
	var mu sync.Mutex
	var reports []error
	ctx, stop := context.WithCancelCause(t.Context())
	done := make(chan error)
	go func() {
		done <- start(ctx, func(err error) {
			mu.Lock()
			defer mu.Unlock()
			reports = append(reports, err)
		})
	}()
	test(func() []error {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(reports)
	})
	enough := errors.New("enough")
	stop(enough)
	assert.Equal(t, enough, <-done)
}

// ticks waits until Watch has looked at the directory n times more.
func ticks(n int) {
	time.Sleep(time.Duration(n) * DefaultInterval)
	synctest.Wait()
}

// SEMANTICS 3.6.5
func TestWatch(t *testing.T) {
	defer goleak.VerifyNone(t)
	root := t.TempDir()
	write(t, root, regotest.Dir())
	reg := registryOf(t, specs())
	p, err := Load(os.DirFS(root), reg)
	require.NoError(t, err)
	in := call(t, reg, "file_read", `{"path":"a"}`)
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Millisecond) // so that the looks are between the changes
		watch(t, func(ctx context.Context, report func(error)) error { return p.Watch(ctx, root, report) }, func(reports func() []error) {
			ticks(5)
			assert.Empty(t, reports(), "nothing changed")

			policy := filepath.Join(root, "o.rego")
			require.NoError(t, os.WriteFile(policy, []byte(regotest.Org(regotest.ClosedPolicy)), 0o644))
			ticks(1)
			assert.Empty(t, reports(), "it may be half written")
			ticks(1)
			assert.Equal(t, []error{nil}, reports())
			assert.Equal(t, runtime.EffectDeny, decide(t, p, in).Effect)

			good := p.Revision()
			require.NoError(t, os.WriteFile(policy, []byte(regotest.Org("denny contains 1")), 0o644))
			ticks(5)
			require.Len(t, reports(), 2, "one failure is reported once")
			assert.ErrorContains(t, reports()[1], `nothing reaches "denny"`)
			assert.Equal(t, good, p.Revision())

			require.NoError(t, os.Rename(root, root+".away"))
			ticks(3)
			require.Len(t, reports(), 3)
			assert.ErrorIs(t, reports()[2], fs.ErrNotExist)
			require.NoError(t, os.Rename(root+".away", root))

			require.NoError(t, os.Remove(policy))
			ticks(2)
			require.Len(t, reports(), 4)
			assert.NoError(t, reports()[3])
			assert.Equal(t, runtime.EffectAllow, decide(t, p, in).Effect)
		})
	})
}

// A halfWritten directory is read in full at the first two looks, without its last
// file at the third, when its writer has begun again, and then in full again. Each look opens
// it twice, for its stamp and for its contents.
type halfWritten struct {
	whole, half fs.FS
	opened      *int
}

func (h halfWritten) Open(name string) (fs.File, error) {
	if name == "." {
		*h.opened++
	}
	if *h.opened == 5 || *h.opened == 6 {
		return h.half.Open(name)
	}
	return h.whole.Open(name)
}

// WatchFS loads the content that it found unchanged, even if the directory has
// changed again by then.
func TestWatchLoadsWhatSettled(t *testing.T) {
	p, reg := load(t)
	in := call(t, reg, "file_read", `{"path":"a"}`)
	whole := regotest.Dir("o.rego", regotest.Org(regotest.ClosedPolicy))
	want, err := policydir.ReadSource(whole)
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		var reports []error
		ctx, stop := context.WithCancel(t.Context())
		go func() {
			fsys := halfWritten{whole, regotest.Dir("o.rego", "package ambit.policies.security\n"), new(int)}
			_ = p.WatchFS(ctx, fsys, func(err error) { reports = append(reports, err) })
		}()
		ticks(2)
		assert.Equal(t, []error{nil}, reports)
		assert.Equal(t, want.Revision, p.Revision())
		ticks(5)
		assert.Equal(t, []error{nil}, reports, "the half was never settled")
		assert.Equal(t, runtime.EffectDeny, decide(t, p, in).Effect)

		require.NoError(t, p.Reload(regotest.Dir()), "somebody else loads something else")
		ticks(2)
		assert.Equal(t, want.Revision, p.Revision(), "the directory holds what it held")
		stop()
		synctest.Wait()
	})
}

// A mounted ConfigMap is a directory of links through one link that is swapped.
func TestWatchSwappedLinks(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "..one"), regotest.Dir())
	write(t, filepath.Join(root, "..two"), regotest.Dir("o.rego", regotest.Org(regotest.ClosedPolicy)))
	require.NoError(t, os.Symlink("..one", filepath.Join(root, "..data")))
	require.NoError(t, os.Symlink("..data/ambit_gen", filepath.Join(root, "ambit_gen")))
	reg := registryOf(t, specs())
	p, err := Load(os.DirFS(root), reg, WithInterval(time.Hour))
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		watch(t, func(ctx context.Context, report func(error)) error { return p.Watch(ctx, root, report) }, func(reports func() []error) {
			require.NoError(t, os.Symlink("..data/o.rego", filepath.Join(root, "o.rego")))
			require.NoError(t, os.Symlink("..two", filepath.Join(root, "..new")))
			require.NoError(t, os.Rename(filepath.Join(root, "..new"), filepath.Join(root, "..data")))
			time.Sleep(2*time.Hour + time.Minute)
			synctest.Wait()
			assert.Equal(t, []error{nil}, reports())
		})
	})
	assert.Equal(t, runtime.EffectDeny, decide(t, p, call(t, reg, "file_read", `{"path":"a"}`)).Effect)
}

// Decisions that run during reloads see one generation or the other.
func TestReloadWhileDeciding(t *testing.T) {
	defer goleak.VerifyNone(t)
	p, reg := load(t)
	in := call(t, reg, "file_read", `{"path":"a"}`)
	revisions := map[string]runtime.Effect{}
	revisions[p.Revision()] = runtime.EffectAllow
	require.NoError(t, p.Reload(regotest.Dir("o.rego", regotest.Org(regotest.ClosedPolicy))))
	revisions[p.Revision()] = runtime.EffectDeny
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan bool)
	for range 4 {
		go func() {
			ok := true
			for ctx.Err() == nil {
				d, err := p.Decide(context.Background(), in)
				effect, known := revisions[d.Revision]
				ok = ok && err == nil && known && effect == d.Effect
			}
			done <- ok
		}()
	}
	for i := range 10 {
		if i%2 == 0 {
			assert.NoError(t, p.Reload(regotest.Dir()))
		} else {
			assert.NoError(t, p.Reload(regotest.Dir("o.rego", regotest.Org(regotest.ClosedPolicy))))
		}
	}
	stop()
	for range 4 {
		assert.True(t, <-done)
	}
	for p.checking.Load() { // goleak cannot read the stack of a decision that is being checked
		goruntime.Gosched()
	}
}

// A policy whose data has a member twice is not taken by a reload either.
func TestReloadRefusesDuplicateKeys(t *testing.T) {
	p, _ := load(t, "acme/data.json", `{"a": 1}`)
	before := p.Revision()
	require.Error(t, p.Reload(regotest.Dir("acme/data.json", `{"a": 1, "a": 2}`)))
	assert.Equal(t, before, p.Revision())
}
