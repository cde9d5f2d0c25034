package probe

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/runtime"
)

// handler carries out the tools, and remembers what a script wants to see.
type handler struct {
	UnimplementedHandler

	running, mostRunning atomic.Int64
	lateWrites           atomic.Int64 // refused
	started              atomic.Int64
	sent                 atomic.Int64
	never                map[string]int // never made
}

var _ Handler = (*handler)(nil)

// Echo implements Handler.
func (h *handler) Echo(_ context.Context, in *EchoInput) (*EchoOutput, error) {
	h.started.Add(1)
	return &EchoOutput{Text: strings.Repeat(in.Text, int(in.Times))}, nil
}

const (
	lateBy    = 800 * time.Millisecond // the deadline of act is 500ms
	hugeBytes = 20_000_000
)

// Act implements Handler.
func (h *handler) Act(ctx context.Context, in *ActInput) (*ActOutput, error) {
	h.started.Add(1)
	switch string(in.How) {
	case "fail":
		return nil, errors.New("the disk is full")
	case "panic":
		panic("secret detail of the host")
	case "nil_map":
		h.never["a"]++
	case "nothing":
		return nil, nil
	case "invalid":
		return &ActOutput{Text: "short", Size: -1}, nil
	case "huge":
		return &ActOutput{Text: strings.Repeat("x", hugeBytes)}, nil
	case "hang":
		time.Sleep(lateBy)
	case "write_late":
		time.Sleep(lateBy)
		if runtime.Commit(ctx, func() error { return nil }) != nil {
			h.lateWrites.Add(1)
		}
	}
	return &ActOutput{Text: "done", Size: 4}, nil
}

// QuietFail implements Handler.
func (h *handler) QuietFail(context.Context, *QuietFailInput) (*QuietFailOutput, error) {
	return nil, errors.New("secret detail of the host")
}

// Wait implements Handler.
func (h *handler) Wait(ctx context.Context, in *WaitInput) (*WaitOutput, error) {
	h.started.Add(1)
	n := h.running.Add(1)
	defer h.running.Add(-1)
	for {
		most := h.mostRunning.Load()
		if n <= most || h.mostRunning.CompareAndSwap(most, n) {
			break
		}
	}
	select {
	case <-time.After(time.Duration(in.Ms) * time.Millisecond):
		return &WaitOutput{}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Gated implements Handler.
func (h *handler) Gated(context.Context, *GatedInput) (*GatedOutput, error) {
	return &GatedOutput{}, nil
}

// Send implements Handler.
func (h *handler) Send(_ context.Context, in *SendInput) (*SendOutput, error) {
	h.started.Add(1)
	if in.Text == "nothing" {
		return nil, errors.New("there is nothing to send")
	}
	return &SendOutput{Sent: h.sent.Add(1)}, nil
}

// Shout implements Handler.
func (h *handler) Shout(context.Context, *ShoutInput) (*ShoutOutput, error) {
	return &ShoutOutput{}, nil
}
