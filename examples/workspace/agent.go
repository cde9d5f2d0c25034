package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
)

// script is what the agent does when it is not told otherwise.
//
//go:embed calls.jsonl
var script []byte

// call is one line of a calls file. The input stays as the bytes that were
// written: only the runtime reads it.
type call struct {
	ID    string          `json:"id"`
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"`
}

// callSeq yields calls until one cannot be read.
type callSeq = iter.Seq2[call, error]

// calls reads JSON lines from r, named name in errors. Blank lines are skipped.
func calls(name string, r io.Reader) callSeq {
	return func(yield func(call, error) bool) {
		in := bufio.NewReader(r)
		for n := 1; ; n++ {
			line, err := in.ReadBytes('\n')
			if line = bytes.TrimSpace(line); len(line) > 0 {
				c, err := parseCall(line)
				if err != nil {
					err = fmt.Errorf("%s:%d: %w", name, n, err)
				}
				if c.ID == "" {
					c.ID = fmt.Sprintf("c%d", n)
				}
				if !yield(c, err) || err != nil {
					return
				}
			}
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(call{}, fmt.Errorf("%s: %w", name, err))
				return
			}
		}
	}
}

// parseCall reads one line.
func parseCall(line []byte) (call, error) {
	var c call
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return call{}, fmt.Errorf(`%w: want {"tool": NAME, "input": {...}} with an optional "id"`, err)
	}
	if d.More() {
		return call{}, errors.New("more than one value on the line: write one call a line")
	}
	if c.Tool == "" {
		return call{}, errors.New(`the call names no tool: add "tool"`)
	}
	return c, nil
}
