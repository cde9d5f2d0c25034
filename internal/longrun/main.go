package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the program. It returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("longrun", flag.ContinueOnError)
	flags.SetOutput(stderr)
	calls := flags.Int("calls", 50_000, "how many calls the large store and the long session have")
	before := flags.String("before", "", "commit that verification and durable calls are compared with; empty: none")
	child := flags.String("child", "", "what a child measures")
	store := flags.String("store", "", "the store of a child")
	if flags.Parse(args) != nil {
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	met := true
	if *child != "" {
		err = measure(ctx, stdout, *child, made{*store, *calls})
	} else {
		met, err = compare(ctx, stdout, stderr, *calls, *before)
	}
	switch {
	case err != nil:
		fmt.Fprintf(stderr, "error: %v\n", err)
		return 1
	case !met:
		return 1
	}
	return 0
}

// measure is the work of a child.
func measure(ctx context.Context, stdout io.Writer, what string, m made) error {
	f := measurements[what]
	if f == nil {
		return fmt.Errorf("no child measures %q", what)
	}
	got, err := f(ctx, m)
	if err != nil {
		return fmt.Errorf("%s of %d calls: %w", what, m.calls, err)
	}
	return json.NewEncoder(stdout).Encode(got)
}

// compare measures all, prints the table and reports whether every bar is met that nothing is known to be missing of.
func compare(ctx context.Context, stdout, stderr io.Writer, calls int, before string) (met bool, err error) {
	if calls < 2*small {
		return false, fmt.Errorf("-calls %d: the large store has at least %d calls", calls, 2*small)
	}
	dir, err := os.MkdirTemp("", "longrun-")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	r := &rig{dir: dir, log: stderr, few: made{filepath.Join(dir, "few.db"), small}, many: made{filepath.Join(dir, "many.db"), calls}}
	if r.program, err = build(ctx, ".", filepath.Join(dir, "longrun"), "./internal/longrun"); err != nil {
		return false, err
	}
	if r.ambit, err = build(ctx, ".", filepath.Join(dir, "ambit"), "./cmd/ambit"); err != nil {
		return false, err
	}
	bars, err := r.bars(ctx)
	if err == nil && before != "" {
		var more []bar
		more, err = r.against(ctx, before)
		bars = append(bars, more...)
	}
	if err != nil {
		return false, err
	}
	return table(stdout, bars), nil
}
