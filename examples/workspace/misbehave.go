package main

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/examples/workspace/filetools"
)

// tooLong outlives the deadline that tools.yaml gives to slow_write.
const tooLong = 400 * time.Millisecond

// lateWrites counts what became of the writes of slow_write.
type lateWrites struct {
	blocked, written atomic.Int64
}

// SlowWrite implements filetools.Handler. It misbehaves on purpose: it does not
// look at its context and tries to write after its deadline.
func (w *tools) SlowWrite(ctx context.Context, in *filetools.SlowWriteInput) (*filetools.SlowWriteOutput, error) {
	time.Sleep(tooLong)
	text := "written too late\n"
	if err := w.ws.WriteFile(ctx, in.Path, []byte(text), fileMode); err != nil {
		w.late.blocked.Add(1)
		return nil, err
	}
	w.late.written.Add(1)
	return &filetools.SlowWriteOutput{Size: int64(len(text))}, nil
}

// Crash implements filetools.Handler. It misbehaves on purpose: it panics.
func (w *tools) Crash(_ context.Context, in *filetools.CrashInput) (*filetools.CrashOutput, error) {
	panic("crash was asked for: " + in.Note.Or("without a note"))
}
