package host

import (
	"context"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/internal/running"
)

// tellProcesses begins to write what the processes of commands use to a file beside the store, for "ambit calls
// show" (SEMANTICS 6.13.4), where a tool is a command. The file is gone when the host has closed.
func (h *Host) tellProcesses() {
	if h.cfg.command() < 0 {
		return
	}
	h.background("what tells of processes", func(ctx context.Context) { h.telling(ctx, &running.File{Path: h.cfg.path(running.Suffix)}) })
}

// telling writes the file until ctx ends. A fault is reported once, and again when there was none in between.
func (h *Host) telling(ctx context.Context, file *running.File) {
	faulty := false
	atOnceAndEvery(ctx, running.Every, func() {
		err := file.Write(time.Now(), h.Executor.Stats().Processes)
		if err != nil && !faulty {
			h.cfg.report(fmt.Errorf("host: what commands use is not told to \"ambit calls show\": %w", err))
		}
		faulty = err != nil
	})
	_ = file.Remove() // one that is left is too old to be read soon
}
