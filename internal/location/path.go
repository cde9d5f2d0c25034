package location

import (
	"errors"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Path is a path of files, without the elements that say nothing: empty ones, "." and "..".
type Path struct {
	Rooted   bool // it begins with a slash
	Elements []string
}

// ParsePath reads a path by its letters: no disk is asked, so a link counts as an element. It
// refuses a path that programs read in different ways, and one that leads above the folder in
// which it begins, since the letters do not say where it ends (SEMANTICS 7.5).
func ParsePath(text string) (Path, error) {
	if text == "" {
		return Path{}, errors.New("the path is empty")
	}
	if err := legible(text); err != nil {
		return Path{}, err
	}
	p := Path{Rooted: text[0] == '/'}
	for element := range strings.SplitSeq(text, "/") {
		switch {
		case element == "" || element == ".":
		case element != "..":
			p.Elements = append(p.Elements, element)
		case len(p.Elements) == 0:
			return Path{}, errors.New(`the path leads above the folder in which it begins, by an element ".."`)
		default:
			p.Elements = p.Elements[:len(p.Elements)-1]
		}
	}
	return p, nil
}

// ParsePlain is ParsePath for a path that names at least one element, and has none that says nothing.
// One slash may end it.
func ParsePlain(text string) (Path, error) {
	p, err := ParsePath(text)
	switch {
	case err != nil:
		return Path{}, err
	case len(p.Elements) == 0:
		return Path{}, errors.New("the path names no file and no folder")
	case strings.TrimSuffix(text, "/") != p.String():
		return Path{}, errors.New(`the path has an element that is empty, "." or ".."`)
	}
	return p, nil
}

// String returns the one spelling of p: "." for the folder in which it begins.
func (p Path) String() string {
	text := strings.Join(p.Elements, "/")
	switch {
	case p.Rooted:
		return "/" + text
	case text == "":
		return "."
	}
	return text
}

// Below reports whether p is inside of a folder. A folder is not inside of itself, and a path that
// begins with a slash is inside of no folder that does not.
func (p Path) Below(folder Path) bool {
	return p.Rooted == folder.Rooted && len(p.Elements) > len(folder.Elements) && begins(p.Elements, folder.Elements)
}

// Base returns the last element of p, as path.Base does.
func (p Path) Base() string { return path.Base(p.String()) }

// begins reports whether elements begin with others.
func begins(elements, with []string) bool {
	return len(elements) >= len(with) && slices.Equal(elements[:len(with)], with)
}

// Dotted reports whether a text has an element that is "." or "..", or that some program reads as one:
// between backslashes, percent-encoded however often, of characters that look like dots, or with a
// blank, a parameter or a query behind it.
func Dotted(text string) bool {
	shown, ok := reveal(text)
	return !ok || slices.ContainsFunc(split(shown), isDots)
}

// HasScheme reports whether a text has "://", however it is written.
func HasScheme(text string) bool {
	shown, ok := reveal(text)
	return !ok || strings.Contains(strings.ReplaceAll(shown, `\`, "/"), "://")
}

// hosted matches how a URL of a host begins for some program, with slashes in place of backslashes. Browsers want no
// slash behind the schemes that are named here. One letter and a colon are a drive.
var hosted = regexp.MustCompile(`^ *(//|(?i:https?|wss?|ftp|file):|[A-Za-z][-+.A-Za-z0-9]+:/)`)

// LikeURL reports whether a text is, begins or has a URL of a host for some program, however it is written.
func LikeURL(text string) bool {
	shown, ok := reveal(text)
	if !ok {
		return true
	}
	shown = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r): // browsers read over them
			return -1
		case r == '\\':
			return '/'
		}
		return r
	}, shown)
	return strings.Contains(shown, "://") || hosted.MatchString(shown)
}

// legible refuses the path of a file or a URL in which programs see other elements than the text has.
func legible(text string) error {
	shown, ok := reveal(text)
	if !ok || strings.ContainsFunc(shown, unicode.IsControl) {
		return errors.New("the path has a control character or is not UTF-8")
	}
	written, elements := strings.Split(text, "/"), split(shown)
	if len(written) != len(elements) {
		return errors.New("the path has a character that some programs read as a slash, such as a backslash")
	}
	for i, element := range elements {
		if isDots(element) && written[i] != "." && written[i] != ".." {
			return errors.New(`the path has an element that some programs read as "." or ".."`)
		}
	}
	return nil
}

// split returns the elements of a text between slashes and backslashes.
func split(text string) []string {
	return strings.Split(strings.ReplaceAll(text, `\`, "/"), "/")
}

// isDots reports whether an element is of dots alone, but for blanks and for what servers cut off behind it.
func isDots(element string) bool {
	if end := strings.IndexFunc(element, func(r rune) bool { return strings.ContainsRune(";?#", r) || unicode.IsControl(r) }); end >= 0 {
		element = element[:end]
	}
	return strings.Contains(element, ".") && strings.Trim(element, ". ") == ""
}

// alike are the characters that programs turn into those of a path, or that look like them.
var alike = map[rune]rune{
	'\u2024': '.', '\u2025': '.', '\u2026': '.', '\u3002': '.', '\uFE52': '.', '\uFF0E': '.', '\uFF61': '.',
	'\u2044': '/', '\u2215': '/', '\u29F8': '/', '\uFF0F': '/',
	'\u2216': '\\', '\u29F5': '\\', '\u29F9': '\\', '\uFE68': '\\', '\uFF3C': '\\',
	'\uFE6A': '%', '\uFF05': '%',
}

// maxEncodings is how often a text may be percent-encoded. Taking one more off could cost its length
// for every two bytes of it.
const maxEncodings = 8

// reveal returns a text as the most obliging of its readers sees it: without percent-encoding, with
// the characters of paths in place of those that look like them, with plain blanks, and without
// characters that nobody sees. It is false for what is not UTF-8, and for a text that is encoded
// more than maxEncodings times.
func reveal(text string) (string, bool) {
	for range maxEncodings + 1 {
		if !utf8.ValidString(text) {
			return text, false
		}
		shown := decode(strings.Map(fold, text))
		if shown == text {
			return text, true
		}
		text = shown
	}
	return text, false
}

// fold returns the character as which a program may read r; -1: none.
func fold(r rune) rune {
	switch {
	case alike[r] != 0:
		return alike[r]
	case unicode.In(r, unicode.Cf, unicode.Mn):
		return -1
	case unicode.IsSpace(r) && !unicode.IsControl(r):
		return ' '
	}
	return r
}

// decode takes one percent-encoding off a text, also in the form %u002e. What is no encoding stays.
func decode(text string) string {
	if !strings.Contains(text, "%") {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '%' {
			if c, ok := hexadecimal(text[i+1:], 2); ok {
				out, i = append(out, byte(c)), i+2
				continue
			}
			if rest, ok := strings.CutPrefix(strings.ToLower(text[i+1:min(i+6, len(text))]), "u"); ok {
				if c, ok := hexadecimal(rest, 4); ok {
					out, i = utf8.AppendRune(out, rune(c)), i+5
					continue
				}
			}
		}
		out = append(out, text[i])
	}
	return string(out)
}

// hexadecimal reads the number that the first digits of a text are.
func hexadecimal(text string, digits int) (uint64, bool) {
	if len(text) < digits {
		return 0, false
	}
	n, err := strconv.ParseUint(text[:digits], 16, 32)
	return n, err == nil
}
