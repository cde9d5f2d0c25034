package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/ambit-tools/ambit/examples/workspace/filetools"
	"github.com/ambit-tools/ambit/runtime"
)

// MessageSend implements filetools.Handler. Its effect is in a system that has no
// calls: a line in a file outside of the workspace. The effect cannot be undone.
// After a crash the executor cannot find out whether it happened, so the call is
// unknown then and is not made again.
func (w *tools) MessageSend(ctx context.Context, in *filetools.MessageSendInput) (*filetools.MessageSendOutput, error) {
	info, _ := runtime.FromContext(ctx)
	err := runtime.Commit(ctx, func() error {
		f, err := os.OpenFile(w.outbox, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
		if err != nil {
			return errors.New("the office cannot be reached: try again later")
		}
		_, err = fmt.Fprintf(f, "%q %q\n", info.ID, in.Text)
		return errors.Join(err, f.Sync(), f.Close())
	})
	if err != nil {
		return nil, err
	}
	return &filetools.MessageSendOutput{Size: int64(len(in.Text))}, nil
}
