package process

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// A TextOutput is what a command wrote, as text.
type TextOutput struct {
	Stdout    string `json:"stdout"`
	Stderr    string `json:"stderr"`
	ExitCode  int    `json:"exit_code"` // -1 where a signal ended it
	Truncated bool   `json:"truncated"`
	Binary    bool   `json:"binary"` // bytes that are no UTF-8 were replaced by U+FFFD
}

// Text returns what a command wrote, as text. Where a stream was truncated a line says how many
// bytes are missing.
func Text(e *Exit) TextOutput {
	stdout, b1 := textOf(&e.Stdout)
	stderr, b2 := textOf(&e.Stderr)
	return TextOutput{stdout, stderr, e.Code, e.Stdout.Truncated || e.Stderr.Truncated, b1 || b2}
}

func textOf(o *Output) (text string, binary bool) {
	if !o.Truncated {
		return valid(append(append([]byte{}, o.Head...), o.Tail...))
	}
	head, tail := o.Head, o.Tail
	for range utf8.UTFMax - 1 { // the cut may be within a character
		if r, n := utf8.DecodeLastRune(head); r != utf8.RuneError || n != 1 {
			break
		}
		head = head[:len(head)-1]
	}
	for range utf8.UTFMax - 1 {
		if len(tail) == 0 || utf8.RuneStart(tail[0]) {
			break
		}
		tail = tail[1:]
	}
	first, b1 := valid(head)
	last, b2 := valid(tail)
	return fmt.Sprintf("%s\n[%d bytes left out]\n%s", first, o.Size-int64(len(head)+len(tail)), last), b1 || b2
}

func valid(text []byte) (string, bool) {
	if utf8.Valid(text) {
		return string(text), false
	}
	return strings.ToValidUTF8(string(text), "\uFFFD"), true
}

// Lines returns the whole lines of a stream that were kept, without their ends, and how many others
// there were.
func Lines(o *Output) (lines []string, dropped int64) {
	raw, dropped := rawLines(o)
	lines = make([]string, len(raw))
	for i, l := range raw {
		lines[i], _ = valid(bytes.TrimSuffix(l, []byte("\r")))
	}
	return lines, dropped
}

// JSONLines returns the values of a stream that has one on each line, and how many whole lines
// were left out. Empty lines count for nothing. The error names the line that is no JSON.
func JSONLines(o *Output) (values []json.RawMessage, dropped int64, err error) {
	raw, dropped := rawLines(o)
	values = make([]json.RawMessage, 0, len(raw))
	for i, l := range raw {
		l = bytes.TrimSpace(l)
		if len(l) == 0 {
			continue
		}
		if !json.Valid(l) {
			return nil, dropped, fmt.Errorf("process: kept line %d of %d is no JSON", i+1, len(raw))
		}
		values = append(values, l)
	}
	return values, dropped, nil
}

// rawLines returns the whole lines of what was kept.
func rawLines(o *Output) (lines [][]byte, dropped int64) {
	if !o.Truncated {
		lines = split(append(append([]byte{}, o.Head...), o.Tail...))
		return lines, o.Lines - int64(len(lines))
	}
	if i := bytes.LastIndexByte(o.Head, '\n'); i >= 0 {
		lines = split(o.Head[:i+1])
	}
	if i := bytes.IndexByte(o.Tail, '\n'); i >= 0 {
		lines = append(lines, split(o.Tail[i+1:])...)
	}
	return lines, o.Lines - int64(len(lines))
}

func split(text []byte) [][]byte {
	if len(text) == 0 {
		return nil
	}
	return bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
}
