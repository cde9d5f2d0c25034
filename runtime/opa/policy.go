package opa

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/policies/lint"
	"github.com/ambit-tools/ambit/runtime"
)

// A Policy is a runtime.Policy that a directory of Rego files decides. It is
// safe for concurrent use.
type Policy struct {
	reg      *runtime.Registry
	interval time.Duration
	builders builders

	requireTests bool
	failedTests  func(error) // nil: the tests do not run

	evaluator  Evaluator
	checkEvery uint64
	turn       atomic.Uint64 // decisions of the plan since the last check, and all before
	checking   atomic.Bool
	stats      counters

	reload    sync.Mutex         // one reload at a time
	after     []func()           // a reload; guarded by reload
	different []func(Difference) // guarded by reload
	current   atomic.Pointer[decider]
}

// A decider is a generation with the terms that its calls share.
type decider struct {
	*generation
	names  *names
	askers map[string][]policydir.Asker // by the id of what they ask
}

// An Option changes how a Policy works.
type Option func(*Policy)

// WithInterval sets how often Watch and WatchFS look, by default every DefaultInterval.
func WithInterval(d time.Duration) Option {
	return func(p *Policy) { p.interval = max(d, time.Millisecond) }
}

// RequireTests has Load, Reload and Watch refuse policies whose tests do not pass. Without it they take the policies,
// and report the tests: an urgent limit does not wait for an unrelated test.
func RequireTests() Option { return func(p *Policy) { p.requireTests = true } }

// OnFailedTests sets who hears of tests that do not pass, at a start and at a reload, in the goroutine that loads. The
// error names each test; the policies decide. The default writes a warning to slog.Default. With nil the tests do not
// run, unless RequireTests asks for them.
func OnFailedTests(f func(error)) Option { return func(p *Policy) { p.failedTests = f } }

// Load reads, checks and compiles a policy directory, ambit_gen included, for the
// tools of a registry. Join makes one directory of several. The error is Errors and
// lists everything that is wrong; a policy that does not load must stop the program.
// The tests of the directory run, and those that do not pass are reported (OnFailedTests), or refuse the policies
// (RequireTests).
func Load(fsys fs.FS, reg *runtime.Registry, opts ...Option) (*Policy, error) {
	p := &Policy{reg: reg, interval: DefaultInterval, evaluator: Plan, checkEvery: DefaultCheck, failedTests: warnOfTests}
	for _, opt := range opts {
		opt(p)
	}
	c, err := checked(fsys)
	if err != nil {
		return nil, err
	}
	if err := p.take(c); err != nil {
		return nil, err
	}
	return p, nil
}

// warnOfTests is the default of OnFailedTests.
func warnOfTests(err error) {
	slog.Warn("the policies decide, and their tests do not pass", "error", err)
}

// take makes checked policies those that decide. Tests that do not pass are reported then, or refuse the policies
// before.
func (p *Policy) take(c *lint.Checked) error {
	var failed error
	if p.requireTests || p.failedTests != nil {
		failed = tested(c)
	}
	if failed != nil && p.requireTests {
		return failed
	}
	if err := p.use(c.Bundle); err != nil {
		return err
	}
	if failed != nil && p.failedTests != nil {
		p.failedTests(failed)
	}
	return nil
}

// tested runs the tests of policies. The error names those that do not pass, or says why they cannot run.
func tested(c *lint.Checked) error {
	report, err := runTests(context.Background(), c, TestOptions{})
	if err != nil {
		return err
	}
	return c.Src.Show(report.err())
}

// checked reads and checks a policy directory.
func checked(fsys fs.FS) (*lint.Checked, error) {
	src, err := policydir.ReadSource(fsys)
	if err != nil {
		return nil, err
	}
	return lint.Source(src)
}

// use makes a bundle the one that decides (SEMANTICS 3.6).
func (p *Policy) use(b *policydir.Bundle) error {
	g, err := newGeneration(b, p.evaluator)
	if err != nil {
		return err
	}
	if err := g.stale(p.reg); err != nil {
		return err
	}
	p.current.Store(&decider{g, newNames(p.reg, b), b.Askers()})
	return nil
}

// Reload replaces the policies by those of a directory. They are checked as by
// Load, and their tests are run and reported as there. On an error the Policy decides as before.
// Decisions that are being made keep the policies that they began with.
func (p *Policy) Reload(fsys fs.FS) error {
	p.reload.Lock()
	defer p.reload.Unlock()
	src, err := policydir.ReadSource(fsys)
	if err != nil {
		return err
	}
	return p.replace(src)
}

// replace activates a source. Its caller holds p.reload (SEMANTICS 3.6).
func (p *Policy) replace(src *policydir.Source) error {
	c, err := lint.Source(src)
	if err != nil {
		return err
	}
	if err := p.take(c); err != nil {
		return err
	}
	for _, f := range p.after {
		f()
	}
	return nil
}

// OnReload has f called after every reload, when the new policies are active. An
// application uses it to end the grants of rules that were removed:
//
//	policy.OnReload(func() { exec.RetireGrants(policy.Asks) })
func (p *Policy) OnReload(f func()) {
	p.reload.Lock()
	defer p.reload.Unlock()
	p.after = append(p.after, f)
}

// Revision names the content of the active policies.
func (p *Policy) Revision() string { return p.current.Load().Src.Revision }

// Decide judges one call.
func (p *Policy) Decide(ctx context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
	e, err := p.Explain(ctx, in)
	return e.Decision, err
}

// An Explanation is a decision with all entries about the call.
type Explanation struct {
	runtime.Decision
	Allows    []Allow
	Evaluator Evaluator // that decided
}

// Explain judges one call as Decide does, and says why it is allowed too.
func (p *Policy) Explain(ctx context.Context, in *runtime.PolicyInput) (Explanation, error) {
	a, revision, by, err := p.evaluate(ctx, in)
	if err != nil {
		return Explanation{Decision: runtime.Decision{Revision: revision}, Evaluator: by}, err
	}
	d, err := a.decide(revision)
	d.Revision = revision
	return Explanation{d, a.allows, by}, err
}

// evaluate asks the policies about one call.
func (p *Policy) evaluate(ctx context.Context, in *runtime.PolicyInput) (a answers, revision string, by Evaluator, err error) {
	d := p.current.Load()
	revision, by = d.Src.Revision, Reference
	if err := d.known(in); err != nil {
		return a, revision, by, err
	}
	input, release, err := d.input(&p.builders, in)
	if err != nil {
		return a, revision, by, err
	}
	defer func() { release() }()
	t, by, err := d.decide(ctx, input)
	p.count(d.generation, by)
	if err != nil {
		return a, revision, by, err
	}
	a, err = decode(t)
	if by == Plan && p.check(ctx, d, in, input, t, release) {
		release = func() {}
	}
	return a, revision, by, err
}

// input builds the input of a call. release must be called when the evaluation has ended
// and its result is read.
func (d *decider) input(b *builders, in *runtime.PolicyInput) (input ast.Value, release func(), err error) {
	args, err := b.args(d.names, in.Args)
	if err != nil {
		return nil, nil, err
	}
	facts, release := d.facts(d.names, in.Facts())
	return d.names.input(&d.reads, in, args, facts), release, nil
}

// known checks that a call is one of the registry's tools.
func (d *decider) known(in *runtime.PolicyInput) error {
	if in == nil || in.Tool == nil {
		return errors.New("the call has no tool")
	}
	if in.Index < 0 || in.Index >= len(d.names.registered) || d.names.registered[in.Index] != in.Tool {
		return fmt.Errorf("tool %q is not at position %d of the registry that the policy was loaded for", in.Tool.Name, in.Index)
	}
	return nil
}

// Asks reports whether a rule of the present policies may ask about calls of a
// tool. A grant that a rule asked for ends with the rule.
func (p *Policy) Asks(tool, id string) bool {
	d := p.current.Load()
	if id == policydir.DeclaredAsk {
		consent := d.Declared.Tools[tool].Consent
		return consent != nil && consent.Ask == "always"
	}
	return slices.ContainsFunc(d.askers[id], func(a policydir.Asker) bool { return a.Kind == policydir.OrgPackage || a.Name == tool })
}
