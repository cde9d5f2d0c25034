package processes

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/internal/entry"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// output reads what a process wrote as the output of its tool, by the strict decoder of its schema.
// What does not fit into limits.output is left out of texts and lines; one JSON value that does not
// is an error.
func (c *Command) output(e *process.Exit) (wire.Value, error) {
	if c.declared.Form == runtime.FormJSON {
		if e.Stdout.Size > c.tool.OutputLimit() || e.Stdout.Truncated {
			return nil, c.tooLarge()
		}
		v, bad := c.decode(bytes.Join([][]byte{e.Stdout.Head, e.Stdout.Tail}, nil))
		if bad != nil {
			return nil, c.invalid(bad, "")
		}
		return v, nil
	}
	form, err := c.form(e)
	if err != nil {
		return nil, c.invalid(nil, err.Error())
	}
	return c.fit(form)
}

func (c *Command) decode(text []byte) (wire.Value, []wire.Violation) {
	return c.code.Output(text, wire.Limits{Size: int(min(c.tool.OutputLimit(), math.MaxInt))})
}

// fit returns the largest output of a form that is within the limit, once it is encoded as the
// engine encodes it. form takes how many bytes of content it may have.
func (c *Command) fit(form func(most int64) any) (wire.Value, error) {
	limit := c.tool.OutputLimit()
	for most := limit; ; {
		text, err := marshal(form(most))
		if err != nil {
			return nil, c.invalid(nil, err.Error())
		}
		size := int64(len(text))
		if size <= limit {
			v, bad := c.decode(text)
			if bad != nil {
				return nil, c.invalid(bad, "")
			}
			if _, _, err = wire.AppendWithin(nil, v, int(limit), entry.MaxDepth); !errors.Is(err, wire.ErrTooLarge) {
				return v, nil
			}
			size = limit + 1
		}
		if most == 0 {
			return nil, c.tooLarge()
		}
		most = min(most-1, int64(float64(most)*float64(limit)/float64(size)*15/16))
	}
}

// marshal is json.Marshal without escapes for HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// form returns the output of a process in the declared form, for any bound.
func (c *Command) form(e *process.Exit) (func(most int64) any, error) {
	switch c.declared.Form {
	case runtime.FormLines:
		lines, dropped := process.Lines(&e.Stdout)
		return linesWithin(lines, dropped, func(s string) int64 { return int64(len(s)) }), nil
	case runtime.FormJSONLines:
		values, dropped, err := process.JSONLines(&e.Stdout)
		return linesWithin(values, dropped, func(v json.RawMessage) int64 { return int64(len(v)) }), err
	}
	return func(most int64) any {
		less := *e
		less.Stdout, less.Stderr = share(&e.Stdout, &e.Stderr, most)
		return process.Text(&less)
	}, nil
}

// share divides a bound among two streams: what one does not need is the other's.
func share(a, b *process.Output, most int64) (process.Output, process.Output) {
	need := func(o *process.Output) int64 { return int64(len(o.Head) + len(o.Tail)) }
	forA := max(most-need(b), min(need(a), most/2))
	return a.Within(forA), b.Within(most - min(forA, need(a)))
}

// A lines is the output of the forms lines and json_lines.
type lines[T any] struct {
	Lines   []T   `json:"lines"`
	Dropped int64 `json:"dropped"`
}

// linesWithin returns the function that leaves out lines from the middle until the others have at most
// so many bytes.
func linesWithin[T any](all []T, dropped int64, size func(T) int64) func(most int64) any {
	return func(most int64) any {
		head, tail := 0, len(all)
		for left, first := most, true; head < tail; first = !first {
			next := head
			if !first {
				next = tail - 1
			}
			if left -= size(all[next]) + 1; left < 0 {
				break
			}
			if first {
				head++
			} else {
				tail--
			}
		}
		kept := append(append(make([]T, 0, head+len(all)-tail), all[:head]...), all[tail:]...)
		return lines[T]{kept, dropped + int64(tail-head)}
	}
}
