package isolate_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestThreats: the threats of docs/isolation.md name the attacks that this package makes. Each attack
// has a row and each row an attack, or a test where what attacks is not a program in a box.
func TestThreats(t *testing.T) {
	known := map[string]int{}
	for _, list := range [][]attack{attacks(), attacksOnMemory, attacksOnCPU, attacksByNumber, attacksOnLimits} {
		for _, a := range list {
			require.NotContains(t, known, a.name, "two attacks of one name")
			if !control(a.name) {
				known[a.name] = 0
			}
		}
	}
	require.GreaterOrEqual(t, len(known), 35)
	tests := testsOfThisPackage(t)
	page, err := os.ReadFile("../../../docs/isolation.md")
	require.NoError(t, err)
	_, table, _ := strings.Cut(string(page), "<!-- threats -->\n")
	table, _, _ = strings.Cut(table, "<!-- /threats -->")
	rows := strings.Split(strings.TrimSpace(table), "\n")[2:]
	for _, row := range rows {
		cells := strings.Split(strings.Trim(row, "| "), " | ")
		require.Len(t, cells, 3, row)
		names := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[2], -1)
		assert.NotEmpty(t, names, "no attack tests: %s", cells[0])
		for _, name := range names {
			if _, is := known[name[1]]; is {
				known[name[1]]++
			} else {
				assert.True(t, slices.Contains(tests, name[1]), "there is no attack and no test %q, which the page names for: %s", name[1], cells[0])
			}
		}
	}
	for name, in := range known {
		assert.Equal(t, 1, in, "rows of the attack %q", name)
	}
	for _, name := range []string{"memfd_create", "read /etc/shadow"} {
		assert.Contains(t, known, name)
	}
	t.Logf("%d attacks, %d threats", len(known), len(rows))
}

// testsOfThisPackage returns the names of the tests of this folder.
func testsOfThisPackage(t *testing.T) (names []string) {
	t.Helper()
	files, err := os.ReadDir(".")
	require.NoError(t, err)
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		text, err := os.ReadFile(f.Name())
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(t `).FindAllStringSubmatch(string(text), -1) {
			names = append(names, m[1])
		}
	}
	return names
}
