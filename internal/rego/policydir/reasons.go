package policydir

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// reasonsKey is the member of an annotation's custom part that declares codes.
const reasonsKey = "reasons"

const reasonsHint = "write reasons: {too_big: Files are limited.} below custom: in the METADATA"

// codePattern is what the declaration language allows as a code.
var codePattern = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// ReadReasons adds the codes that annotations of the hand-written policies declare
// to those of the declaration. A code is declared once.
func (b *Bundle) ReadReasons(errs *Errors) {
	r := reasonReader{Bundle: b, codes: map[string]string{}, found: map[string]*ast.Location{}, errs: errs}
	for _, m := range b.HandWritten(b.Parsed) {
		r.read(m, false)
	}
	for _, m := range b.HandWritten(b.Tests) {
		r.read(m, true)
	}
	if len(r.codes) == 0 {
		return
	}
	all := map[string]any{}
	maps.Copy(all, b.Declared.Reasons)
	for code, description := range r.codes {
		all[code] = description
	}
	b.Declared.Reasons = all
	if data := Within(b.Data, "ambit", "declared"); data != nil {
		data["reasons"] = all
	}
}

// A reasonReader collects the codes that annotations declare.
type reasonReader struct {
	*Bundle
	codes map[string]string // to their descriptions
	found map[string]*ast.Location
	errs  *Errors
}

// read reads the annotations of one file.
func (r *reasonReader) read(m *ast.Module, test bool) {
	for _, a := range m.Annotations {
		declared, ok := a.Custom[reasonsKey]
		if !ok {
			continue
		}
		at := r.line(a, reasonsKey)
		if test {
			r.errs.Add(at, "reasons in a file of tests declare nothing", "declare them beside the rules")
			continue
		}
		codes, ok := declared.(map[string]any)
		if !ok {
			r.errs.Add(at, "reasons must map codes to descriptions", reasonsHint)
			continue
		}
		for _, code := range slices.Sorted(maps.Keys(codes)) {
			r.code(a, code, codes[code])
		}
	}
}

// code adds one code.
func (r *reasonReader) code(a *ast.Annotations, code string, value any) {
	at := r.line(a, code)
	description, isText := value.(string)
	first := r.found[code]
	switch {
	case !codePattern.MatchString(code):
		r.errs.Add(at, fmt.Sprintf("%q cannot be a code", code), "write small letters, digits and underscores, a letter first, 64 at most")
	case !isText || strings.TrimSpace(description) == "":
		r.errs.Add(at, fmt.Sprintf("the code %q has no description", code), reasonsHint)
	case slices.Contains(LibraryCodes(), code) || code == CodeNoAllow:
		r.errs.Add(at, fmt.Sprintf("the code %q belongs to the library", code), "give this reason a code of its own")
	case r.Declared.Reasons[code] != nil:
		r.errs.Add(at, fmt.Sprintf("the code %q is declared in tools.yaml too", code), "delete one of the two, or give this reason a code of its own")
	case first != nil:
		r.errs.Add(at, fmt.Sprintf("the code %q is declared at %s too", code, Position(first)), "delete one of the two, or give this reason a code of its own")
	default:
		r.codes[code], r.found[code] = strings.TrimSpace(description), at
	}
}

// line returns the location of a key in the comment that an annotation is, or of
// the comment.
func (r *reasonReader) line(a *ast.Annotations, key string) *ast.Location {
	at := a.Location
	pattern := regexp.MustCompile(`(^|[#\s{,"'])(` + regexp.QuoteMeta(key) + `)["']?\s*:`)
	for i, text := range r.Src.lines(at.File) {
		if i < at.Row {
			continue
		}
		if !strings.HasPrefix(strings.TrimSpace(text), "#") {
			break
		}
		if m := pattern.FindStringSubmatchIndex(text); m != nil {
			return &ast.Location{File: at.File, Row: i + 1, Col: m[4] + 1}
		}
	}
	return at
}

// declaresReasons says that a file that cannot be parsed may declare codes, so
// that codes that are not declared elsewhere may be right.
func (f File) declaresReasons() bool {
	return bytes.Contains(f.Text, []byte(reasonsKey))
}
