package lint

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/policies/lint/internal/values"
)

// Codes of warnings about patterns.
const (
	codeGlob = "glob_delimiters"    // a wildcard that ends at dots
	codeHost = "unanchored_pattern" // a pattern of hosts that matches other hosts too
)

// matchers are the functions that hold a text against a pattern, with the positions of text and pattern.
var matchers = map[string]struct{ text, pattern int }{
	"startswith": {1, 2}, "endswith": {1, 2}, "contains": {1, 2}, "regex.match": {2, 1}, "glob.match": {3, 1},
}

// patterns checks a function that holds a text against a pattern.
func (l *valueLint) patterns(name string, terms []*ast.Term, e *ast.Expr, f *values.Frame) {
	of, ok := matchers[name]
	if !ok || e.Location == nil || len(terms) <= max(of.text, of.pattern) {
		return
	}
	text := l.Values(terms[of.text], f)
	l.neverMatches(name, terms, text, e, f)
	for _, c := range l.Values(terms[of.pattern], f).Constants() {
		pattern, isText := c.Value.(ast.String)
		at := l.Where(c)
		if !isText || at == nil {
			continue
		}
		if m, folded := text.Folded(); folded && !l.allows(name, string(pattern), m.Name) {
			l.notes.at("match", at).wrong(at, fmt.Sprintf("%s(...) never matches %v", m.Name, pattern), fmt.Sprintf("write the pattern as %s makes texts", m.Name))
		}
		switch name {
		case "regex.match":
			if !matchable(string(pattern), nil) {
				l.notes.at("match", at).wrong(at, fmt.Sprintf("no text matches %v", pattern), "write a pattern that some text matches")
			}
			l.unanchored(string(pattern), at, text)
		case "glob.match":
			l.globDelimiters(string(pattern), at, l.Values(terms[2], f), e)
		}
	}
}

// neverMatches checks a pattern against all values that a text can have, where these are known.
func (l *valueLint) neverMatches(name string, terms []*ast.Term, text values.Set, e *ast.Expr, f *values.Frame) {
	if len(text.Constants()) == len(text.Candidates()) && !slices.ContainsFunc(text.Constants(), values.Constant.IsAnswer) {
		return // a constant: data, or what another call passes
	}
	calls, ok := l.Combined(terms[1:1+l.Arity(terms[0])], f)
	if !ok {
		return
	}
	note := l.notes.at("match", e.Location)
	for _, call := range calls {
		if t, err := l.Call(name, call); err != nil || t == nil || t.Equal(ast.BooleanTerm(true)) {
			note.fine = true
			return
		}
	}
	note.wrong(e.Location, fmt.Sprintf("%s(...) never holds: %s has no value that matches", name, shownSide(terms[matchers[name].text], text, f)), l.answersHint(text, values.ConstantAt(ast.StringTerm(""), e.Location)))
}

// allows says that a text in small letters, or in capital letters, may match a pattern.
func (l *valueLint) allows(name, pattern, fold string) bool {
	keeps := func(r rune) bool {
		if fold == "upper" {
			return unicode.ToUpper(r) == r
		}
		return unicode.ToLower(r) == r
	}
	switch name {
	case "regex.match":
		return matchable(pattern, keeps)
	case "glob.match":
		if strings.ContainsAny(pattern, `[{\`) {
			return true
		}
	}
	return !strings.ContainsFunc(pattern, func(r rune) bool { return !keeps(r) })
}

// matchable says that some text of runes that are allowed matches a regular expression. It follows what the expression
// wants of the beginning and the end of a text: nothing is before the one and behind the other.
func matchable(pattern string, allowed func(rune) bool) bool {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return true // constantArgs says so
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		return true
	}
	type state struct {
		pc           uint32
		begun, ended bool // runes were read; nothing may follow
	}
	seen := map[state]bool{}
	// A match may begin anywhere: both at the beginning of the text and behind other runes.
	queue := []state{{uint32(prog.Start), false, false}, {uint32(prog.Start), true, false}}
	for len(queue) > 0 {
		s := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if seen[s] {
			continue
		}
		seen[s] = true
		inst := &prog.Inst[s.pc]
		next := func(pc uint32) { queue = append(queue, state{pc, s.begun, s.ended}) }
		switch inst.Op {
		case syntax.InstMatch:
			return true
		case syntax.InstAlt, syntax.InstAltMatch:
			next(inst.Out)
			next(inst.Arg)
		case syntax.InstCapture, syntax.InstNop:
			next(inst.Out)
		case syntax.InstEmptyWidth:
			at := syntax.EmptyOp(inst.Arg)
			if at&syntax.EmptyBeginText != 0 && s.begun {
				continue
			}
			queue = append(queue, state{inst.Out, s.begun, s.ended || at&syntax.EmptyEndText != 0})
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			if !s.ended && someRune(inst, allowed) {
				queue = append(queue, state{inst.Out, true, false})
			}
		}
	}
	return false
}

// someRune says that an instruction reads one of the runes that are allowed.
func someRune(inst *syntax.Inst, allowed func(rune) bool) bool {
	if allowed == nil || inst.Op == syntax.InstRuneAny || inst.Op == syntax.InstRuneAnyNotNL || syntax.Flags(inst.Arg)&syntax.FoldCase != 0 {
		return true
	}
	if len(inst.Rune) == 1 {
		return allowed(inst.Rune[0])
	}
	for i := 0; i+1 < len(inst.Rune); i += 2 {
		for r := inst.Rune[i]; r <= inst.Rune[i+1]; r++ {
			if allowed(r) || r-inst.Rune[i] > 200 {
				return true
			}
		}
	}
	return false
}

// globDelimiters warns of a wildcard whose delimiters are left out: they are dots then.
func (l *valueLint) globDelimiters(pattern string, at *ast.Location, delimiters values.Set, e *ast.Expr) {
	all, ok := delimiters.AllConstants()
	if !ok || len(all) != 1 {
		return
	}
	list, isList := all[0].Value.(*ast.Array)
	if !isList || list.Len() > 0 || !strings.ContainsAny(strings.ReplaceAll(pattern, "**", ""), "*?[") {
		return
	}
	where := e.Location
	if at.File == where.File {
		where = at
	}
	l.notes.at("glob", where).unsure(where, codeGlob, fmt.Sprintf("the wildcards of %q end at a dot, since [] stands for [\".\"]", pattern),
		`write ["/"] for paths, ["."] for names of hosts, or null where a wildcard stands for anything`)
}

// unanchored warns of a pattern of hosts that matches in the middle of other hosts.
func (l *valueLint) unanchored(pattern string, at *ast.Location, text values.Set) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil || !ofHosts(text) && !namesHost(pattern) {
		return
	}
	re = re.Simplify()
	url := strings.Contains(pattern, "://") || strings.Contains(pattern, `:\/\/`)
	if anchored(re, syntax.OpBeginText, true) && (url || anchored(re, syntax.OpEndText, false)) {
		return
	}
	l.notes.at("host", at).unsure(at, codeHost, fmt.Sprintf("%q matches inside of other hosts%s", pattern, foreign(re, pattern, url)),
		"begin the pattern with ^ and end it with $, or compare ambit.url.host(...) with a list")
}

// foreign names a text of another host that a pattern matches: "" where none is found.
func foreign(re *syntax.Regexp, pattern string, url bool) string {
	matches, err := regexp.Compile(pattern)
	if err != nil {
		return ""
	}
	text := sample(re)
	others := []string{"evil-" + text + ".evil.example", "evil-" + text, text + ".evil.example"}
	if url {
		others = []string{"https://evil.example/?" + text}
	}
	for _, other := range others {
		if matches.MatchString(other) {
			return ", such as " + other
		}
	}
	return ""
}

// sample returns a text that an expression matches, unless it wants ends that cannot be there.
func sample(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "a"
	case syntax.OpCharClass:
		for _, r := range "a0.-" {
			for i := 0; i+1 < len(re.Rune); i += 2 {
				if re.Rune[i] <= r && r <= re.Rune[i+1] {
					return string(r)
				}
			}
		}
		if len(re.Rune) > 0 {
			return string(re.Rune[0])
		}
	case syntax.OpCapture, syntax.OpPlus, syntax.OpAlternate:
		return sample(re.Sub[0])
	case syntax.OpRepeat:
		return strings.Repeat(sample(re.Sub[0]), min(re.Min, 20))
	case syntax.OpConcat:
		var b strings.Builder
		for _, sub := range re.Sub {
			b.WriteString(sample(sub))
		}
		return b.String()
	}
	return ""
}

// ofHosts says that a text is a host or an address, as far as its function or its schema tells.
func ofHosts(text values.Set) bool {
	return slices.ContainsFunc(text.Candidates(), func(c values.Candidate) bool {
		switch c := c.(type) {
		case values.Made:
			return c.Name == "ambit.url.host"
		case values.InputPart:
			return c.At.HasFormat("hostname", "idn-hostname", "uri", "iri", "uri-reference")
		}
		return false
	})
}

// namesHost says that a pattern has the name of a host in it: letters, an escaped dot, letters.
func namesHost(pattern string) bool {
	if strings.Contains(pattern, "@") {
		return false
	}
	before, after, ok := strings.Cut(pattern, `\.`)
	for ok {
		if letters(before, false) >= 2 && letters(after, true) >= 2 && topLevel(after) {
			return true
		}
		before, after, ok = strings.Cut(after, `\.`)
	}
	return false
}

// letters counts the letters at the beginning or the end of a text.
func letters(s string, beginning bool) int {
	isLetter := func(r rune) bool { return r < unicode.MaxASCII && (unicode.IsLetter(r) || r == '-') }
	if beginning {
		return len(s) - len(strings.TrimLeftFunc(s, isLetter))
	}
	return len(s) - len(strings.TrimRightFunc(s, isLetter))
}

// topLevel says that a text begins with a name under which hosts are: other names follow a dot in names of files.
func topLevel(s string) bool {
	name := s[:letters(s, true)]
	return slices.Contains([]string{"com", "org", "net", "io", "dev", "example", "edu", "gov", "de", "eu", "uk", "internal", "local", "test", "app", "cloud", "ai"}, name)
}

// anchored says that every match of an expression is at an end of the text, or behind a dot.
func anchored(re *syntax.Regexp, op syntax.Op, begin bool) bool {
	switch re.Op {
	case op, syntax.OpBeginLine, syntax.OpEndLine:
		return true
	case syntax.OpCapture:
		return anchored(re.Sub[0], op, begin)
	case syntax.OpConcat:
		if begin {
			return anchored(re.Sub[0], op, begin)
		}
		return anchored(re.Sub[len(re.Sub)-1], op, begin)
	case syntax.OpAlternate:
		some := false
		for _, sub := range re.Sub {
			dot := begin && sub.Op == syntax.OpLiteral && string(sub.Rune) == "."
			some = some || !dot
			if !dot && !anchored(sub, op, begin) {
				return false
			}
		}
		return some
	}
	return false
}

// wideVerb is a verb whose width is an operand, or of many digits.
var wideVerb = regexp.MustCompile(`\*|[0-9]{5}`)

// A slot stands for a value of any type in a format.
type slot struct{}

// Format implements fmt.Formatter.
func (slot) Format(fmt.State, rune) {}

// formatted checks that a format has a value for each verb, and a verb for each value: what is missing is written as
// %!d(MISSING), which a model would read.
func (l *valueLint) formatted(terms []*ast.Term, e *ast.Expr, f *values.Frame) {
	formats, ok := l.Values(terms[1], f).AllConstants()
	if !ok || e.Location == nil {
		return
	}
	n := -1
	for _, c := range l.Values(terms[2], f).Candidates() {
		list, isList := (ast.Value)(nil), false
		switch c := c.(type) {
		case values.Constant:
			list = c.Value
		case values.Literal:
			list = c.Term.Value
		}
		var array *ast.Array
		if array, isList = list.(*ast.Array); !isList || n >= 0 && n != array.Len() {
			return
		}
		n = array.Len()
	}
	if n < 0 {
		return
	}
	given := fmt.Sprintf("%d values", n)
	if n == 1 {
		given = "one value"
	}
	slots := make([]any, n)
	for i := range slots {
		slots[i] = slot{}
	}
	for _, c := range formats {
		format, isText := c.Value.(ast.String)
		if !isText || wideVerb.MatchString(string(format)) { // the guard says so
			continue
		}
		plain := strings.ReplaceAll(string(format), "%%", "")
		out := fmt.Sprintf(plain, slots...)
		at := l.Where(c)
		if at == nil {
			at = e.Location
		}
		note := l.notes.at("format", at)
		switch {
		case strings.Contains(plain, "%!"):
			note.fine = true
		case strings.Contains(out, "%!") && strings.Contains(out, "EXTRA"):
			note.wrong(at, fmt.Sprintf("%v has fewer verbs than the %s that it is given", format, given), "write a verb, such as %v, for each value")
		case strings.Contains(out, "%!"):
			note.wrong(at, fmt.Sprintf("%v has other verbs than the %s that it is given: the text would have %s", format, given, out[strings.Index(out, "%!"):][:min(12, len(out)-strings.Index(out, "%!"))]), "give it a value for each verb; write %% for a percent sign")
		default:
			note.fine = true
		}
	}
}
