package console

import (
	"strings"
	"unicode/utf8"

	"github.com/ambit-tools/ambit/runtime/consent"
)

// maxLines is how many lines of a preview a page shows.
const maxLines = 2_000

// A shown preview is one as a page shows it.
type shownPreview struct {
	Diff  bool
	Lines []line
	More  int // lines that are not shown
}

// A line of a preview. Mark is the part of a changed line that differs from the line that it replaces.
type line struct {
	Kind               string // same, added, removed, place or file
	Sign               string // what the line begins with in a diff
	Before, Mark, Tail string
}

// previewOf returns a preview line by line; nil when there is none.
func previewOf(p *consent.Preview) *shownPreview {
	if p == nil {
		return nil
	}
	s := &shownPreview{Diff: isDiff(p.MediaType, p.Text)}
	texts := strings.Split(strings.TrimSuffix(p.Text, "\n"), "\n")
	if n := len(texts) - maxLines; n > 0 {
		s.More, texts = n, texts[:maxLines]
	}
	for _, text := range texts {
		s.Lines = append(s.Lines, s.line(text))
	}
	s.mark()
	return s
}

// isDiff reports whether a preview is a unified diff: by its type, or by what it begins with when it says
// no more than that it is text.
func isDiff(mediaType, text string) bool {
	switch mediaType {
	case "text/x-diff", "text/x-patch":
		return true
	case "", "text/plain":
		return strings.HasPrefix(text, "--- ") && strings.Contains(text, "\n+++ ") && strings.Contains(text, "\n@@ ")
	}
	return false
}

func (s *shownPreview) line(text string) line {
	kind := "same"
	sign := 1
	switch {
	case !s.Diff || text == "":
		sign = 0
	case strings.HasPrefix(text, "+++ "), strings.HasPrefix(text, "--- "):
		kind, sign = "file", 0
	case strings.HasPrefix(text, "@@"):
		kind, sign = "place", 0
	case text[0] == '+':
		kind = "added"
	case text[0] == '-':
		kind = "removed"
	case text[0] != ' ':
		sign = 0
	}
	begin, more := cut(text[sign:], maxValue)
	if more > 0 {
		begin += "..."
	}
	return line{Kind: kind, Sign: text[:sign], Before: begin}
}

// mark marks what differs where as many lines are added as were removed before them.
func (s *shownPreview) mark() {
	for i := 0; i < len(s.Lines); {
		removed := s.run(i, "removed")
		added := s.run(i+removed, "added")
		if removed == added {
			for j := range removed {
				markPair(&s.Lines[i+j], &s.Lines[i+removed+j])
			}
		}
		i += max(removed+added, 1)
	}
}

// run returns how many lines of a kind there are from i on.
func (s *shownPreview) run(i int, kind string) (n int) {
	for i+n < len(s.Lines) && s.Lines[i+n].Kind == kind {
		n++
	}
	return n
}

// markPair marks what is between the common beginning and the common end of two lines.
func markPair(a, b *line) {
	x, y := a.Before, b.Before
	begin := 0
	for begin < min(len(x), len(y)) {
		r, size := utf8.DecodeRuneInString(x[begin:])
		if other, _ := utf8.DecodeRuneInString(y[begin:]); other != r || r == utf8.RuneError {
			break
		}
		begin += size
	}
	end := 0
	for end < min(len(x), len(y))-begin {
		r, size := utf8.DecodeLastRuneInString(x[begin : len(x)-end])
		if other, _ := utf8.DecodeLastRuneInString(y[begin : len(y)-end]); other != r || r == utf8.RuneError {
			break
		}
		end += size
	}
	a.split(begin, end)
	b.split(begin, end)
}

// split marks a line but for its first and last bytes. It does not end a part after a backslash, which
// escapes what looks escaped only where both stand together.
func (l *line) split(begin, end int) {
	t, stop := l.Before, len(l.Before)-end
	if begin > 0 && t[begin-1] == '\\' {
		begin--
	}
	if stop > begin && t[stop-1] == '\\' {
		stop--
	}
	l.Before, l.Mark, l.Tail = t[:begin], t[begin:stop], t[stop:]
}
