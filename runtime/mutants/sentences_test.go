package mutants

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/internal/mutant"
)

// TestRulesAreInOrder: a rule can be found by its number, and no two have one.
func TestRulesAreInOrder(t *testing.T) {
	var last []int
	for _, r := range readPage(t).rules {
		var now []int
		for part := range strings.SplitSeq(r.number, ".") {
			n, err := strconv.Atoi(part)
			require.NoError(t, err)
			now = append(now, n)
		}
		require.Positive(t, slices.Compare(now, last), "rule %s does not come after %v", r.number, last)
		last = now
	}
}

// TestEveryRuleHasItsTests: what the specification says is held by tests that there are.
func TestEveryRuleHasItsTests(t *testing.T) {
	known := readCatalog(t)
	for _, r := range readPage(t).rules {
		if r.held == planned {
			assert.Empty(t, r.tests, "rule %s is planned, and has tests", r.number)
			continue
		}
		assert.NotEmpty(t, r.tests, "rule %s names no test", r.number)
		for _, name := range r.tests {
			assert.NotEmpty(t, known[name], "rule %s names %q, which is no test, scenario or script", r.number, name)
		}
	}
}

// TestEveryRuleHasItsMutant: each patch breaks one rule, quotes it and is in the reach
// of one of its tests; a rule without a patch says why.
func TestEveryRuleHasItsMutant(t *testing.T) {
	rules, broken := map[string]*rule{}, map[string]*rule{}
	all := readPage(t).rules
	for _, r := range all {
		rules[r.number] = r
		if r.key != "" {
			require.Nil(t, broken[r.key], "%s is the mutant of two rules, %s is one", r.key, r.number)
			broken[r.key] = r
		}
	}
	known, used := readCatalog(t), map[string]bool{}
	for _, p := range patches(t) {
		r := broken[keyOf(p)]
		if assert.NotNil(t, r, "%s breaks no rule of docs/semantics.md: name its key %q there", p.Name, keyOf(p)) {
			used[r.key] = true
			assert.Equal(t, r.number+": "+r.text, p.Breaks, p.Name)
			assert.True(t, r.notices(known, p), "no test of rule %s is in %v, where %s must be noticed", r.number, p.Tests, p.Name)
		}
	}
	for _, r := range all {
		switch {
		case r.key != "":
			assert.True(t, used[r.key], "rule %s: no patch has the key %q", r.number, r.key)
		case r.as != "":
			assert.True(t, rules[r.as] != nil && rules[r.as].key != "", "rule %s: rule %s has no mutant", r.number, r.as)
		default:
			assert.True(t, r.held == planned || noMutant.MatchString(r.held), "rule %s: %q is no reason for having no mutant", r.number, r.held)
		}
	}
}

// notices reports whether a test of r is in a package whose tests must notice p.
func (r *rule) notices(known catalog, p *mutant.Patch) bool {
	return slices.ContainsFunc(r.tests, func(name string) bool { return slices.Contains(p.Tests, known[name]) })
}
