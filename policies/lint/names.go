package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/internal/rego/schema"
	"github.com/ambit-tools/ambit/policies/lint/internal/values"
)

// comparison checks constants that are compared with a part of the input, with what rules answer or with what a
// function makes, also through locals and rules: a value that these never have makes the comparison always the same.
func (l *valueLint) comparison(x, y *ast.Term, e *ast.Expr, f *values.Frame) {
	if l.Defines(x, e, f) || l.Defines(y, e, f) {
		return
	}
	left, right := l.Side(x, f, e), l.Side(y, f, e)
	c := comparing{x: x, y: y, e: e, f: f, ordering: ordering(e)}
	l.compared(left, right.Constants(), c)
	l.compared(right, left.Constants(), c)
	l.apart(left, right, c)
	l.destructured(x, right, f)
	l.destructured(y, left, f)
}

// A comparing is an expression that compares.
type comparing struct {
	x, y     *ast.Term
	e        *ast.Expr // nil: a function is called with a value
	f        *values.Frame
	ordering bool
}

// ordering says that an expression asks which of two values is greater.
func ordering(e *ast.Expr) bool {
	terms, _ := e.Terms.([]*ast.Term)
	switch terms[0].String() {
	case "gt", "gte", "lt", "lte":
		return true
	}
	return false
}

// writes says that a constant stands in the expression itself.
func (c comparing) writes(t *ast.Term) bool {
	if c.e == nil {
		return true
	}
	found := false
	ast.WalkTerms(c.e, func(other *ast.Term) bool {
		found = found || other == t
		return found
	})
	return found
}

// apart checks that two sides of a comparison can be of one kind, where neither is a constant.
func (l *valueLint) apart(left, right values.Set, c comparing) {
	kl, kr := l.Kinds(left), l.Kinds(right)
	if kl&kr != 0 || len(left.Constants()) == len(left.Candidates()) && len(right.Constants()) == len(right.Candidates()) || c.e.Location == nil {
		return
	}
	if !c.ordering && (isWrittenNull(left, c) || isWrittenNull(right, c)) {
		return
	}
	at, check := c.e.Location, "kinds"
	for _, side := range []values.Set{right, left} {
		if all, ok := side.AllConstants(); ok && l.Where(all[0]) != nil {
			at, check = l.Where(all[0]), "value"
			break
		}
	}
	l.notes.at(check, at).wrong(at, fmt.Sprintf("%s is %v, and it is compared with %v", shownSide(c.x, left, c.f), kl, kr), fmt.Sprintf("compare it with %v", kl))
}

// isWrittenNull says that a side of a comparison is the null that a policy writes: what may be absent is compared with it.
func isWrittenNull(s values.Set, c comparing) bool {
	all, ok := s.AllConstants()
	return ok && len(all) == 1 && all[0].Value.Compare(ast.NullValue) == 0 && !all[0].InData()
}

// membership checks constants that a part of the input is looked for among, and that there is something to look in.
func (l *valueLint) membership(wanted, among *ast.Term, e *ast.Expr, f *values.Frame) {
	left, right := l.Side(wanted, f, e), l.Side(among, f, e)
	if !l.hasElements(right, among, "in", e, f) {
		return
	}
	c := comparing{x: wanted, y: among, e: e, f: f}
	l.compared(left, l.Elements(right).Constants(), c)
	elements := right.Each(func(c values.Candidate) values.Set {
		if p, ok := c.(values.InputPart); ok && p.At.Kinds() == schema.ObjectKind {
			return values.Anything() // values of an object: names among them are found as they are written
		}
		return l.Elements(values.Only(c))
	})
	l.compared(elements, left.Constants(), c)
	l.apart(left, elements, c)
	for _, part := range right.PartsNamed() {
		for _, name := range left.Constants() {
			if _, isText := name.Value.(ast.String); isText {
				l.memberOf([]values.InputPart{part}, ast.NewTerm(name.Value).SetLocation(wanted.Location), f)
			}
		}
	}
}

// hasElements checks what in, every or an index looks into: a text and a number have no elements.
func (l *valueLint) hasElements(among values.Set, t *ast.Term, by string, e *ast.Expr, f *values.Frame) bool {
	const collections = schema.ArrayKind | schema.SetKind | schema.ObjectKind
	kinds := l.Kinds(among)
	at := e.Location
	if all, ok := among.AllConstants(); ok && l.Where(all[0]) != nil {
		at = l.Where(all[0])
	}
	if at == nil {
		return true
	}
	note := l.notes.at("in", at)
	if kinds&collections != 0 {
		note.fine = true
		return true
	}
	what, hint := shownSide(t, among, f), "write a list or a set"
	if kinds == schema.StringKind {
		hint = fmt.Sprintf("write contains(%s, ...) to look for a part of a text, == to compare with it, or make it a list", what)
	}
	note.wrong(at, fmt.Sprintf("%s is %v, which has no elements: %s never finds anything there", what, kinds, by), hint)
	return false
}

// indexes checks the data into which an index leads that stands behind a reference.
func (l *valueLint) indexes(base values.Set, ref ast.Ref, f *values.Frame) {
	all, ok := base.AllConstants()
	if !ok || slices.ContainsFunc(all, func(c values.Constant) bool { return !c.InData() }) || l.asksKind(ref, f) {
		return
	}
	l.hasElements(base, ast.NewTerm(ref), "an index", &ast.Expr{Location: l.Where(all[0])}, f)
}

// asksKind says that a rule asks of which kind a value is: it may have a case for each.
func (l *valueLint) asksKind(ref ast.Ref, f *values.Frame) bool {
	of := func(t *ast.Term) map[string]bool {
		names := map[string]bool{t.String(): true}
		for _, ref := range l.origins(t, f, map[ast.Var]bool{}) {
			names[ref.String()] = true
		}
		return names
	}
	indexed := of(ast.NewTerm(ref))
	if len(ref) == 1 {
		indexed = of(ref[0])
	}
	found := false
	ast.WalkExprs(f.Rule, func(e *ast.Expr) bool {
		terms, ok := e.Terms.([]*ast.Term)
		if ok && len(terms) > 1 && (strings.HasPrefix(terms[0].String(), "is_") || terms[0].String() == "type_name") {
			for name := range of(terms[1]) {
				found = found || indexed[name]
			}
		}
		return found
	})
	return found
}

// lookup checks the keys of a table that a part of the input is the index of: a
// key that the part never has is never found.
func (l *valueLint) lookup(table values.Set, index *ast.Term, f *values.Frame) {
	if ast.IsScalar(index.Value) {
		return
	}
	if _, ok := l.Values(index, f).AllParts(); !ok {
		return
	}
	l.compared(l.Values(index, f), l.Keys(table).Constants(), comparing{f: f})
}

// namedKeys returns the names by which the policies index something themselves.
func (l *valueLint) namedKeys() map[string]bool {
	if l.indexed == nil {
		l.indexed = map[string]bool{}
		for _, m := range l.HandWritten(l.Parsed) {
			indexed := func(ref ast.Ref) bool {
				for _, t := range ref[1:] {
					if name, ok := t.Value.(ast.String); ok {
						l.indexed[string(name)] = true
					}
				}
				return false
			}
			for _, r := range m.Rules {
				ast.WalkRefs(r.Body, indexed)
				for _, t := range values.HeadTerms(r) {
					if !ast.IsScalar(t.Value) {
						ast.WalkRefs(t, indexed)
					}
				}
			}
			ast.WalkTerms(m, func(t *ast.Term) bool {
				if call, ok := t.Value.(ast.Call); ok && call[0].String() == "object.get" && len(call) == 4 && policydir.IsConstant(call[2]) {
					l.indexed[string(call[2].Value.(ast.String))] = true
				}
				return false
			})
		}
	}
	return l.indexed
}

// compared checks constants that are compared with what a term can be. A constant that is compared with anything
// else too is no mistake. What rules answer is one of several values, and a list of constants may be for several
// rules: a constant of such a list is a mistake only where none of them is ever answered.
func (l *valueLint) compared(with values.Set, constants []values.Constant, in comparing) {
	if len(constants) == 0 {
		return
	}
	parts := with.Parts()
	closed := len(parts) > 0 || slices.ContainsFunc(with.Candidates(), func(c values.Candidate) bool { _, ok := c.(values.Made); return ok })
	some := slices.ContainsFunc(constants, func(c values.Constant) bool { possible, _ := l.can(c, with, in); return possible })
	for _, c := range constants {
		note := l.notes.at("value", l.Where(c))
		possible, judged := l.can(c, with, in)
		switch {
		case c.IsKey() && l.namedKeys()[textOf(c)]: // such as limits.default
		case with.Open() || len(with.Candidates()) == 0:
			if len(with.Constants()) == 0 {
				note.fine = true
			}
		case possible && judged:
			note.fine = true
		case possible || !judged, in.e == nil && !closed: // a function, or a table, may be for other values too
		case len(parts) > 0:
			l.impossible(note, c, parts[0], constants, in.f)
		case some && !closed && !in.writes(c.Term), some && c.IsAnswer():
		default:
			l.never(note, c, with, in)
		}
	}
}

// can says whether a constant can be one of the values of a term, and whether these are known well enough that it is
// a mistake when it cannot.
func (l *valueLint) can(c values.Constant, with values.Set, in comparing) (possible, judged bool) {
	for _, candidate := range with.Candidates() {
		switch of := candidate.(type) {
		case values.InputPart:
			possible, judged = possible || l.possible(c, of), true
		case values.Made:
			possible, judged = possible || values.KindsOf(c.Value)&of.Kinds != 0 && (in.ordering || l.Makes(of, c.Term)), true
		case values.Constant:
			alike := of.Value.Compare(c.Value) == 0 || in.ordering && values.KindsOf(of.Value) == values.KindsOf(c.Value)
			possible, judged = possible || alike, judged || of.IsAnswer()
		default:
			same := values.KindsOf(c.Value)&l.KindsOfOne(candidate) != 0
			possible, judged = possible || same, judged || !same
		}
	}
	return possible, judged
}

// never notes a constant that a rule or a function never answers.
func (l *valueLint) never(note *note, c values.Constant, with values.Set, in comparing) {
	at := l.Where(c)
	what, other := in.x, in.y
	if in.e == nil || in.writesIn(what, c.Term) {
		what, other = other, what
	}
	text := "this value"
	if what != nil {
		text = shownSide(what, with, in.f)
	}
	if kinds := l.Kinds(with); kinds&values.KindsOf(c.Value) == 0 {
		note.wrong(at, fmt.Sprintf("%s is %v, and it is compared with %v", text, kinds, values.KindsOf(c.Value)), compareHint(kinds, c.Term))
		return
	}
	note.wrong(at, fmt.Sprintf("%s is never %v", text, c.Value), l.answersHint(with, c))
}

// writesIn says that a constant stands in a term.
func (c comparing) writesIn(t, constant *ast.Term) bool {
	found := false
	if t != nil {
		ast.WalkTerms(t, func(other *ast.Term) bool {
			found = found || other == constant
			return found
		})
	}
	return found
}

// answersHint says what a term can be.
func (l *valueLint) answersHint(with values.Set, c values.Constant) string {
	for _, candidate := range with.Candidates() {
		if m, ok := candidate.(values.Made); ok && len(with.Candidates()) == 1 {
			if spelled, _ := l.Spelled(m, c.Value); spelled != nil && spelled.Compare(c.Value) != 0 {
				return fmt.Sprintf("write %v: it is what %s makes", spelled, m.Name)
			}
		}
	}
	all, ok := l.Few(with)
	if !ok {
		return "write a value that it can have"
	}
	var names, texts []string
	for _, t := range all {
		if s, isText := t.Value.(ast.String); isText {
			names = append(names, string(s))
		}
		if text := t.String(); !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if hint := policydir.DidYouMean(textOf(c), names); hint != "" {
		return hint
	}
	slices.Sort(texts)
	return "it is one of " + strings.Join(texts[:min(len(texts), 10)], ", ")
}

// possible says that a part of the input can be a constant. Null is compared
// with what may be absent, too.
func (l *valueLint) possible(c values.Constant, p values.InputPart) bool {
	if c.Value.Compare(ast.NullValue) == 0 && !c.InData() {
		return true
	}
	allowed := l.domain(p)
	_, never := neverOneOf(c.Term, allowed)
	return p.At.Kinds()&values.KindsOf(c.Value) != 0 && (!never || !ast.IsScalar(c.Value))
}

// domain returns the values that a part of the input can have, nil when any.
func (l *valueLint) domain(p values.InputPart) []any {
	names, _ := p.Path[:min(2, len(p.Path))].Names()
	if len(names) == 2 && names[0] == "tool" {
		switch {
		case names[1] == "name" && len(p.Path) == 2:
			return listOf(l.Tools)
		case names[1] == "capabilities" && len(p.Path) == 3:
			return listOf(l.Declared.Capabilities)
		}
	}
	return p.At.Values()
}

// listOf returns names as values of JSON.
func listOf(names []string) []any {
	all := make([]any, len(names))
	for i, name := range names {
		all[i] = name
	}
	return all
}

// impossible notes a constant that a part of the input never is. The name of a
// tool that is like none here may be that of another application's, in packages
// and data that several applications share.
func (l *valueLint) impossible(note *note, c values.Constant, p values.InputPart, among []values.Constant, f *values.Frame) {
	at, inData := l.Where(c), c.InData()
	if tool, as := l.Called(textOf(c)); tool != "" && p.IsToolName() {
		note.wrong(at, fmt.Sprintf("%v is never %v, %s of %s", p.Path, c.Value, as, tool), fmt.Sprintf("write %q: policies see the name of the tool", tool))
		return
	}
	if inData && slices.ContainsFunc(among, func(o values.Constant) bool { return l.possible(o, p) }) && similar(textOf(c), unlisted(l.domain(p), among)) == "" {
		note.fine = true // a table of several applications
		return
	}
	if have := values.KindsOf(c.Value); p.At.Kinds()&have == 0 {
		note.wrong(at, fmt.Sprintf("%v is %v, and it is compared with %v", p.Path, p.At.Kinds(), have), compareHint(p.At.Kinds(), c.Term))
		return
	}
	allowed := l.domain(p)
	hint, _ := neverOneOf(c.Term, allowed)
	message := fmt.Sprintf("%v is never %v", p.Path, c.Value)
	switch {
	case similar(textOf(c), unlisted(allowed, among)) != "":
		note.wrong(at, message, hint)
	case p.OfApplication() && (inData || f.Shared()):
		note.unsure(at, codeForeignName, message+" here", hint)
	default:
		note.wrong(at, message, hint)
	}
}

// textOf returns the text of a constant, "" when it is none.
func textOf(c values.Constant) string {
	text, _ := c.Value.(ast.String)
	return string(text)
}

// unlisted returns the allowed texts that are not among some constants.
func unlisted(allowed []any, among []values.Constant) []string {
	var names []string
	for _, v := range allowed {
		if name, ok := v.(string); ok && !values.Contains(among, ast.String(name)) {
			names = append(names, name)
		}
	}
	return names
}

// destructured checks the members that a pattern takes from a part of the input.
func (l *valueLint) destructured(pattern *ast.Term, from values.Set, f *values.Frame) {
	object, ok := pattern.Value.(ast.Object)
	if !ok || len(from.Parts()) == 0 {
		return
	}
	object.Foreach(func(key, value *ast.Term) {
		if !policydir.IsConstant(key) {
			return
		}
		l.members(from, key, f)
		l.destructured(value, l.Step(from, key, f), f)
	})
}
