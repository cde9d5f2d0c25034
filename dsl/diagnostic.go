package dsl

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Diagnostic is one fault of a declaration, at the place where it stands.
type Diagnostic struct {
	Pos     Pos
	Message string // names the key; one line
	Hint    string // what to write instead
	Excerpt string // the source line at Pos, without its line break
}

// A Warning is something of a declaration that works and may not be meant.
type Warning struct {
	Code string // what kind it is, such as empty_object
	*Diagnostic
}

// Error returns "file:line:col: message".
func (d *Diagnostic) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", d.Pos.File, d.Pos.Line, d.Pos.Col, d.Message)
}

// Format writes the message, the source line with a caret under the fault, and the hint.
func (d *Diagnostic) Format(w io.Writer) {
	fmt.Fprintln(w, d.Error())
	text, caret := excerpt(d.Excerpt, d.Pos.Col)
	fmt.Fprintf(w, "%5d | %s\n      | %s^\n", d.Pos.Line, text, strings.Repeat(" ", caret))
	if d.Hint != "" {
		fmt.Fprintf(w, "hint: %s\n", d.Hint)
	}
}

const (
	tabWidth     = 4
	excerptWidth = 100
)

// excerpt expands the tabs of a source line, replaces what a terminal would
// obey, and returns with it how many characters stand before column col. A long
// line is cut around the column.
func excerpt(line string, col int) (string, int) {
	line, col = around(line, col)
	var text []rune
	caret, n := 0, 0
	for _, r := range line {
		if n++; n == col {
			caret = len(text)
		}
		switch {
		case r == '\t':
			for range tabWidth - len(text)%tabWidth {
				text = append(text, ' ')
			}
		case isControl(r):
			text = append(text, utf8.RuneError)
		default:
			text = append(text, r)
		}
	}
	if col > n {
		caret = len(text)
	}
	if cut := caret - excerptWidth*3/4; cut > 0 {
		text = append([]rune("…"), text[cut+1:]...)
		caret -= cut
	}
	if len(text) > excerptWidth {
		text = append(text[:excerptWidth-1], '…')
	}
	return string(text), caret
}

// around drops what excerpt would cut away, which keeps lines of a megabyte cheap.
func around(line string, col int) (string, int) {
	const enough = 2 * excerptWidth
	if col > enough {
		n := 0
		for i := range line {
			if n++; n == col-enough {
				line, col = line[i:], enough+1
				break
			}
		}
	}
	return line[:min(len(line), 2*enough*utf8.UTFMax)], col
}

// isControl reports whether a terminal or an editor would obey r instead of showing it.
func isControl(r rune) bool {
	switch {
	case r < ' ', r >= 0x7f && r < 0xa0, r == 0x2028, r == 0x2029, r == 0xfeff:
		return true
	}
	return isBidi(r)
}

// isBidi reports whether a character changes the direction of a text.
func isBidi(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f
}

// Diagnostics are all the faults of one run, in the order of their places.
type Diagnostics []*Diagnostic

// Error returns one line per fault.
func (ds Diagnostics) Error() string {
	lines := make([]string, len(ds))
	for i, d := range ds {
		lines[i] = d.Error()
	}
	return strings.Join(lines, "\n")
}

// Format writes every fault as [Diagnostic.Format] does, with an empty line between them.
func (ds Diagnostics) Format(w io.Writer) {
	for i, d := range ds {
		if i > 0 {
			fmt.Fprintln(w)
		}
		d.Format(w)
	}
}

// Err returns the faults sorted and without repetitions, or nil when there are none.
func (ds Diagnostics) Err() error {
	if len(ds) == 0 {
		return nil
	}
	sorted := slices.Clone(ds)
	slices.SortStableFunc(sorted, func(a, b *Diagnostic) int {
		return cmp.Or(
			cmp.Compare(a.Pos.File, b.Pos.File),
			cmp.Compare(a.Pos.Line, b.Pos.Line),
			cmp.Compare(a.Pos.Col, b.Pos.Col),
			cmp.Compare(a.Message, b.Message))
	})
	return slices.CompactFunc(sorted, func(a, b *Diagnostic) bool {
		return a.Pos == b.Pos && a.Message == b.Message
	})
}

// Diagnostic returns a fault at pos with the source line at that place. It is for the
// later stages, which check what Parse cannot.
func (f *File) Diagnostic(pos Pos, hint, format string, args ...any) *Diagnostic {
	return f.source.diagnostic(pos, hint, format, args...)
}

// source is the text of a file by lines.
type source struct {
	path   string
	lines  []string
	widths []int             // of the lines, in code points
	others map[string]source // files that references lead to, by their paths
}

// newSource cuts text where yaml.v3 counts lines: it counts more line breaks than most editors.
func newSource(path, text string) source {
	s := source{path: path}
	start := 0
	for i, r := range text {
		switch r {
		case '\r':
			if strings.HasPrefix(text[i+1:], "\n") {
				continue
			}
		case '\n', 0x85, 0x2028, 0x2029:
		default:
			continue
		}
		s.lines = append(s.lines, strings.TrimSuffix(text[start:i], "\r"))
		start = i + utf8.RuneLen(r)
	}
	s.lines = append(s.lines, text[start:])
	for _, line := range s.lines {
		s.widths = append(s.widths, utf8.RuneCountInString(line))
	}
	return s
}

// diagnostic makes a fault at pos. It moves a pos outside of the file into it.
func (s source) diagnostic(pos Pos, hint, format string, args ...any) *Diagnostic {
	if other, ok := s.others[pos.File]; ok {
		s = other
	}
	d := &Diagnostic{Pos: pos, Message: fmt.Sprintf(format, args...), Hint: hint}
	d.Pos.File = s.path
	d.Pos.Line = min(max(pos.Line, 1), max(len(s.lines), 1))
	d.Pos.Col = 1
	if len(s.lines) > 0 {
		d.Excerpt = s.lines[d.Pos.Line-1]
		d.Pos.Col = min(max(pos.Col, 1), s.widths[d.Pos.Line-1]+1)
	}
	return d
}
