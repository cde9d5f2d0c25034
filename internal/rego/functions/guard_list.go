package functions

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// Guards are the functions whose memory is not bounded by a small multiple of
// their operands, each with what bounds it, and those that would ask the host.
var Guards = map[string]guard{
	"concat":                           {before: guardConcat},
	"replace":                          {before: guardReplace},
	"strings.replace_n":                {before: guardReplaceN},
	"sprintf":                          {before: guardSprintf},
	"regex.match":                      {before: guardPattern(0)},
	"regex.split":                      {before: guardPattern(0)},
	"regex.find_n":                     {before: guardPattern(0)},
	"regex.find_all_string_submatch_n": {before: guardSubmatches},
	"regex.replace":                    {before: guardRegexReplace},
	"regex.template_match":             {before: guardPattern(0)},
	"regex.is_valid":                   {before: guardPattern(0)},
	"glob.match":                       {before: guardGlob},
	"numbers.range":                    {before: GuardRange},
	"numbers.range_step":               {before: GuardRange},
	"to_number":                        {before: guardNumberText},
	"units.parse":                      {before: guardNumberText},
	"units.parse_bytes":                {before: guardNumberText},
	"json.unmarshal":                   {after: guardDocument},
	"json.patch":                       {before: guardPatch},
	"product":                          {before: guardProduct},
	"net.cidr_contains_matches":        {before: guardPairs},
	"graph.reachable":                  {instead: reachableNodes},
	"walk":                             {before: guardWalk},
	"time.add_date":                    {invalid: guardZone},
	"time.clock":                       {invalid: guardZone},
	"time.date":                        {invalid: guardZone},
	"time.diff":                        {invalid: guardZone},
	"time.format":                      {invalid: guardZone},
	"time.weekday":                     {invalid: guardZone},
	"time.parse_ns":                    {instead: parseTime},
}

// MaxRange is how many numbers a call of numbers.range may return.
const MaxRange = 10_000

// GuardRange refuses ranges of more than maxRange numbers. After the operands OPA
// passes what the result is for, a variable, which is no step.
func GuardRange(args []*ast.Term) error {
	var bounds [3]*big.Int
	bounds[2] = big.NewInt(1)
	for i, t := range args[:min(3, len(args))] {
		n, ok := t.Value.(ast.Number)
		if !ok {
			if i == 2 {
				break
			}
			return nil // a type error, of the function itself
		}
		if bounds[i], ok = new(big.Int).SetString(string(n), 10); !ok {
			return fmt.Errorf("the bound %s is not written as an integer", n)
		}
	}
	if bounds[2].Sign() <= 0 {
		return nil
	}
	size := new(big.Int).Sub(bounds[1], bounds[0])
	size.Quo(size.Abs(size), bounds[2])
	if size.Cmp(big.NewInt(MaxRange)) >= 0 {
		return fmt.Errorf("a range of more than %d numbers", MaxRange)
	}
	return nil
}

// maxExponent is the largest decimal exponent of a number in the arguments of a call.
const maxExponent = 308

// errExponent is the error of a number beyond maxExponent.
var errExponent = fmt.Errorf("a number with an exponent beyond %d", maxExponent)

// guardNumberText refuses a text with an exponent beyond maxExponent. The text may
// end with a unit.
func guardNumberText(args []*ast.Term) error {
	if s, ok := args[0].Value.(ast.String); ok && !exponentFits(string(s)) {
		return errExponent
	}
	return nil
}

// exponentFits says that no exponent in a text is beyond maxExponent.
func exponentFits(s string) bool {
	for {
		at := strings.IndexAny(s, "eE")
		if at < 0 {
			return true
		}
		s = strings.TrimLeft(s[at+1:], "+-")
		digits := strings.TrimLeft(s[:len(s)-len(strings.TrimLeft(s, "0123456789"))], "0")
		if len(digits) > 3 || len(digits) == 3 && digits > fmt.Sprint(maxExponent) {
			return false
		}
	}
}

// maxNesting is how deep a document may be nested that json.unmarshal returns.
const maxNesting = 128

// guardDocument refuses a document that the arguments of a call could not hold.
func guardDocument(t *ast.Term) error {
	var visit func(t *ast.Term, depth int) error
	visit = func(t *ast.Term, depth int) (err error) {
		each := func(t *ast.Term) {
			if err == nil {
				err = visit(t, depth+1)
			}
		}
		switch v := t.Value.(type) {
		case ast.Number:
			if !exponentFits(string(v)) {
				return errExponent
			}
		case *ast.Array:
			v.Foreach(each)
		case ast.Object:
			v.Foreach(func(_, value *ast.Term) { each(value) })
		}
		if depth > maxNesting {
			return fmt.Errorf("a document that is nested deeper than %d", maxNesting)
		}
		return err
	}
	return visit(t, 0)
}

// guardPatch refuses patches whose copies multiply the document. A copy of the
// whole document into itself doubles it.
func guardPatch(args []*ast.Term) error {
	patches, ok := args[1].Value.(*ast.Array)
	if !ok {
		return nil
	}
	size := nodes(args[0])
	for i := range patches.Len() {
		op, ok := patches.Elem(i).Value.(ast.Object)
		if !ok {
			continue
		}
		size += nodes(patches.Elem(i))
		if kind := op.Get(ast.StringTerm("op")); kind != nil && strings.HasPrefix(kind.String(), `"copy`) {
			size *= 2
		}
		if err := atMost(size * termSize); err != nil {
			return err
		}
	}
	return nil
}

// nodes counts the values of a term.
func nodes(t *ast.Term) int {
	n := 0
	ast.WalkTerms(t, func(*ast.Term) bool { n++; return false })
	return n
}

// maxDigits is how many digits the product of a list may have.
const maxDigits = 10_000

// guardProduct refuses a product of more than maxDigits digits.
func guardProduct(args []*ast.Term) error {
	list, ok := args[0].Value.(interface{ Foreach(func(*ast.Term)) })
	if !ok {
		return nil
	}
	digits := 0
	list.Foreach(func(t *ast.Term) {
		if n, ok := t.Value.(ast.Number); ok {
			digits += len(n)
			if strings.ContainsAny(string(n), "eE") {
				digits += maxExponent
			}
		}
	})
	if digits > maxDigits {
		return fmt.Errorf("a product of more than %d digits", maxDigits)
	}
	return nil
}

// guardPairs refuses to compare lists of which every pair could match.
func guardPairs(args []*ast.Term) error {
	size := 4 * termSize
	for _, t := range args[:2] {
		if list, ok := t.Value.(interface{ Len() int }); ok {
			size *= list.Len()
		}
		if err := atMost(size); err != nil {
			return errors.New("the lists have too many pairs: compare one address at a time")
		}
	}
	return nil
}

// guardWalk refuses to walk over a document that is large and deeply nested: each of
// its values has its path, of as many elements as the value is deep. What a policy
// does not ask for, walk(x, [_, value]), OPA does not make.
func guardWalk(args []*ast.Term) error {
	if len(args) == 2 {
		if pair, ok := args[1].Value.(*ast.Array); ok && pair.Len() == 2 {
			if path, ok := pair.Elem(0).Value.(ast.Var); ok && path.IsWildcard() {
				return nil
			}
		}
	}
	return atMost(pathsOf(args[0], 1) * termSize / 2)
}

// pathsOf counts the elements of the paths to the values of a term that is so deep.
func pathsOf(t *ast.Term, depth int) (n int) {
	each := func(t *ast.Term) { n += depth + pathsOf(t, depth+1) }
	switch v := t.Value.(type) {
	case *ast.Array:
		v.Foreach(each)
	case ast.Set:
		v.Foreach(each)
	case ast.Object:
		v.Foreach(func(_, value *ast.Term) { each(value) })
	}
	return n
}

// reachableNodes is graph.reachable with each node visited once: OPA's puts a node
// into its queue once for each way that leads there, which is exponential.
func reachableNodes(bctx topdown.BuiltinContext, args []*ast.Term, iter func(*ast.Term) error) error {
	graph, ok := args[0].Value.(ast.Object)
	if !ok {
		return topdown.GetBuiltin("graph.reachable")(bctx, args, iter)
	}
	queued, reached := ast.NewSet(), ast.NewSet()
	var queue []*ast.Term
	enqueue := func(t *ast.Term) {
		if !queued.Contains(t) {
			queued.Add(t)
			queue = append(queue, t)
		}
	}
	if !forEachVertex(args[1], enqueue) {
		return topdown.GetBuiltin("graph.reachable")(bctx, args, iter)
	}
	for len(queue) > 0 {
		node := queue[0]
		queue = queue[1:]
		if edges := graph.Get(node); edges != nil {
			reached.Add(node)
			forEachVertex(edges, enqueue)
		}
	}
	return iter(ast.NewTerm(reached))
}

// forEachVertex visits the elements of a list or a set; it is false for other terms.
func forEachVertex(t *ast.Term, f func(*ast.Term)) bool {
	switch v := t.Value.(type) {
	case *ast.Array:
		v.Foreach(f)
	case ast.Set:
		v.Foreach(f)
	default:
		return false
	}
	return true
}
