package terminal

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/ambit-tools/ambit/runtime/host/internal/legible"
)

// A row is one line of the table of arguments.
type row struct {
	name string
	text string // one line, or several; safe to show
	line string // one line that still has to be escaped, for a message
	cut  int    // characters that are not shown
}

// How much of a text is shown at once; all of it is on request.
const (
	headLength = 1500
	tailLength = 500
)

// rows lists the values in JSON arguments by their names, in their order. Whole
// says that nothing is to be left out.
func rows(arguments []byte, whole bool) ([]row, error) {
	d := json.NewDecoder(bytes.NewReader(arguments))
	d.UseNumber()
	var out []row
	if err := collect(d, "", whole, &out); err != nil {
		return nil, fmt.Errorf("the arguments are no JSON: %w", err)
	}
	return out, nil
}

var placeholder = regexp.MustCompile(`\{([^{}]*)\}`)

// Fill puts values of JSON arguments in the place of {member} in a message. A
// placeholder of which there is no value stays as it is. What it returns still has
// to be escaped.
func Fill(message string, arguments []byte) string {
	values := map[string]string{}
	if all, err := rows(arguments, false); err == nil {
		for _, r := range all {
			values[r.name] = r.line
		}
	}
	return placeholder.ReplaceAllStringFunc(message, func(match string) string {
		return cmp.Or(values[match[1:len(match)-1]], match)
	})
}

// collect appends the rows of the next value.
func collect(d *json.Decoder, name string, whole bool, out *[]row) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	add := func(text string) { *out = append(*out, row{name: name, text: text, line: text}) }
	switch v := token.(type) {
	case json.Delim:
		return collectMany(d, v, name, whole, out)
	case string:
		*out = append(*out, textRow(name, v, whole))
	case nil:
		add("null")
	default:
		add(fmt.Sprint(v)) // a number as it is written, or a boolean
	}
	return nil
}

// collectMany appends the rows of an object or an array that has begun.
func collectMany(d *json.Decoder, begin json.Delim, name string, whole bool, out *[]row) error {
	before := len(*out)
	for i := 0; d.More(); i++ {
		member := fmt.Sprintf("%s[%d]", name, i)
		if begin == '{' {
			token, err := d.Token()
			if err != nil {
				return err
			}
			member = memberName(name, token.(string))
		}
		if err := collect(d, member, whole, out); err != nil {
			return err
		}
	}
	end, err := d.Token()
	if len(*out) == before && name != "" {
		empty := fmt.Sprintf("%v%v", begin, end)
		*out = append(*out, row{name: name, text: empty, line: empty})
	}
	return err
}

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// memberName is name.member; a member that is no plain word is quoted, so that
// its dots and brackets are its own.
func memberName(name, member string) string {
	if !identifier.MatchString(member) {
		return name + "[" + quote(member) + "]"
	}
	if name == "" {
		return member
	}
	return name + "." + member
}

// quote writes a text as JSON does, on one line, safe to show.
func quote(text string) string { return legible.Quote(text) }

// textRow shows a string: quoted when it is one line, else line by line.
func textRow(name, text string, whole bool) row {
	r := row{name: name, line: legible.JSON(text)}
	runes := []rune(text)
	if n := len(runes) - headLength - tailLength; n > 0 && !whole {
		r.cut = n
		head, left, tail := string(runes[:headLength]), fmt.Sprintf("... %d characters are not shown ...", n), string(runes[len(runes)-tailLength:])
		text = head + "\n" + left + "\n" + tail
		r.line = legible.JSON(head) + left + legible.JSON(tail)
	}
	if body, end := strings.CutSuffix(text, "\n"); strings.Contains(body, "\n") {
		lines := strings.Split(body, "\n")
		for i, line := range lines {
			lines[i] = "| " + Escape(line)
		}
		if !end {
			lines[len(lines)-1] += "  (no line break at the end)"
		}
		r.text = strings.Join(lines, "\n")
		return r
	}
	r.text = quote(text)
	return r
}

// maxNameWidth bounds the first column.
const maxNameWidth = 24

// writeTable prints rows in two columns.
func writeTable(w io.Writer, all []row) {
	names := make([]string, len(all))
	column := 0
	for i, r := range all {
		names[i] = Escape(r.name)
		if n := width(names[i]); n <= maxNameWidth {
			column = max(column, n)
		}
	}
	for i, r := range all {
		lines := strings.Split(r.text, "\n")
		if width(names[i]) > column {
			fmt.Fprintf(w, "    %s\n", names[i])
			names[i] = ""
		}
		for j, line := range lines {
			name := names[i]
			if j > 0 {
				name = ""
			}
			fmt.Fprintf(w, "    %s%s  %s\n", name, strings.Repeat(" ", column-width(name)), line)
		}
	}
}
