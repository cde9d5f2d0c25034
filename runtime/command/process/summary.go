package process

import (
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/ambit-tools/ambit/runtime"
)

// A Summary is how a process ended, as a journal and an outcome have it: without what it wrote.
type Summary struct {
	Code       int                  `json:"code"` // -1 where a signal ended it
	Signal     string               `json:"signal,omitempty"`
	Cause      Cause                `json:"cause"`
	Limit      runtime.LimitName    `json:"limit,omitempty"`    // that ended it
	Category   runtime.ExitCategory `json:"category,omitempty"` // empty: it did what it was to do
	Usage      runtime.ProcessUsage `json:"usage,omitzero"`
	Stdout     StreamEnd            `json:"stdout"`
	Stderr     StreamEnd            `json:"stderr"`
	Tier       runtime.Tier         `json:"tier"`
	Namespaces bool                 `json:"namespaces,omitempty"`
	Weaker     []LimitLevel         `json:"weaker,omitempty"` // what it was held to less well than Enforced, without notes
}

// A StreamEnd is how much a process wrote to a stream.
type StreamEnd struct {
	Size      int64  `json:"size"`             // bytes
	SHA256    string `json:"sha256,omitempty"` // of all of it
	Lines     int64  `json:"lines,omitempty"`
	Truncated bool   `json:"truncated,omitempty"` // what is kept is not all of it
}

// Summary returns how a process ended, with the category into which its exit was put.
func (e *Exit) Summary(c runtime.ExitCategory) *Summary {
	d := &Summary{
		Code: e.Code, Signal: e.Signal, Cause: e.Cause, Limit: e.Limit, Category: c, Usage: e.Usage,
		Stdout: streamEnd(&e.Stdout), Stderr: streamEnd(&e.Stderr), Tier: e.Levels.Tier, Namespaces: e.Levels.Namespaces,
	}
	for _, l := range e.Levels.Limits {
		if l.Level != runtime.LevelEnforced && l.Level != runtime.LevelRefused { // what is refused, the process did not need
			d.Weaker = append(d.Weaker, LimitLevel{Name: l.Name, Level: l.Level})
		}
	}
	return d
}

func streamEnd(o *Output) StreamEnd {
	return StreamEnd{Size: o.Size, SHA256: hex.EncodeToString(o.SHA256[:]), Lines: o.Lines, Truncated: o.Truncated}
}

// Within returns what is kept of a stream with at most so many bytes of it: the first half from its
// beginning, the other from its end.
func (o *Output) Within(most int64) Output {
	kept := int64(len(o.Head) + len(o.Tail))
	if kept <= most {
		return *o
	}
	less := *o
	less.Truncated = true
	tail := most / 2
	head := most - tail
	if !o.Truncated { // Head and Tail are one text
		all := slices.Concat(o.Head, o.Tail)
		less.Head, less.Tail = all[:head:head], all[kept-tail:]
		return less
	}
	less.Head = o.Head[:min(head, int64(len(o.Head)))]
	less.Tail = o.Tail[max(0, int64(len(o.Tail))-tail):]
	return less
}

// MarshalText implements encoding.TextMarshaler.
func (c Cause) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (c *Cause) UnmarshalText(text []byte) error { return named(c, "cause", causes, text) }

// named sets to to the value that text names.
func named[T ~uint8](to *T, what string, names []string, text []byte) error {
	i := slices.Index(names, string(text))
	if i < 0 {
		return fmt.Errorf("process: unknown %s %q: want one of %q", what, text, names)
	}
	*to = T(i)
	return nil
}
