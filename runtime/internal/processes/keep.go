package processes

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/internal/artifact"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/redact"
)

// keepTime is how long a store has for what a process wrote: with the longest grace, no longer than a handler may be late.
const keepTime = time.Second

// A kept is what an artifact says of a process.
type kept struct {
	Stdout keptStream `json:"stdout"`
	Stderr keptStream `json:"stderr"`
}

// A keptStream is one stream. Where Tail is there, something is missing after Head.
type keptStream struct {
	Size int64  `json:"size"` // of the whole stream, in bytes
	Head string `json:"head"`
	Tail string `json:"tail,omitempty"`
}

// Keep stores what a process wrote, without secrets, and returns its reference: nil where it wrote nothing. A
// SensitiveOutput is not kept, nor is anything where secrets is nil, which says that nothing may be told.
func (s *Set) Keep(to runtime.ArtifactStore, spec *runtime.Spec, secrets *redact.Secrets, e *process.Exit) (*runtime.ArtifactRef, error) {
	if secrets == nil || e.Stdout.Size+e.Stderr.Size == 0 || SensitiveOutput(spec) {
		return nil, nil
	}
	data, err := marshal(kept{keep(&e.Stdout, secrets), keep(&e.Stderr, secrets)})
	ref := artifact.Ref(data, "application/json")
	if err == nil {
		err = deadline.Call(s.sched, context.Background(), keepTime, func(ctx context.Context) error { return to.Put(ctx, ref, data) })
	}
	if err != nil {
		return nil, fmt.Errorf("what the process wrote is not kept: %w", err)
	}
	return &ref, nil
}

// SensitiveOutput reports whether what a command writes is not shown, because the output of its tool has sensitive
// members: no part of it can be decoded.
func SensitiveOutput(spec *runtime.Spec) bool {
	return spec.OutputSchema != nil && strings.Contains(*spec.OutputSchema, `"x-sensitive"`)
}

func keep(o *process.Output, secrets *redact.Secrets) keptStream {
	k, text := keptStream{Size: o.Size}, secrets.Stream()
	if o.Truncated {
		k.Head, k.Tail = text.Ends(string(o.Head), string(o.Tail))
		return k
	}
	text.Write(string(o.Head) + string(o.Tail))
	k.Head = text.Rest()
	return k
}
