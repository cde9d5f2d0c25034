package lockorder_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/internal/lockorder"
)

// TestOrderIsThatOfThePage compares the order with the section Locks of the package, and wants
// each lock of the section to name only later ones as those that may follow.
func TestOrderIsThatOfThePage(t *testing.T) {
	page, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(page), "// # Locks\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "// # ")
	lines := regexp.MustCompile(`(?m)^//   - (\w+), .*: .*; (?:a leaf|then (.*))\.$`).FindAllStringSubmatch(section, -1)
	assert.Len(t, lines, strings.Count(section, "//   - "), "each line: name, field: what it guards; then locks.")
	place := map[string]int{}
	for i, lock := range lockorder.Order() {
		name := strings.TrimPrefix(fmt.Sprintf("%T", lock), "lockorder.")
		place[name] = i
		if assert.Less(t, i, len(lines), "%s is not on the page", name) {
			assert.Equal(t, name, lines[i][1], "line %d of the page", i+1)
		}
	}
	assert.Len(t, lines, len(place))
	for _, line := range lines {
		for _, then := range strings.FieldsFunc(line[2], func(r rune) bool { return r == ',' || r == ' ' }) {
			if assert.Contains(t, place, then, "after %s", line[1]) {
				assert.Greater(t, place[then], place[line[1]], "%s after %s", then, line[1])
			}
		}
	}
}
