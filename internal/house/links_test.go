package house

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/ambit-tools/ambit"

// vocabulary is what runtime links: wire, and what hides from other modules how the engine calls the code of a tool.
var vocabulary = []string{
	"runtime/wire/...", "runtime/internal/bind", "runtime/internal/callctx", "runtime/internal/enum", "runtime/internal/errmark", "runtime/internal/facts",
}

// links says what a build of a package may link besides the standard library, where an application pays for it or
// relies on it. An entry that ends in /... covers a package and all below it.
var links = []struct {
	pkg, why string
	may      []string
}{
	{"runtime", "generated code links it, and it is a vocabulary: what decides, records or runs a call links it", vocabulary},
	{"runtime/wire", "a decoder of hostile texts has no dependencies", []string{"runtime/wire/internal/..."}},
	{"runtime/rules", "a pure state machine needs the names of what it decides, and no more", append([]string{"runtime"}, vocabulary...)},
	{"dsl", "reads declarations, and runs nothing", append([]string{
		"dsl/yamldoc", "internal/jsonschema", "gopkg.in/yaml.v3", "github.com/invopop/jsonschema", "github.com/wk8/go-ordered-map/v2", "github.com/mailru/easyjson/...",
		"github.com/bahlo/generic-list-go", "github.com/buger/jsonparser", "go.yaml.in/yaml/v4", "runtime", "runtime/command/process/...", "runtime/rules/...",
	}, vocabulary...)},
	{"runtime/store/archive", "whoever reads a segment needs no database", []string{
		"runtime", "runtime/store/audit", "runtime/store/internal/merkle", "runtime/wire/...", "runtime/rules", "runtime/consent", "runtime/journal", "runtime/command/process/...", "runtime/internal/...", "internal/location",
		"golang.org/x/mod/...", "github.com/klauspost/compress/...",
	}},
	{"runtime/command/isolate", "the shim of a box is this program, started anew for each command", append([]string{"runtime", "runtime/command/process", "runtime/command/isolate/internal/...", "golang.org/x/sys/..."}, vocabulary...)},
}

// TestLinksOfPackages: they are what their users were promised.
func TestLinksOfPackages(t *testing.T) {
	for _, rule := range links {
		t.Run(rule.pkg, func(t *testing.T) {
			for _, dep := range linked(t, "./"+rule.pkg) {
				own := strings.TrimPrefix(dep, module+"/")
				allowed := own == rule.pkg || slices.ContainsFunc(rule.may, func(pattern string) bool {
					name, below := strings.CutSuffix(pattern, "/...")
					return own == name || below && strings.HasPrefix(own, name+"/")
				})
				require.True(t, allowed, "%s links %s, and %s", rule.pkg, own, rule.why)
			}
		})
	}
}

// linked returns what a build of a package links outside the standard library.
func linked(t *testing.T, pkg string) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", pkg).Output()
	require.NoError(t, err)
	return strings.Fields(string(out))
}
