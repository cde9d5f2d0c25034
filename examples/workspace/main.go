// Workspace is an agent that works on a real directory through generated tools.
//
// It makes the calls of calls.jsonl, or of the file named with -calls, on a
// temporary copy of its own files, or on the directory named with -dir, and
// prints how each call ended, and at the end a summary. Refused and failed calls
// are outcomes, not errors.
//
// Every call is in a journal, which is a temporary file unless -store names one
// that lasts; with -dir it should, since what a killed start has left in the
// directory is put right by the next one on the same store. A later start on the
// same store recovers what an earlier one has left, however that ended; a call
// that was made under an id is not made again, its outcome is shown: a note on
// standard error says so. -crash has a
// first start killed half way through a write, to show that; together with -store
// it kills this one. At the end the audit of the journal is verified.
//
// A line of a calls file may also be {"undo": ID}, which takes a call back, and
// {"approve": ID} or {"deny": ID}, which answers a call that waits for consent.
// -approve says what a scripted reviewer answers before that. -serve has people answer
// on the pages of a console, whose URL it prints on standard error.
//
// A line that cannot be read is named on standard error, and the next one is read.
// The exit code is 0 when every call was answered, 1 when a line could not be
// read or the output not be written, 2 for a wrong command line, and 130 when
// an interrupt or a termination signal came: then the running call is cancelled,
// and a second signal ends the program at once.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

func main() {
	// A reader who leaves is an error of a write, so that we can clean up.
	signal.Ignore(syscall.SIGPIPE)
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// config is what the command line says.
type config struct {
	dir, calls, behavior, webMode string
	store, anchor, approve, serve string
	json, crash                   bool
}

// run does the work of main and returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	cfg, err := parseArgs(args, stdout, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the next signal does what it does to other programs
	err = work(ctx, cfg, stdin, stdout, stderr)
	if err != nil {
		fmt.Fprintf(stderr, "error: %v\n", err)
	}
	switch {
	case errors.Is(err, errInterrupted):
		return 130
	case err != nil:
		return 1
	}
	return 0
}

// parseArgs reads the command line. Its error has been reported.
func parseArgs(args []string, stdout, stderr io.Writer) (config, error) {
	var cfg config
	flags := flag.NewFlagSet("workspace", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // whose texts are not in the form of ours
	flags.StringVar(&cfg.dir, "dir", "", "work on this `directory` instead of a temporary copy of the example's files")
	flags.StringVar(&cfg.calls, "calls", "", "read the calls from this `file`, - for standard input;\n"+wanted)
	flags.StringVar(&cfg.behavior, "behavior", "draft", "what the agent is doing: draft or doc_edit")
	flags.StringVar(&cfg.webMode, "web", "off", "value of the mode web_mode: off, cached or live")
	flags.BoolVar(&cfg.json, "json", false, "print one JSON object a line and no summary: \"call\", \"tool\", \"outcome\", \"reason\",\n\"violations\", \"message\", \"duration_ms\"; of an undo \"undo\" in the place of \"outcome\"")
	flags.StringVar(&cfg.store, "store", "", "keep the journal in this `file`, and what belongs to it beside it, instead of in a temporary one;\na later start goes on with it, and makes no call again that has an outcome")
	flags.StringVar(&cfg.anchor, "anchor", "", "append the signed notes of the audit to this `file` (default: that of the store with .anchor behind it)")
	flags.StringVar(&cfg.approve, "approve", "", "what the scripted reviewer answers to requests for consent: yes, no or later (default yes; later with -serve, and with -crash and -store)")
	flags.StringVar(&cfg.serve, "serve", "", "when the calls are made, stay and serve the console at this `address`, such as 127.0.0.1:7411, until an interrupt:\nwho opens it answers what waits (implies -approve later)")
	flags.BoolVar(&cfg.crash, "crash", false, "show a recovery: have a first start on the same store killed half way through a write; with -store, kill this one")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		flags.SetOutput(stdout)
		fmt.Fprintln(stdout, "Usage: workspace [FLAG...]")
		flags.PrintDefaults()
		return cfg, err
	case err != nil:
		err = plainFault(err)
	default:
		err = cfg.check(flags)
	}
	if err != nil {
		fmt.Fprintf(stderr, "error: %v\n", err)
	}
	return cfg, err
}

// plainFault is an error of package flag in our words.
func plainFault(err error) error {
	text, _ := strings.CutSuffix(err.Error(), ": parse error")
	if name, ok := strings.CutPrefix(text, "flag provided but not defined: "); ok {
		text = fmt.Sprintf("there is no flag %q", name)
	} else if name, ok := strings.CutPrefix(text, "flag needs an argument: "); ok {
		text = name + " needs a value"
	}
	return fmt.Errorf("%s\nhint: -h lists the flags", text)
}

// check says what a command line that can be read still has wrong.
func (cfg *config) check(flags *flag.FlagSet) error {
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q\nhint: name the directory with -dir", flags.Arg(0))
	}
	var err error
	flags.Visit(func(f *flag.Flag) {
		if f.Value.String() == "" {
			err = fmt.Errorf("-%s is empty\nhint: name what it takes, or leave it out", f.Name)
		}
	})
	if err != nil {
		return err
	}
	if err := oneOf("behavior", cfg.behavior, "draft", "doc_edit"); err != nil {
		return err
	}
	if cfg.approve == "" {
		cfg.approve = "yes"
		if cfg.crash && cfg.store != "" || cfg.serve != "" {
			cfg.approve = "later"
		}
	}
	if err := oneOf("approve", cfg.approve, "yes", "no", "later"); err != nil {
		return err
	}
	return oneOf("web", cfg.webMode, "off", "cached", "live")
}

// oneOf requires that a flag has one of its values.
func oneOf(name, value string, values ...string) error {
	if slices.Contains(values, value) {
		return nil
	}
	return fmt.Errorf("-%s cannot be %q\nhint: it is one of %s", name, value, strings.Join(values, ", "))
}
