package author

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/internal/catalog"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/host/terminal"
)

// markdown is a catalog as it is written.
type markdown struct {
	bytes.Buffer
	depth int // of the next heading
}

// An inline is Markdown that stands on one line, with every text of a declaration escaped.
type inline string

// text is a text of a declaration as one line of Markdown, in which nothing is markup.
func text(s string) inline {
	var b strings.Builder
	for _, c := range terminal.Escape(strings.Join(strings.Fields(s), " ")) {
		if isMarkup(b.String(), c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return inline(b.String())
}

// isMarkup reports whether a character would be markup behind what is before it on its line.
func isMarkup(before string, c rune) bool {
	switch c {
	case '\\', '`', '*', '_', '{', '}', '[', ']', '<', '>', '|', '#', '~', '&', '@', '$', '!':
		return true
	case '.':
		return strings.HasSuffix(before, "www")
	case ':':
		return strings.HasSuffix(before, "http") || strings.HasSuffix(before, "https") || strings.HasSuffix(before, "ftp")
	}
	return false
}

var leading = regexp.MustCompile(`^(\d*)([-+=.)])`)

// paragraph is a text that stands alone, where a dash or a number would begin a list.
func paragraph(s string) inline {
	return inline(leading.ReplaceAllString(string(text(s)), `$1\$2`))
}

// code is a name as code.
func code(name string) inline {
	name = terminal.Escape(name)
	if strings.ContainsAny(name, "`|") {
		return text(name)
	}
	return inline("`" + name + "`")
}

// line writes a paragraph of one line.
func (m *markdown) line(parts ...inline) {
	m.WriteByte('\n')
	for _, p := range parts {
		m.WriteString(string(p))
	}
	m.WriteByte('\n')
}

func (m *markdown) heading(words inline) {
	m.line(inline(strings.Repeat("#", m.depth)+" "), words)
}

// table writes a table.
func (m *markdown) table(head []inline, rows [][]inline) {
	m.WriteByte('\n')
	m.row(head)
	m.WriteString("|" + strings.Repeat("---|", len(head)) + "\n")
	for _, r := range rows {
		m.row(r)
	}
}

func (m *markdown) row(cells []inline) {
	for _, c := range cells {
		fmt.Fprintf(m, "| %s ", cmp.Or(c, "-"))
	}
	m.WriteString("|\n")
}

// facts writes what a declaration says as a list, below a heading, or in its place what is so without.
func (m *markdown) facts(heading string, facts []catalog.Fact, without inline) {
	if heading != "" {
		m.heading(text(heading))
	}
	if len(facts) == 0 {
		m.line(without)
		return
	}
	m.WriteByte('\n')
	for _, f := range facts {
		fmt.Fprintf(m, "- %s: %s\n", text(f.Name), text(f.Value))
	}
}

// declaration writes the tools of a package.
func (m *markdown) declaration(pkg string, tools []*runtime.Tool) error {
	m.heading("Tools of package " + code(pkg))
	m.depth++
	defer func() { m.depth-- }()
	rows := make([][]inline, len(tools))
	for i, t := range tools {
		s := t.Spec()
		what := text(cmp.Or(s.Title, s.Description))
		if s.Deprecated != nil {
			what += " (deprecated)"
		}
		rows[i] = []inline{code(s.Name), text(s.Effect.String()), what}
	}
	m.table([]inline{"Tool", "Effect", "What it does"}, rows)
	if len(tools) > 0 && tools[0].Spec().Set != nil {
		m.facts("Rules of all of them together", catalog.Rules(tools[0].Spec().Set), "None.")
	}
	for _, t := range tools {
		if err := m.tool(t); err != nil {
			return cmdutil.Problem("tool "+cmdutil.Quote(t.Name())+": "+err.Error(), "")
		}
	}
	return nil
}

// tool writes one tool.
func (m *markdown) tool(t *runtime.Tool) error {
	s := t.Spec()
	m.heading(code(s.Name))
	m.depth++
	defer func() { m.depth-- }()
	if s.Title != "" {
		m.line("**", text(s.Title), "**")
	}
	m.line("Effect: ", text(s.Effect.String()), " (", text(catalog.Effect(s.Effect.String())), ").")
	if s.Deprecated != nil {
		m.line("**Deprecated:** ", text(s.Deprecated.String()))
	}
	if s.Description != "" {
		m.line(paragraph(s.Description))
	}
	m.facts("", catalog.Facts(s), "")
	if err := m.members("Input", s.InputSchema); err != nil {
		return err
	}
	if err := m.members("Output", s.OutputSchema); err != nil {
		return err
	}
	m.facts("Consent", catalog.Consent(s.Consent), "The declaration asks nobody. A policy may.")
	m.facts("Rules", catalog.Rules(&s.Rules), "None of its own.")
	m.facts("Limits", catalog.Limits(s), "")
	if names := t.Unenforced(); len(names) > 0 {
		m.line("**Declared, and not enforced:** ", text(strings.Join(names, ", ")))
	}
	return nil
}

// members writes what a schema says of the members of an object as a table.
func (m *markdown) members(heading string, schema *string) error {
	m.heading(text(heading))
	if schema == nil {
		m.line("No schema is published.")
		return nil
	}
	list, more, err := catalog.Members(*schema)
	if err != nil {
		return fmt.Errorf("its schema: %w", err)
	}
	if len(list) == 0 {
		m.line("No members.")
		return nil
	}
	rows := make([][]inline, len(list))
	for i, l := range list {
		required := inline("")
		if l.Required {
			required = "yes"
		}
		rows[i] = []inline{code(l.Path), text(l.Type), required, text(l.Text), text(strings.Join(l.Bounds, "; "))}
	}
	m.table([]inline{"Member", "Type", "Required", "What it is", "Bounds"}, rows)
	if more {
		m.line("The schema has more members.")
	}
	return nil
}
