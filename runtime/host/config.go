package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/ambit-tools/ambit/runtime/engine"

	"golang.org/x/mod/sumdb/note"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/host/webhook"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/opa"
	"github.com/ambit-tools/ambit/runtime/store/audit"
)

// Config says what a host opens. Tools, Dir and one of Policies and Policy are required.
type Config struct {
	Tools    []*runtime.Tool
	Policies fs.FS  // directory of the Rego policies, with ambit_gen in it (policies.Join makes one of several)
	Dir      string // folder for everything that is stored; it is made

	// Store is the name of the store's file in Dir. The names of the other files begin with
	// it. The default is ambit.db.
	Store string

	// Workspace is the folder that tools change through package workspace; empty: none.
	// Its participant is called "workspace".
	Workspace string

	// RequireTests refuses Policies whose tests do not pass, at the start and at a reload. Without it the host takes
	// them, and tells Report.
	RequireTests bool

	// Policy decides in the place of Policies. The host does not reload it.
	Policy runtime.Policy
	// Journal is used in the place of the store and its audit log. Then there is no
	// inbox, and the host closes no journal.
	Journal journal.Journal
	// Artifacts keeps long outputs in the place of Dir/ambit.db.objects.
	Artifacts runtime.ArtifactStore
	// Anchor is where the notes of the audit log go. The default, Dir/ambit.db.anchor, is wrong
	// when a process that can write the store must not be able to rewrite its history.
	Anchor audit.Anchor
	// Signer signs the audit log in the place of Dir/ambit.db.audit.
	Signer note.Signer
	// Verifier is the public key of Signer, for VerifyAudit.
	Verifier note.Verifier
	// Origin is the name of the key that a new Dir gets for its audit log; ambit.local/host by
	// default, which is wrong when the logs of several stores are compared in one place.
	Origin string

	// Runner starts the processes of tools that are commands. The default, a runner of package isolate whose
	// private folders are in Dir/ambit.db.boxes, is wrong when processes run on another host, or in
	// boxes that another program builds. It needs isolate.Enter in the first line of main.
	Runner process.Runner
	// Processes is how many processes of commands run at once, over all tools. The default of 5 is wrong when
	// the host has memory and CPUs for more, or for fewer. SetProcesses changes it.
	Processes int
	// Caches is the folder for the caches of commands. The default, Dir/ambit.db.caches, is wrong when
	// Dir is on a disk that is small or slow, or is backed up as a whole.
	Caches string

	// Webhooks are told of what waits for people. Each keeps its position beside the store.
	Webhooks []webhook.Endpoint

	// Serve shows the events of calls over HTTP, and takes answers. Then the host counts for /metrics,
	// beside the counters that Setup and Options add.
	Serve Serve

	// Retain is how long entries stay in the store. Older ones are moved to segments in Dir/archive, as far as an anchored
	// checkpoint proves them and nothing open needs them, and calls that ended before are forgotten: their ids may be used again. The default of
	// 30 days is wrong when people look at older calls every day, or when outcomes of repeated ids must be known for longer;
	// KeepAll moves nothing. It may not be shorter than a window of a tool.
	Retain time.Duration
	// Delete is how long segments stay in Dir/archive after their last entry. The default, for ever, is wrong when old
	// entries must not be kept. The journal records what is deleted.
	Delete time.Duration

	// Grace is how long handlers may go on during a shutdown. The default of 20 seconds is
	// wrong when handlers take longer, or the process is killed sooner.
	Grace time.Duration
	// Report is told of what went wrong and has no caller: faults of handlers and policies, of the
	// audit log, of commands and of reloads. It may be called from several goroutines at a
	// time. The default writes to slog.Default.
	Report func(error)
	// Operators decides who may undo, cancel, resolve, revoke and see. The default is package
	// ambit.operators of Policies, or runtime.OperatorDefaults where there is no such package.
	Operators runtime.OperatorPolicy
	// Identity returns, for a user of the operating system who gives a command, the id that
	// approvers in declarations have, and the groups. The default, the name of the user and no
	// groups, is wrong when people have other ids there, or when approvers are groups.
	Identity func(user string) (id string, groups []string)
	// Setup is called when store and workspace are open and the executor is not made yet. It
	// opens what tools need of them, such as a state.State, and returns options for the executor.
	Setup func(ctx context.Context, h *Host) ([]engine.Option, error)
	// Options are applied to the executor after the host's own, and win.
	Options []engine.Option

	limits *limits // of tests; nil: ownLimits
}

// operators returns the policy about acts of operators. rules is nil when Policy decides about calls.
func (c *Config) operators(rules *opa.Policy) runtime.OperatorPolicy {
	switch {
	case c.Operators != nil:
		return c.Operators
	case rules != nil:
		return rules
	}
	return runtime.OperatorDefaults{}
}

// defaultStore is Config.Store when it is empty.
const defaultStore = "ambit.db"

// defaultGrace is Config.Grace when it is zero.
const defaultGrace = 20 * time.Second

func (c *Config) check() error {
	switch {
	case c.Dir == "":
		return errors.New("host: Config.Dir is empty: name a folder for the store")
	case c.Store != "" && c.Store != filepath.Base(c.Store):
		return fmt.Errorf("host: Config.Store is %q: name a file in Config.Dir, without a folder", c.Store)
	case c.Policies == nil && c.Policy == nil:
		return errors.New("host: Config has no policies: set Policies to the folder of the Rego files, or Policy")
	case c.Policies != nil && c.Policy != nil:
		return errors.New("host: Config has Policies and Policy: set one of them")
	case c.Journal != nil && len(c.Webhooks) > 0:
		return errors.New("host: Config has Webhooks and Journal: webhooks are told of the entries of the host's own store")
	case c.Journal != nil && c.Serve.Addr != "":
		return errors.New("host: Config has Serve and Journal: the stream shows the entries of the host's own store")
	case c.Processes < 0:
		return errors.New("host: Config.Processes is negative")
	case c.Retain < 0 || c.Delete < 0:
		return errors.New("host: Config.Retain or Config.Delete is negative")
	case c.Delete > 0 && c.Delete < c.retain():
		return fmt.Errorf("host: Config.Delete is %v, shorter than Config.Retain, which is %v", c.Delete, c.retain())
	case c.Grace < 0:
		return errors.New("host: Config.Grace is negative")
	}
	if err := c.retainable(); err != nil {
		return err
	}
	return c.Serve.check()
}

// path returns the path of the store's file with a suffix. The command line expects the other
// files at such paths.
func (c *Config) path(suffix string) string {
	return filepath.Join(c.Dir, cmp.Or(c.Store, defaultStore)+suffix)
}

// policyOptions are the options of Policies.
func (c *Config) policyOptions() []opa.Option {
	options := []opa.Option{opa.OnFailedTests(func(err error) {
		c.report(fmt.Errorf("the policies decide, and their tests do not pass: %w", err))
	})}
	if c.RequireTests {
		options = append(options, opa.RequireTests())
	}
	return options
}

func (c *Config) report(err error) {
	if err == nil {
		return
	}
	if c.Report != nil {
		c.Report(err)
		return
	}
	slog.Warn("ambit: " + err.Error())
}
