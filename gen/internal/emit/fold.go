package emit

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	maxColumns  = 140 // of a line, where a tab counts as tabColumns
	fillColumns = 120 // of the lines that fold makes
	tabColumns  = 4
	// maxFolds bounds the rounds of fold: each opens a list within one that is open.
	maxFolds = 20
	// minString is the width of the part of a string that stays on its line.
	minString = 20
)

// fold breaks the lines of formatted declarations that are too long: the
// outermost list on such a line gets its elements on lines of their own, and a
// string becomes the sum of shorter ones. A line that has neither stays.
func fold(src []byte) ([]byte, error) {
	var out []byte
	for len(src) > 0 { // a declaration at a time: most have no long line
		end := nextDeclaration(src)
		folded, err := foldDeclaration(src[:end])
		if err != nil {
			return nil, err
		}
		out, src = append(out, folded...), src[end:]
	}
	return out, nil
}

// nextDeclaration returns where the second declaration of formatted source
// begins: after an empty line, at its margin. No literal has a line break.
func nextDeclaration(src []byte) int {
	for at := 0; ; {
		i := bytes.Index(src[at:], []byte("\n\n"))
		if at += i + 2; i < 0 || at >= len(src) {
			return len(src)
		}
		if src[at] != '\t' {
			return at
		}
	}
}

func foldDeclaration(src []byte) ([]byte, error) {
	for range maxFolds {
		long := longLines(src)
		if len(long) == 0 {
			return src, nil
		}
		f := folder{src: src, long: long}
		if err := f.find(); err != nil {
			return nil, err
		}
		if len(f.edits) == 0 {
			return src, nil
		}
		var err error
		if src, err = format.Source(f.apply()); err != nil {
			return nil, err
		}
	}
	return src, nil
}

// longLines returns the numbers of the lines that are too long, with their indentation.
func longLines(src []byte) map[int]int {
	var long map[int]int
	n := 0
	for line := range bytes.Lines(src) {
		n++
		line = bytes.TrimSuffix(line, []byte("\n"))
		if columns(line) <= maxColumns {
			continue
		}
		if long == nil {
			long = map[int]int{}
		}
		long[n] = len(line) - len(bytes.TrimLeft(line, "\t"))
	}
	return long
}

// A folder looks for what can be broken on the long lines of src.
type folder struct {
	src   []byte
	long  map[int]int // indentation by line
	file  *token.File
	edits []edit
}

// An edit replaces a part of the source.
type edit struct {
	from, to int
	text     string
}

// clause precedes fragments so that they parse.
const clause = "package p\n"

func (f *folder) find() error {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, "", append([]byte(clause), f.src...), parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("generated code does not parse, which is a fault of the generator: %w", err)
	}
	f.file = set.File(parsed.Pos())
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			return !f.fields(n.Type.Params) && !f.fields(n.Type.Results)
		case *ast.FuncType:
			return !f.fields(n.Params) && !f.fields(n.Results)
		case *ast.CompositeLit:
			return !f.list(n.Lbrace, n.Rbrace, nodes(n.Elts))
		case *ast.CallExpr:
			return !f.list(n.Lparen, n.Rparen, nodes(n.Args))
		case *ast.IndexListExpr:
			return !f.list(n.Lbrack, n.Rbrack, nodes(n.Indices))
		case *ast.BasicLit:
			f.literal(n)
		}
		return true
	})
	return nil
}

func nodes(exprs []ast.Expr) []ast.Node {
	out := make([]ast.Node, len(exprs))
	for i, e := range exprs {
		out[i] = e
	}
	return out
}

// fields breaks a list of parameters or results.
func (f *folder) fields(l *ast.FieldList) bool {
	if l == nil || !l.Opening.IsValid() {
		return false
	}
	all := make([]ast.Node, len(l.List))
	for i, field := range l.List {
		all[i] = field
	}
	return f.list(l.Opening, l.Closing, all)
}

// list breaks what stands between two brackets, if that is on one long line.
func (f *folder) list(open, closing token.Pos, elems []ast.Node) bool {
	line := f.line(open)
	indent, long := f.long[line]
	if !long || line != f.line(closing) || len(elems) == 0 {
		return false
	}
	var b strings.Builder
	room := fillColumns - tabColumns*(indent+1)
	used := 0
	for i, e := range elems {
		text := f.text(e)
		width := utf8.RuneCountInString(text) + len(", ")
		if i > 0 && small(e) && small(elems[i-1]) && used+width <= room {
			b.WriteByte(' ')
		} else {
			b.WriteByte('\n')
			used = 0
		}
		used += width
		b.WriteString(text + ",")
	}
	b.WriteByte('\n')
	f.edits = append(f.edits, edit{f.offset(open) + 1, f.offset(closing), b.String()})
	return true
}

// small reports whether an element may share a line with a small neighbor.
func small(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BasicLit, *ast.Ident, *ast.SelectorExpr:
		return true
	case *ast.UnaryExpr:
		return small(n.X)
	case *ast.Field:
		return true
	}
	return false
}

// literal breaks a string that is alone responsible for the length of its line.
func (f *folder) literal(l *ast.BasicLit) {
	indent, long := f.long[f.line(l.Pos())]
	if !long || l.Kind != token.STRING {
		return
	}
	s, err := strconv.Unquote(l.Value)
	if err != nil {
		return
	}
	first := fillColumns - f.column(l.Pos())
	parts := cut(s, max(first, minString), fillColumns-tabColumns*(indent+1))
	if len(parts) < 2 {
		return
	}
	for i, part := range parts {
		parts[i] = quoted(part)
	}
	f.edits = append(f.edits, edit{f.offset(l.Pos()), f.offset(l.End()), strings.Join(parts, " +\n")})
}

// cut divides a text into parts whose literals fit a width: the first part has its
// own, all that follow share the second. It cuts after spaces where it has some.
func cut(s string, width, others int) []string {
	var parts []string
	for s != "" {
		end, space := 0, 0
		for i, r := range s {
			next := i + utf8.RuneLen(r)
			if utf8.RuneCountInString(quoted(s[:next])) > width && end > 0 {
				break
			}
			if end = next; r == ' ' {
				space = next
			}
		}
		if end < len(s) && space > 0 {
			end = space
		}
		parts, s, width = append(parts, s[:end]), s[end:], others
	}
	return parts
}

func (f *folder) offset(p token.Pos) int { return f.file.Offset(p) - len(clause) }

func (f *folder) line(p token.Pos) int { return f.file.Line(p) - 1 }

// column is where p stands on its line, from 0.
func (f *folder) column(p token.Pos) int {
	line := f.src[bytes.LastIndexByte(f.src[:f.offset(p)], '\n')+1 : f.offset(p)]
	return columns(line)
}

// columns is the width of a text without line breaks.
func columns(text []byte) int {
	return utf8.RuneCount(text) + bytes.Count(text, []byte("\t"))*(tabColumns-1)
}

func (f *folder) text(n ast.Node) string { return string(f.src[f.offset(n.Pos()):f.offset(n.End())]) }

// apply makes the edits, which do not overlap.
func (f *folder) apply() []byte {
	slices.SortFunc(f.edits, func(a, b edit) int { return a.from - b.from })
	var out []byte
	at := 0
	for _, e := range f.edits {
		out = append(append(out, f.src[at:e.from]...), e.text...)
		at = e.to
	}
	return append(out, f.src[at:]...)
}
