package console

import (
	"net/url"
	"strings"
)

// links makes every URL of a console. The parts of a path are escaped so that each stays one part,
// whatever it says.
type links struct{ prefix string }

// Home is the list of what waits.
func (l links) Home() string { return l.prefix + "/" }

// Approval is the page of a request for consent.
func (l links) Approval(id string) string { return l.prefix + "/approvals/" + part(id) }

// Arguments is all of the arguments of a request, as text.
func (l links) Arguments(id string) string { return l.Approval(id) + "/arguments" }

// Style is the style sheet.
func (l links) Style() string { return l.prefix + styleSheet.path }

// Icon is the icon of the pages.
func (l links) Icon() string { return l.prefix + icon.path }

// part is a text as one part of a path. Browsers drop parts that are . or .., however they are escaped, so
// these have a tilde before them, as has what begins with one. whole takes it away.
func part(id string) string {
	if id == "." || id == ".." || strings.HasPrefix(id, tilde) {
		id = tilde + id
	}
	return url.PathEscape(id)
}

const tilde = "~"

// whole is the text of a part of a path.
func whole(part string) string { return strings.TrimPrefix(part, tilde) }
