package clerk

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/host/inbox"
	"github.com/ambit-tools/ambit/runtime/host/tokens"
)

// config is what the flags say.
type config struct {
	store, key, anchor, await, policy, pages, only, deny string
	serve, forge, host, commands, end                    bool
	tamper, cut                                          int64
}

// Run is the program. It returns the exit code.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var cfg config
	flags := flag.NewFlagSet("clerk", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&cfg.store, "store", "", "file of the store")
	flags.StringVar(&cfg.key, "key", "", "file of the signer of the audit log")
	flags.StringVar(&cfg.anchor, "anchor", "", "file of the anchored checkpoints")
	flags.StringVar(&cfg.policy, "policy", "", "file of the policy; without one everything is allowed")
	flags.StringVar(&cfg.pages, "pages", "", "URL where tickets of browsers are taken; without one there are no pages")
	flags.StringVar(&cfg.await, "await", "", "wait until the inbox of this store is served")
	flags.Int64Var(&cfg.tamper, "tamper", 0, "change the entry at this position of the store, and end")
	flags.Int64Var(&cfg.cut, "cut", 0, "remove so many bytes from the end of the file, and end")
	flags.BoolVar(&cfg.forge, "forge", false, "append an entry to the store as a process without its keys can, and end")
	flags.BoolVar(&cfg.commands, "commands", false, "have the tools that are commands too")
	flags.StringVar(&cfg.only, "only", "", "names of the tools, with commas between them; without them all")
	flags.StringVar(&cfg.deny, "deny", "", "act that the operator policy of the host denies")
	flags.BoolVar(&cfg.end, "end", false, "end the session after the calls")
	flags.BoolVar(&cfg.host, "host", false, "open the store as a host does")
	flags.BoolVar(&cfg.serve, "serve", false, "stay until an interrupt")
	if flags.Parse(args) != nil {
		return 2
	}
	// The timeout ends the program when a script that fails does not.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, time.Hour)
	defer cancel()
	work := func() error { return run(ctx, &cfg, stdin, stdout, stderr) }
	if cfg.tamper != 0 {
		work = func() error { return tamper(ctx, cfg.store, cfg.tamper) }
	}
	if cfg.cut != 0 {
		work = func() error { return cut(cfg.store, cfg.cut) }
	}
	if cfg.forge {
		work = func() error { return forge(ctx, cfg.store) }
	}
	if cfg.await != "" {
		work = func() error { return await(ctx, cfg.await) }
	}
	if err := work(); err != nil {
		fmt.Fprintf(stderr, "error: %v\n", err)
		return 1
	}
	return 0
}

// A name is that of a store which may not be there yet.
type name string

// Path implements inbox.Store.
func (n name) Path() string { return string(n) }

// Key implements inbox.Store.
func (name) Key(context.Context, string) ([]byte, error) { return nil, errors.ErrUnsupported }

// logins is the URL where tickets are taken, which are not kept.
type logins string

// Enter implements inbox.Logins.
func (l logins) Enter([sha256.Size]byte, runtime.Actor, string) string { return string(l) }

// await waits until a process serves the inbox of a store.
func await(ctx context.Context, path string) error {
	t := time.NewTicker(10 * time.Millisecond)
	defer t.Stop()
	for {
		if served, err := inbox.Served(name(path)); served || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-t.C:
		}
	}
}

func run(ctx context.Context, cfg *config, stdin io.Reader, stdout, stderr io.Writer) (err error) {
	a, err := start(ctx, cfg, stderr)
	if err != nil {
		return errors.Join(err, a.close())
	}
	defer func() { err = errors.Join(err, a.close()) }()
	if err := calls(ctx, a.exec, stdin, stdout); err != nil {
		return err
	}
	if cfg.end {
		if err := a.exec.Session(engine.SessionConfig{ID: "s", Principal: "script"}).End(ctx); err != nil {
			return err
		}
	}
	if !cfg.serve {
		return nil
	}
	if cfg.host { // which serves the inbox
		<-ctx.Done()
		return nil
	}
	// Calls were made before the inbox is served, so that who waits for that can look at them.
	in, err := inbox.Serve(ctx, a.store, a.exec, inbox.WithTokens(tokens.Open(tokens.FileOf(a.store.Path()))), inbox.WithLogins(logins(cfg.pages)), inbox.WithReport(func(err error) { fmt.Fprintf(stderr, "inbox: %v\n", err) }))
	if err != nil {
		return err
	}
	a.add(func() error { return in.Close(context.Background()) })
	<-ctx.Done()
	return nil
}

// calls makes the calls of standard input.
func calls(ctx context.Context, exec *engine.Executor, stdin io.Reader, stdout io.Writer) (err error) {
	s := exec.Session(engine.SessionConfig{ID: "s", Principal: "script"})
	run, ok := s.Run("r")
	if !ok {
		if run, err = s.StartRun(ctx, engine.RunConfig{ID: "r"}); err != nil {
			return err
		}
	}
	turn := run.Turn(engine.TurnConfig{Budget: time.Hour})
	lines := bufio.NewScanner(stdin)
	for lines.Scan() {
		var line struct {
			Call, Tool, Provider string
			Input                json.RawMessage
			Trigger              bool
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return err
		}
		call := runtime.Call{ID: line.Call, Tool: line.Tool, Input: line.Input, ProviderID: line.Provider}
		if line.Trigger {
			_, err = turn.StartCall(call)
		} else {
			out := turn.Execute(ctx, call)
			_, err = fmt.Fprintf(stdout, "%s %s %s %s\n", out.CallID, out.Tool, out.Kind, out.Reason)
		}
		if err != nil {
			return err
		}
	}
	return lines.Err()
}
