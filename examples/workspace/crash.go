package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	goruntime "runtime"

	"github.com/ambit-tools/ambit/runtime"
)

// crashScript is what the agent does before it is killed.
//
//go:embed crash.jsonl
var crashScript []byte

// victim is the id of the call in the middle of which -crash kills the process.
const victim = "half"

// dieHere kills this process, when this is the call for it: the file has been
// replaced, and the call has not ended. The process gets no chance to clean up.
func (w *tools) dieHere(ctx context.Context) {
	if info, _ := runtime.FromContext(ctx); w.victim == "" || info.ID != w.victim {
		return
	}
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {} // the kill comes at once, but after the call that asks for it
}

// crashFirst starts this program on the same place, to be killed half way.
func crashFirst(ctx context.Context, at *place, cfg *config, stdout, stderr io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{"-crash", "-store", at.store, "-anchor", at.anchor, "-dir", at.dir, "-behavior", cfg.behavior, "-web", cfg.webMode}
	if cfg.json {
		args = append(args, "-json")
	}
	first := exec.CommandContext(ctx, self, args...)
	first.Stdout, first.Stderr = stdout, stderr
	err = first.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return errInterrupted
	case errors.As(err, &exit) && (!exit.Exited() || goruntime.GOOS == "windows"): // which has no signals
		return nil
	}
	return fmt.Errorf("the start that was to be killed ended in another way: %w", err)
}
