package console

import (
	"strings"
	"unicode/utf8"

	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/host/internal/legible"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// A writtenStream is what a page of a call that runs shows of its live output when it is made. The script appends
// to it.
type writtenStream struct {
	Stream  string // empty: what a handler reports
	Attempt int
	End     int64 // of Text in the stream of the process
	Text    string
}

// writtenOf returns the streams of a call, with the last part of what is kept of its command.
func writtenOf(kept []journal.Live) []writtenStream {
	const most = 20_000 // that of the script
	list := []writtenStream{{}, {Stream: process.Stdout.String()}, {Stream: process.Stderr.String()}}
	for i := range list {
		s, text := &list[i], strings.Builder{}
		for _, p := range kept {
			if p.Stream != s.Stream {
				continue
			}
			if s.End < p.Offset {
				text.WriteString("\n[...]\n")
			}
			text.WriteString(p.Text)
			s.Attempt, s.End = p.Attempt, p.End
		}
		s.Text = lastOf(legible.Block(text.String()), most)
	}
	return list
}

// lastOf returns the last n bytes of a text, without half a character.
func lastOf(text string, n int) string {
	at := max(0, len(text)-n)
	for at < len(text) && !utf8.RuneStart(text[at]) {
		at++
	}
	return text[at:]
}
