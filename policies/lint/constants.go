package lint

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/functions"
	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/policies/lint/internal/values"
)

// A probe says how a built-in function is tried with some constant arguments: which
// terms replace the arguments that are not constant. These terms are valid together
// with every valid value of the constant ones.
type probe struct {
	with []string // a term for each argument; "" when it must be constant
	hint string
}

const (
	hintZone    = `write a name of the IANA database, such as "Europe/Berlin" or "UTC"`
	hintCIDR    = `write an address with the length of its prefix, such as "10.0.0.0/8"`
	hintGlob    = "write a pattern of glob.match, and delimiters of one character each"
	hintRegex   = "write a pattern of RE2, which has no look-around and no back-references, best in backquotes"
	hintTime    = `write such as "10m", "36h" or "1h30m"`
	hintNumber  = "write a number"
	hintURL     = `write such as "https://example.com/"`
	hintPath    = `write such as "docs" or "/srv/docs"`
	hintWhole   = "no decision gets past this call: it fails whatever the input is"
	anyTime     = `[0, "UTC", "2006"]`
	anyMoment   = `[0, "UTC"]`
	anyPattern  = `"a"`
	anyText     = `"a"`
	anyNumber   = "1"
	anyVersion  = `"1.0.0"`
	anyNetwork  = `"0.0.0.0/0"`
	anyAddress  = `"127.0.0.1"`
	anyDivident = "1"
)

// probes are the built-in functions that fail for some of their arguments.
var probes = map[string]probe{
	"time.clock":                       {[]string{anyMoment}, hintZone},
	"time.date":                        {[]string{anyMoment}, hintZone},
	"time.weekday":                     {[]string{anyMoment}, hintZone},
	"time.format":                      {[]string{anyTime}, hintZone},
	"time.diff":                        {[]string{anyMoment, anyMoment}, hintZone},
	"time.add_date":                    {[]string{"0", "0", "0", "0"}, hintWhole},
	"time.parse_duration_ns":           {[]string{""}, hintTime},
	"time.parse_rfc3339_ns":            {[]string{""}, `write such as "2024-01-31T09:00:00Z"`},
	"time.parse_ns":                    {[]string{"", ""}, "write a time as the layout says"},
	"net.cidr_contains":                {[]string{anyNetwork, anyAddress}, hintCIDR},
	"net.cidr_intersects":              {[]string{anyNetwork, anyNetwork}, hintCIDR},
	"net.cidr_contains_matches":        {[]string{anyNetwork, anyAddress}, hintCIDR},
	"net.cidr_merge":                   {[]string{""}, hintCIDR},
	"glob.match":                       {[]string{anyPattern, "[]", anyText}, hintGlob},
	"regex.match":                      {[]string{anyPattern, anyText}, hintRegex},
	"regex.split":                      {[]string{anyPattern, anyText}, hintRegex},
	"regex.find_n":                     {[]string{anyPattern, anyText, anyNumber}, hintRegex},
	"regex.find_all_string_submatch_n": {[]string{anyPattern, anyText, anyNumber}, hintRegex},
	"regex.replace":                    {[]string{anyText, anyPattern, anyText}, hintRegex},
	"regex.template_match":             {[]string{anyPattern, anyText, `"{"`, `"}"`}, hintRegex},
	"semver.compare":                   {[]string{anyVersion, anyVersion}, `write such as "1.2.3"`},
	"units.parse":                      {[]string{""}, `write such as "10K" or "1.5Gi"`},
	"units.parse_bytes":                {[]string{""}, `write such as "10KB" or "1.5GiB"`},
	"to_number":                        {[]string{""}, hintNumber},
	"json.unmarshal":                   {[]string{""}, "write JSON"},
	"base64.decode":                    {[]string{""}, "write base64"},
	"base64url.decode":                 {[]string{""}, "write base64url"},
	"hex.decode":                       {[]string{""}, "write hexadecimal digits"},
	"urlquery.decode":                  {[]string{""}, "write a text that is encoded for a query"},
	"urlquery.decode_object":           {[]string{""}, "write a query"},
	"uri.parse":                        {[]string{""}, "write a URI"},
	"ambit.path.clean":                 {[]string{""}, hintPath},
	"ambit.path.base":                  {[]string{""}, hintPath},
	"ambit.path.ext":                   {[]string{""}, hintPath},
	"ambit.path.below":                 {[]string{anyText, anyText}, hintPath},
	"ambit.url.scheme":                 {[]string{""}, hintURL},
	"ambit.url.host":                   {[]string{""}, hintURL},
	"ambit.url.port":                   {[]string{""}, hintURL},
	"ambit.url.path":                   {[]string{""}, hintURL},
	"format_int":                       {[]string{"0", "10"}, "the base is 2, 8, 10 or 16"},
	"substring":                        {[]string{anyText, "0", "0"}, "the offset is not negative"},
	"numbers.range_step":               {[]string{"0", "0", "1"}, "the step is positive"},
	"div":                              {[]string{anyDivident, anyNumber}, "divide by something else than 0"},
	"rem":                              {[]string{anyDivident, anyNumber}, "divide by an integer other than 0"},
}

// constantArgs tries a built-in function with what is constant of its arguments:
// where it fails, every decision that gets there does.
func (l *valueLint) constantArgs(name string, terms []*ast.Term, e *ast.Expr, f *values.Frame) {
	p, ok := probes[name]
	if !ok || len(terms) <= len(p.with) {
		return
	}
	stand := make([]*ast.Term, len(p.with))
	sets := make([]values.Set, len(p.with))
	missing := false
	for i, text := range p.with {
		sets[i] = l.Values(terms[i+1], f)
		if text != "" {
			stand[i] = ast.MustParseTerm(text)
			continue
		}
		all, ok := sets[i].AllConstants()
		if missing = missing || !ok || len(all) > values.MaxAlternatives; ok {
			stand[i] = all[0].Term
		}
	}
	if missing {
		return
	}
	for i, set := range sets {
		for _, c := range l.filled(set, stand[i]) {
			args := slices.Clone(stand)
			args[i] = c.Term
			l.try(name, args, c, e, p.hint)
		}
	}
}

// filled returns the constants of a set, and its lists of which one element is
// constant, with the remaining elements taken from the list stand.
func (l *valueLint) filled(s values.Set, stand *ast.Term) []values.Constant {
	all := s.Constants()
	if len(all) > values.MaxAlternatives {
		all = all[:values.MaxAlternatives]
	}
	pattern, ok := stand.Value.(*ast.Array)
	for _, written := range s.Literals() {
		if !ok {
			break
		}
		list, isArray := written.Term.Value.(*ast.Array)
		if !isArray || list.Len() > pattern.Len() {
			continue
		}
		for i := range list.Len() {
			for _, element := range l.Values(list.Elem(i), written.Frame).Constants() {
				terms := make([]*ast.Term, list.Len())
				for j := range terms {
					terms[j] = pattern.Elem(j)
				}
				terms[i] = element.Term
				all = append(all, values.ConstantAt(ast.ArrayTerm(terms...), l.Where(element)))
			}
		}
	}
	return all
}

// try notes a constant with which a function fails.
func (l *valueLint) try(name string, args []*ast.Term, c values.Constant, e *ast.Expr, hint string) {
	_, err := l.Analysis.Call(name, args)
	if _, large := errors.AsType[functions.TooLargeError](err); err == nil || large { // with other operands it may be small
		return
	}
	at := l.Where(c)
	if at == nil || strings.HasPrefix(at.File, policydir.LibraryName) {
		at = e.Location
	}
	l.notes.at("constant "+name, at).wrong(at, fmt.Sprintf("%s: %s", name, reasonOf(name, err)), hint)
}

// reasonOf returns what a built-in function says of its failure.
func reasonOf(name string, err error) string {
	text := err.Error()
	for _, prefix := range []string{"eval_builtin_error: ", "eval_type_error: ", name + ": "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}
