package clerk

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/host"
	"github.com/ambit-tools/ambit/runtime/store/audit"
	"github.com/ambit-tools/ambit/testscripts/clerk/commands"
)

// tools returns the tools of the application.
func (c *config) tools() []*runtime.Tool {
	list := Tools(&handler{notes: map[string]string{}})
	if c.commands {
		list = append(list, commands.Tools(nil)...)
	}
	if c.only == "" {
		return list
	}
	names := strings.Split(c.only, ",")
	return slices.DeleteFunc(list, func(t *runtime.Tool) bool { return !slices.Contains(names, t.Spec().Name) })
}

// denying is an operator policy that denies one act.
type denying struct {
	runtime.OperatorDefaults
	act runtime.Act
}

// Authorize implements runtime.OperatorPolicy.
func (d denying) Authorize(ctx context.Context, r *runtime.ActRequest) (runtime.ActDecision, error) {
	if r.Act == d.act {
		return runtime.ActDecision{Reason: "this application denies it"}, nil
	}
	return d.OperatorDefaults.Authorize(ctx, r)
}

// hosted opens the store as a host does.
func (a *app) hosted(ctx context.Context, cfg *config, stderr io.Writer) error {
	reg, err := runtime.NewRegistry(cfg.tools()...)
	if err != nil {
		return err
	}
	c := host.Config{
		Tools: cfg.tools(), Dir: filepath.Dir(cfg.store), Store: filepath.Base(cfg.store), Operators: denying{act: runtime.Act(cfg.deny)},
		Report: func(err error) { fmt.Fprintf(stderr, "operator: %v\n", err) },
	}
	if c.Policy, err = policyOf(cfg.policy, reg); err != nil {
		return err
	}
	if cfg.key != "" {
		if c.Signer, err = audit.ReadSigner(cfg.key); err != nil {
			return err
		}
		if c.Verifier, err = audit.ReadVerifier(cfg.key + audit.PublicSuffix); err != nil {
			return err
		}
	}
	if cfg.anchor != "" {
		c.Anchor = audit.FileAnchor{Path: cfg.anchor}
	}
	h, err := host.Open(ctx, c)
	if err != nil {
		return err
	}
	a.store, a.exec = h.Store, h.Executor
	a.add(func() error { return h.Close(context.Background()) })
	a.add(a.shutdown) // first
	return nil
}
