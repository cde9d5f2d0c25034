package redact

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Stream takes sensitive values out of a text that comes in parts, also those that are split
// between parts. It is not safe for concurrent use.
type Stream struct {
	forms []form // the longest first
	hold  int    // bytes that may be the beginning of a form that is not encoded
	codes []form // those of forms that are encoded, and so may be much longer than the value
	buf   []byte // what was not taken
	cut   bool   // text is missing before buf: its beginning may be the end of a form
}

// A form is one way in which a sensitive value is written.
type form struct {
	text  string
	short bool // the value is too short to be cut out
}

// Stream returns a stream without the values that s has collected.
func (s *Secrets) Stream() *Stream {
	t := &Stream{}
	for _, secret := range s.texts {
		if secret == "" {
			continue
		}
		for _, f := range formsOf(secret) {
			t.forms = append(t.forms, form{f, len(secret) < minSecret})
			t.hold = max(t.hold, len(f)-1)
		}
		for _, f := range encodedForms(secret) {
			t.codes = append(t.codes, form{f, len(secret) < minSecret})
		}
	}
	t.forms = append(t.forms, t.codes...)
	slices.SortFunc(t.forms, func(a, b form) int { return cmp.Or(cmp.Compare(len(b.text), len(a.text)), cmp.Compare(a.text, b.text)) })
	t.forms = slices.Compact(t.forms)
	return t
}

// Write adds text.
func (t *Stream) Write(text string) { t.buf = append(t.buf, text...) }

// Take returns what was written since the last Take and can be told, without sensitive values and in
// valid UTF-8. It holds back the end of the text, which more text may complete to a sensitive value.
// Where a value is shorter than four bytes the whole text is withheld.
func (t *Stream) Take() string {
	if t.cut && len(t.buf) > 0 {
		n := t.unsafe()
		if n > len(t.buf)-t.hold { // a form may begin before and end after what there is
			return ""
		}
		t.drop(n)
	}
	return t.take(t.end())
}

// Rest is Take at the end of the text: it holds nothing back.
func (t *Stream) Rest() string {
	t.drop(t.unsafe())
	return t.take(len(t.buf))
}

// Held returns how many bytes were written and not taken.
func (t *Stream) Held() int { return len(t.buf) }

// Gap says that text is missing before what is written next. It forgets what is held back, and returns how many
// bytes that is. What follows is told without what may be the end of a sensitive value.
func (t *Stream) Gap() int {
	t.cut = true
	return t.Discard()
}

// Ends returns the two ends of a text whose middle is missing, without sensitive values and without what may be a
// part of one that the gap cuts.
func (t *Stream) Ends(head, tail string) (first, last string) {
	t.Write(head)
	first = t.Take()
	t.Gap()
	t.Write(tail)
	return first, t.Rest()
}

// unsafe returns how many bytes after a gap may be the end of a form, and 0 where there is no gap.
func (t *Stream) unsafe() int {
	if !t.cut {
		return 0
	}
	n := min(t.hold, len(t.buf))
	for _, f := range t.codes {
		for k := min(len(f.text)-1, len(t.buf)); k > n; k-- {
			if strings.HasSuffix(f.text, string(t.buf[:k])) {
				n = k
			}
		}
	}
	for _, p := range t.found() {
		if p.from < n {
			n = max(n, p.to)
		}
	}
	for i := 0; i < utf8.UTFMax-1 && n < len(t.buf) && !utf8.RuneStart(t.buf[n]); i++ {
		n++
	}
	return n
}

// drop forgets the beginning of the text, after a gap.
func (t *Stream) drop(n int) { t.buf, t.cut = t.buf[n:], false }

// Discard forgets what is held back, and returns how many bytes that is.
func (t *Stream) Discard() int {
	n := len(t.buf)
	t.buf = nil
	return n
}

// end returns how much of the text can be told: without the part that is held back, and without half
// of a character.
func (t *Stream) end() int {
	n := max(len(t.buf)-t.hold, 0)
	for _, f := range t.codes {
		for at := max(len(t.buf)-len(f.text)+1, 0); at < n; at++ {
			if strings.HasPrefix(f.text, string(t.buf[at:])) {
				n = at
			}
		}
	}
	for i := n; i > 0 && i > n-utf8.UTFMax; i-- {
		if utf8.RuneStart(t.buf[i-1]) {
			if !utf8.FullRune(t.buf[i-1 : n]) {
				return i - 1
			}
			break
		}
	}
	return n
}

// A stretch is a range of a text.
type stretch struct {
	from, to int
	short    bool
}

// take takes the first n bytes, or fewer when a sensitive value begins before and ends after n.
func (t *Stream) take(n int) string {
	var b strings.Builder
	at, short := 0, false
	for _, p := range t.found() {
		if p.from >= n {
			break
		}
		if p.to > n {
			n = p.from
			break
		}
		b.Write(t.buf[at:p.from])
		b.WriteString("(sensitive)")
		at, short = p.to, short || p.short
	}
	b.Write(t.buf[at:n])
	t.buf = slices.Delete(t.buf, 0, n)
	if short {
		return withheld
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}

// found returns where sensitive values are, in order. Those that overlap or touch are one stretch.
func (t *Stream) found() (list []stretch) {
	text := string(t.buf)
	for _, f := range t.forms {
		for from := 0; ; {
			i := strings.Index(text[from:], f.text)
			if i < 0 {
				break
			}
			list = append(list, stretch{from + i, from + i + len(f.text), f.short})
			from += i + 1 // values may overlap
		}
	}
	slices.SortFunc(list, func(a, b stretch) int { return cmp.Compare(a.from, b.from) })
	merged := list[:0]
	for _, p := range list {
		if n := len(merged); n > 0 && p.from <= merged[n-1].to {
			merged[n-1].to, merged[n-1].short = max(merged[n-1].to, p.to), merged[n-1].short || p.short
			continue
		}
		merged = append(merged, p)
	}
	return merged
}
