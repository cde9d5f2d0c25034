package terminal

import "strings"

// A palette colors what it is given, or does not.
type palette bool

func (p palette) paint(code, text string) string {
	if !p || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (p palette) bold(text string) string   { return p.paint("1", text) }
func (p palette) faint(text string) string  { return p.paint("2", text) }
func (p palette) red(text string) string    { return p.paint("31", text) }
func (p palette) green(text string) string  { return p.paint("32", text) }
func (p palette) yellow(text string) string { return p.paint("33", text) }
func (p palette) cyan(text string) string   { return p.paint("36", text) }

// diff returns the lines of a preview, each safe to show. Lines of a unified
// diff are colored.
func (p palette) diff(text string, unified bool) []string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		safe := Escape(line)
		switch {
		case !unified:
		case strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "--- "):
			safe = p.bold(safe)
		case strings.HasPrefix(line, "@@"):
			safe = p.cyan(safe)
		case strings.HasPrefix(line, "+"):
			safe = p.green(safe)
		case strings.HasPrefix(line, "-"):
			safe = p.red(safe)
		}
		lines[i] = safe
	}
	return lines
}

// isDiff reports whether a preview is a unified diff: by its type, or by what
// it begins with when it says no more than that it is text.
func isDiff(mediaType, text string) bool {
	switch mediaType {
	case "text/x-diff", "text/x-patch":
		return true
	case "", "text/plain":
		return strings.HasPrefix(text, "--- ") && strings.Contains(text, "\n+++ ") && strings.Contains(text, "\n@@ ")
	}
	return false
}
