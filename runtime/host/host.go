package host

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/content"
	"github.com/ambit-tools/ambit/runtime/host/feed"
	"github.com/ambit-tools/ambit/runtime/host/inbox"
	"github.com/ambit-tools/ambit/runtime/host/internal/httpguard"
	"github.com/ambit-tools/ambit/runtime/host/metrics"
	"github.com/ambit-tools/ambit/runtime/host/tokens"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/opa"
	"github.com/ambit-tools/ambit/runtime/store/archive"
	"github.com/ambit-tools/ambit/runtime/store/audit"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
	"github.com/ambit-tools/ambit/runtime/workspace"
)

// A Host is an executor and what was opened for it. Its fields are not to be set; those of
// parts that Config replaces are nil.
type Host struct {
	Executor  *engine.Executor
	Store     *sqlite.Store
	Audit     *audit.Log
	Feed      *feed.Feed   // of the store
	Tokens    *tokens.File // of the store
	Workspace *workspace.Workspace

	cfg      Config
	addr     net.Addr
	metrics  *metrics.Metrics // nil: nothing is served
	sessions httpguard.Sessions
	sockets  sync.WaitGroup

	archiving sync.Mutex
	limits    limits
	large     bool // it was warned of the size of the store; guarded by archiving

	inbox   *inbox.Server
	closers []closer // in the order of opening
	down    sync.Once
}

// Open opens a host. The context bounds the opening and the recovery; calls that the
// recovery goes on with outlive it. The caller calls Run or Close, once.
func Open(ctx context.Context, cfg Config) (h *Host, err error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	registry, err := runtime.NewRegistry(cfg.Tools...)
	if err != nil {
		return nil, err
	}
	h = &Host{cfg: cfg, limits: cfg.within()}
	policy, rules := cfg.Policy, (*opa.Policy)(nil)
	if policy == nil {
		if rules, err = opa.Load(cfg.Policies, registry, cfg.policyOptions()...); err != nil {
			return nil, err
		}
		policy = rules
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.close(noGrace))
			h = nil
		}
	}()
	if err := cfg.Serve.free(); err != nil {
		return h, err
	}
	options, err := h.open(ctx, cfg.operators(rules))
	if err != nil {
		return h, err
	}
	if cfg.Serve.Addr != "" {
		h.metrics = metrics.New(registry)
		options = append(options, engine.WithCounter(h.metrics))
	}
	if cfg.Setup != nil {
		more, err := cfg.Setup(ctx, h)
		if err != nil {
			return h, h.leaves(err)
		}
		options = append(options, more...)
	}
	if h.Executor, err = engine.NewExecutor(registry, policy, append(options, cfg.Options...)...); err != nil {
		return h, h.leaves(err)
	}
	h.closers = append(h.closers, closer{name: executorName})
	if err := h.settle(ctx); err != nil {
		return h, err
	}
	listener, err := h.listen()
	if err != nil {
		return h, err
	}
	if err := h.serveInbox(ctx); err != nil {
		return h, err
	}
	h.tellProcesses()
	if rules != nil {
		h.watch(rules)
	}
	if listener != nil {
		h.serve(listener)
	}
	return h, nil
}

// leaves says of a start that failed by what the application gave that a store of the host has nothing in it and stays: nothing
// tells whether this start made it.
func (h *Host) leaves(err error) error {
	if h.Store == nil || h.Store.Health().Head > 0 {
		return err
	}
	return fmt.Errorf("%w (the store %s holds nothing and stays: the next start goes on with it; before a restore into its folder, move the files %s* away)", err, h.cfg.path(""), h.cfg.path(""))
}

// serveInbox begins to execute the commands of the store, and to archive its old entries, if it is the host's own.
func (h *Host) serveInbox(ctx context.Context) (err error) {
	if h.Store == nil {
		return nil
	}
	options := []inbox.Option{inbox.WithReport(h.cfg.report), inbox.WithTokens(h.Tokens), inbox.WithLogins(logins{h}), inbox.WithArchiver(archiver{h})}
	if h.cfg.Identity != nil {
		options = append(options, inbox.WithIdentity(h.cfg.Identity))
	}
	h.inbox, err = inbox.Serve(context.WithoutCancel(ctx), h.Store, h.Executor, options...)
	if err == nil {
		h.retain()
	}
	return err
}

// open opens what an executor stores in, and returns its options, with the operator policy among them.
func (h *Host) open(ctx context.Context, operators runtime.OperatorPolicy) ([]engine.Option, error) {
	if err := h.ready(ctx); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(h.cfg.Dir, 0o700); err != nil {
		return nil, err
	}
	run, err := h.processes()
	if err != nil {
		return nil, err
	}
	j, segments := h.cfg.Journal, journal.Segments(nil)
	if j == nil {
		if err := h.openAudited(ctx); err != nil {
			return nil, err
		}
		j, segments = h.Feed.Journal(), archive.Segments{Store: h.Store}
	}
	options := []engine.Option{
		engine.WithJournal(j), engine.WithSegments(segments), engine.WithPendingRequests(), engine.WithOperators(operators),
		engine.WithErrorHandler(func(e *action.CallError) { h.cfg.report(e) }),
	}
	options = append(options, run...)
	if h.Feed != nil {
		options = append(options, engine.WithLive(h.Feed.Live))
	}
	outputs := h.cfg.Artifacts
	if outputs == nil || h.cfg.Workspace != "" {
		contents, err := content.Open(h.cfg.path(".objects"))
		if err != nil {
			return nil, err
		}
		h.closing("the long outputs", func(context.Context) error { return contents.Close() })
		if h.cfg.Workspace != "" {
			if h.Workspace, err = workspace.Open(h.cfg.Workspace, contents, workspace.UndoLogs(h.cfg.path(".undo"))); err != nil {
				return nil, err
			}
			h.closing("the workspace", func(context.Context) error { return h.Workspace.Close() })
			options = append(options, engine.WithParticipant("workspace", h.Workspace))
		}
		if outputs == nil {
			outputs = artifacts{contents}
		}
	}
	return append(options, engine.WithArtifacts(outputs)), nil
}

// watch reloads the policies until the host closes.
func (h *Host) watch(rules *opa.Policy) {
	rules.OnReload(func() { h.Executor.RetireGrants(rules.Asks) })
	rules.OnDifference(func(d opa.Difference) { h.cfg.report(d) })
	h.background("the reload of policies", func(ctx context.Context) {
		_ = rules.WatchFS(ctx, h.cfg.Policies, h.cfg.report) // the error is the end of ctx
	})
}
