package ambit_test

import (
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/ambit-tools/ambit"

// fences says, per package, which modules besides the standard library a build
// of it may link. Packages of our own are named by their path in the module.
// An entry ending in /... covers a package and all below it, one that begins
// with @ what that package may link.
var fences = map[string][]string{
	"cmd/ambit/cli/internal/audit":   {"cmd/ambit/cli/internal/store", "@cmd/ambit/cli/internal/store", "runtime/audit", "@runtime/audit", "runtime/backup", "@runtime/backup", "runtime/archive", "@runtime/archive", "cmd/ambit/cli/internal/operate", "@cmd/ambit/cli/internal/operate", "cmd/ambit/cli/internal/cmdutil"},
	"cmd/ambit/cli/internal/backup":  {"cmd/ambit/cli/internal/store", "@cmd/ambit/cli/internal/store", "runtime/backup", "@runtime/backup", "runtime/archive", "@runtime/archive", "cmd/ambit/cli/internal/cmdutil"},
	"cmd/ambit/cli/internal/author":  {"internal/catalog", "runtime/isolate", "@runtime/isolate", "internal/evolution/...", "internal/importer", "@internal/importer", "github.com/rogpeppe/go-internal", "cmd/ambit/cli/internal/project", "@cmd/ambit/cli/internal/project", "gen/dynamic", "@gen/dynamic", "runtime/opa", "@runtime/opa", "runtime/rules/analyze", "cmd/ambit/cli/internal/cmdutil", "golang.org/x/mod"},
	"cmd/ambit/cli/internal/cmdutil": {"dsl", "@dsl", "runtime/terminal", "@runtime/terminal", "policies", "github.com/spf13/cobra", "github.com/spf13/pflag"},
	"cmd/ambit/cli/internal/doctor":  {"cmd/ambit/cli/internal/cmdutil", "@cmd/ambit/cli/internal/cmdutil", "runtime/isolate", "@runtime/isolate"},
	"cmd/ambit/cli/internal/operate": {"cmd/ambit/cli/internal/project", "@cmd/ambit/cli/internal/project", "gen/dynamic", "@gen/dynamic", "internal/replan", "@internal/replan", "internal/running", "@internal/running", "cmd/ambit/cli/internal/store", "@cmd/ambit/cli/internal/store", "runtime/inbox", "@runtime/inbox", "runtime/content", "@runtime/content", "cmd/ambit/cli/internal/cmdutil"},
	"cmd/ambit/cli/internal/project": {"cmd/ambit/cli/internal/cmdutil", "@cmd/ambit/cli/internal/cmdutil", "gen", "@gen", "golang.org/x/tools"},
	"cmd/ambit/cli/internal/store":   {"cmd/ambit/cli/internal/cmdutil", "@cmd/ambit/cli/internal/cmdutil", "runtime/sqlite", "@runtime/sqlite", "runtime/segment", "@runtime/segment"},
	"cmd/ambit/cli/internal/whatif":  {"cmd/ambit/cli/internal/project", "@cmd/ambit/cli/internal/project", "cmd/ambit/cli/internal/store", "@cmd/ambit/cli/internal/store", "gen/dynamic", "@gen/dynamic", "runtime/opa", "@runtime/opa", "runtime/replay", "@runtime/replay", "runtime/scenario", "@runtime/scenario", "cmd/ambit/cli/internal/cmdutil"},

	"dsl/yamldoc": {"gopkg.in/yaml.v3"},
	"dsl":         {"dsl/yamldoc", "gopkg.in/yaml.v3", "github.com/invopop/jsonschema", "github.com/wk8/go-ordered-map/v2", "github.com/mailru/easyjson", "github.com/bahlo/generic-list-go", "github.com/buger/jsonparser"},

	"gen/internal/ir":              {"dsl", "runtime/wire/...", "runtime/process", "runtime/process/argv", "@dsl"},
	"gen/internal/emit":            {"gen/internal/ir", "dsl", "runtime/wire/...", "runtime/process", "runtime/process/argv", "@dsl", "github.com/dave/jennifer"},
	"gen/internal/fixture":         {"gen/internal/fixture/declare"},
	"gen/internal/fixture/declare": {},
	"gen":                          {"gen/internal/ir", "runtime/models/dialect", "runtime/internal/jsonscan", "gen/internal/emit", "dsl", "runtime/wire/...", "@gen/internal/emit"},
	"gen/dynamic":                  {"gen/internal/ir", "dsl", "runtime", "runtime/process", "@runtime", "@dsl"},
	"gen/dynamic/internal/answer":  {"runtime/engine", "@runtime/engine"},

	"internal/battery":    {},
	"internal/fuzz":       {},
	"internal/buildcache": {},
	"internal/catalog":    {"runtime", "@runtime"},
	"internal/replan":     {"runtime", "@runtime"},
	"internal/running":    {"runtime/process", "@runtime/process"},
	"internal/longrun":    {"runtime/engine", "@runtime/engine", "runtime/sqlite", "@runtime/sqlite", "runtime/audit", "@runtime/audit", "runtime/segment", "@runtime/segment"},
	"internal/warmcall":   {"runtime/engine", "@runtime/engine"},

	"internal/evolution":           {"dsl", "@dsl", "internal/evolution/inclusion"},
	"internal/evolution/inclusion": {"dsl", "@dsl"},

	"internal/importer":           {"internal/importer/...", "dsl", "@dsl", "gen", "@gen"},
	"internal/importer/jsontree":  {},
	"internal/importer/normalize": {"internal/importer/jsontree", "dsl", "@dsl", "runtime/wire/..."},
	"internal/importer/write":     {"internal/importer/jsontree", "dsl/yamldoc", "gopkg.in/yaml.v3"},

	"internal/rego/functions": {"*"},
	"internal/rego/policydir": {"policies", "internal/rego/functions", "internal/rego/schema", "runtime/consent", "@runtime/consent", "*"},
	"internal/rego/regotest":  {"dsl", "@dsl", "gen", "@gen"},
	"internal/rego/schema":    {"runtime/wire/..."},

	"policies":          {},
	"policies/examples": {},
	"policies/lint":     {"policies/lint/internal/values", "@policies/lint/internal/values"},

	"policies/lint/internal/places": {"internal/rego/policydir", "@internal/rego/policydir"},
	"policies/lint/internal/values": {"policies/lint/internal/places", "@policies/lint/internal/places"},

	"runtime/wire":                             {"runtime/wire/internal/..."},
	"runtime/rules":                            {},
	"runtime/rules/analyze":                    {"runtime/rules"},
	"runtime/consent":                          {"runtime/wire/...", "runtime/internal/enum", "runtime/internal/walk"},
	"runtime/journal":                          {"runtime/internal/enum", "runtime/wire/...", "runtime/rules", "runtime/consent", "runtime/internal/walk", "runtime/process"},
	"runtime/operator":                         {},
	"runtime":                                  {"runtime/operator", "runtime/wire/...", "runtime/rules", "runtime/consent", "runtime/journal", "runtime/internal/bind", "runtime/internal/callctx", "runtime/internal/enum", "runtime/internal/errmark", "runtime/internal/facts", "runtime/internal/walk", "runtime/process", "runtime/process/argv"},
	"runtime/action":                           {"runtime", "@runtime", "runtime/internal/usercode", "runtime/internal/wording"},
	"runtime/engine":                           {"runtime", "@runtime", "runtime/action", "runtime/internal/approvals", "runtime/internal/spool", "runtime/internal/commitlog", "runtime/internal/compact", "runtime/internal/deadline", "runtime/internal/history", "runtime/internal/jsonedit", "runtime/internal/lease", "runtime/internal/lifecycle", "runtime/internal/lockorder", "runtime/internal/redact", "runtime/internal/rewrites", "runtime/internal/sched", "runtime/internal/outbox", "runtime/internal/simhooks", "runtime/internal/tally", "runtime/internal/transition", "@runtime/internal/transition", "runtime/internal/tap", "runtime/internal/transaction", "runtime/internal/usercode", "runtime/internal/wording", "runtime/internal/jsonscan", "runtime/internal/artifact", "runtime/internal/evaluations", "runtime/internal/refusal", "runtime/internal/ruleinput", "runtime/internal/overlap", "runtime/internal/process", "runtime/internal/workers", "runtime/internal/entry", "runtime/internal/attempt", "runtime/internal/undo", "runtime/internal/tools", "runtime/internal/session", "runtime/internal/outcomes", "runtime/internal/commands", "runtime/internal/metadata", "runtime/internal/live", "runtime/internal/recovery", "runtime/internal/acts", "runtime/internal/progress", "runtime/internal/decision", "runtime/internal/capacity", "runtime/internal/processes", "runtime/internal/snapshots", "runtime/internal/holdings", "runtime/internal/residence", "runtime/internal/ended", "runtime/internal/recall"},
	"runtime/audit":                            {"runtime/journal", "@runtime/journal", "runtime/internal/merkle", "golang.org/x/mod"},
	"runtime/segment":                          {"runtime/journal", "@runtime/journal", "runtime/internal/disk", "runtime/internal/merkle", "golang.org/x/mod", "github.com/klauspost/compress"},
	"runtime/internal/merkle":                  {"golang.org/x/mod"},
	"runtime/archive":                          {"runtime/sqlite", "@runtime/sqlite", "runtime/audit", "@runtime/audit", "runtime/segment", "@runtime/segment", "runtime/internal/history", "@runtime/internal/history", "runtime/internal/holdings", "@runtime/internal/holdings"},
	"runtime/backup":                           {"runtime/sqlite", "@runtime/sqlite", "runtime/audit", "@runtime/audit", "runtime/content", "@runtime/content", "runtime/internal/oslock"},
	"runtime/content":                          {"runtime/internal/disk"},
	"runtime/feed":                             {"runtime/journal", "@runtime/journal"},
	"runtime/host":                             {"internal/running", "@internal/running", "runtime/archive", "@runtime/archive", "runtime/isolate", "@runtime/isolate", "runtime/process", "runtime/stream", "@runtime/stream", "runtime/metrics", "runtime/ossignals", "runtime/feed", "runtime/webhook", "runtime/engine", "@runtime/engine", "@runtime/opa", "runtime/opa", "runtime/sqlite", "@runtime/sqlite", "runtime/audit", "@runtime/audit", "runtime/inbox", "@runtime/inbox", "runtime/workspace", "@runtime/workspace"},
	"runtime/console":                          {"runtime/host", "@runtime/host", "runtime/view", "runtime/internal/httpguard", "runtime/internal/legible", "internal/catalog", "internal/replan"},
	"runtime/tokens":                           {"runtime/operator", "runtime/internal/oslock", "golang.org/x/sys"},
	"runtime/internal/httpguard":               {"runtime/consent", "@runtime/consent", "runtime/operator"},
	"runtime/stream":                           {"runtime/view", "runtime/internal/httpguard", "runtime/feed", "runtime/engine", "@runtime/engine", "github.com/coder/websocket"},
	"runtime/inbox":                            {"runtime/tokens", "runtime/engine", "@runtime/engine", "runtime/internal/oslock", "golang.org/x/sys", "github.com/fsnotify/fsnotify"},
	"runtime/metrics":                          {"runtime", "@runtime", "runtime/process"},
	"runtime/mutants":                          {},
	"runtime/ossignals":                        {},
	"runtime/opa":                              {"runtime", "@runtime", "runtime/internal/jsonedit", "runtime/internal/rewrites", "policies/lint", "@policies/lint", "runtime/opa/internal/...", "runtime/internal/jsonscan", "runtime/internal/wording"},
	"runtime/replay":                           {"runtime/engine", "@runtime/engine", "runtime/internal/simclock", "runtime/internal/processes", "dsl", "gen/dynamic", "@gen/dynamic", "@dsl"},
	"runtime/process":                          {},
	"runtime/process/argv":                     {},
	"runtime/isolate":                          {"runtime/process", "runtime/isolate/internal/proc", "runtime/isolate/internal/room", "runtime/isolate/internal/scratch", "runtime/isolate/internal/sock", "golang.org/x/sys"},
	"runtime/isolate/internal/proc":            {"runtime/process", "golang.org/x/sys"},
	"runtime/isolate/internal/room":            {"runtime/process", "golang.org/x/sys"},
	"runtime/isolate/internal/scratch":         {},
	"runtime/isolate/internal/sock":            {"golang.org/x/sys"},
	"runtime/isolate/internal/cost":            {"runtime/isolate", "@runtime/isolate"},
	"runtime/isolate/internal/cost/alone":      {"runtime/isolate/internal/cost", "@runtime/isolate/internal/cost"},
	"runtime/isolate/internal/cost/linked":     {"runtime/isolate/internal/cost", "@runtime/isolate/internal/cost", "runtime/host", "@runtime/host"},
	"runtime/isolate/internal/hostclass":       {"golang.org/x/sys"},
	"runtime/runtimetest":                      {"runtime", "@runtime", "runtime/journal", "@runtime/journal", "runtime/process"},
	"runtime/scenario":                         {"runtime/engine", "@runtime/engine", "runtime/internal/simclock", "runtime/internal/processes", "dsl", "gen/dynamic", "@gen/dynamic", "@dsl"},
	"runtime/scripttest":                       {"runtime/engine", "@runtime/engine", "runtime/internal/simclock", "github.com/rogpeppe/go-internal", "golang.org/x/sys", "golang.org/x/tools"},
	"runtime/shadow":                           {"runtime/engine", "@runtime/engine"},
	"runtime/sqlite":                           {"runtime/journal", "@runtime/journal", "runtime/internal/oslock", "runtime/internal/takeover", "runtime/sqlite/internal/...", "@runtime/internal/simdisk"},
	"runtime/sqltx":                            {"runtime", "@runtime"},
	"runtime/state":                            {"runtime", "@runtime"},
	"runtime/terminal":                         {"runtime/internal/legible", "runtime/action", "@runtime/action", "golang.org/x/term", "golang.org/x/sys"},
	"runtime/view":                             {"runtime/engine", "@runtime/engine"},
	"runtime/webhook":                          {"runtime/feed", "@runtime/feed"},
	"runtime/workspace":                        {"runtime", "@runtime", "runtime/content", "@runtime/content", "runtime/internal/takeover", "@runtime/internal/takeover", "github.com/rogpeppe/go-internal"},
	"runtime/opa/internal/plan":                {"@policies/lint"},
	"runtime/internal/approvals":               {"runtime", "@runtime", "runtime/internal/bind", "runtime/action", "@runtime/action", "runtime/internal/deadline", "@runtime/internal/deadline", "runtime/internal/decision", "@runtime/internal/decision", "runtime/internal/outcomes", "@runtime/internal/outcomes", "runtime/internal/lockorder", "runtime/internal/history", "runtime/internal/jsonedit", "runtime/internal/jsonscan", "runtime/internal/tools", "@runtime/internal/tools"},
	"runtime/internal/bind":                    {"runtime/internal/callctx", "runtime/rules", "runtime/wire/...", "runtime/process"},
	"runtime/internal/callctx":                 {"runtime/rules"},
	"runtime/internal/capacity":                {"runtime", "@runtime", "runtime/internal/outcomes", "@runtime/internal/outcomes", "runtime/internal/sched", "@runtime/internal/sched", "runtime/internal/tools", "@runtime/internal/tools"},
	"runtime/internal/commandtest":             {},
	"runtime/internal/commitlog":               {"runtime", "@runtime", "runtime/internal/lockorder", "runtime/internal/sched"},
	"runtime/internal/compact":                 {"runtime/wire/...", "runtime/internal/walk"},
	"runtime/internal/crashtest":               {},
	"runtime/internal/deadline":                {"runtime/internal/sched", "@runtime/internal/sched", "runtime/internal/usercode", "runtime/internal/wording"},
	"runtime/internal/disk":                    {},
	"runtime/internal/enum":                    {},
	"runtime/internal/errmark":                 {},
	"runtime/internal/facts":                   {},
	"runtime/internal/history":                 {"runtime", "@runtime"},
	"runtime/internal/ended":                   {"runtime", "@runtime", "runtime/internal/history"},
	"runtime/internal/recall":                  {"runtime/internal/session", "@runtime/internal/session", "runtime/internal/wording"},
	"runtime/internal/jsonedit":                {"runtime/wire/...", "runtime/internal/jsonscan"},
	"runtime/internal/mutant":                  {"internal/battery"},
	"runtime/internal/oslock":                  {"golang.org/x/sys"},
	"runtime/internal/acts":                    {"runtime/action", "@runtime/action", "runtime/internal/deadline", "@runtime/internal/deadline", "runtime/internal/entry", "@runtime/internal/entry"},
	"runtime/internal/outbox":                  {"runtime", "@runtime", "runtime/action", "@runtime/action", "runtime/internal/lockorder", "runtime/internal/sched", "runtime/internal/usercode"},
	"runtime/internal/commands":                {"runtime/journal", "@runtime/journal", "runtime/internal/commitlog", "@runtime/internal/commitlog", "runtime/internal/entry", "@runtime/internal/entry", "runtime/internal/lockorder", "runtime/internal/sched"},
	"runtime/internal/processes":               {"runtime/internal/tools", "@runtime/internal/tools", "runtime/internal/sched", "@runtime/internal/sched", "runtime/internal/bind", "runtime/internal/errmark", "runtime/internal/entry", "@runtime/internal/entry", "runtime/internal/wording", "runtime/internal/outcomes", "@runtime/internal/outcomes", "runtime/internal/deadline", "@runtime/internal/deadline", "runtime/internal/history", "@runtime/internal/history", "runtime/process", "runtime/internal/spool", "@runtime/internal/spool", "runtime/internal/artifact", "@runtime/internal/artifact", "runtime/internal/redact", "@runtime/internal/redact", "runtime/internal/usercode"},
	"runtime/internal/outcomes":                {"runtime", "@runtime", "runtime/internal/wording"},
	"runtime/internal/decision":                {"runtime", "@runtime", "runtime/internal/redact", "runtime/internal/refusal", "@runtime/internal/refusal", "runtime/internal/rewrites", "runtime/internal/tools", "@runtime/internal/tools", "runtime/internal/wording"},
	"runtime/internal/progress":                {"runtime", "@runtime", "runtime/internal/attempt", "@runtime/internal/attempt", "runtime/internal/deadline", "runtime/internal/evaluations", "@runtime/internal/evaluations", "runtime/internal/lifecycle", "runtime/internal/lockorder", "runtime/internal/sched", "@runtime/internal/sched", "runtime/internal/tally", "@runtime/internal/tally"},
	"runtime/internal/redact":                  {"runtime/journal", "@runtime/journal", "runtime/internal/jsonedit", "runtime/internal/jsonscan", "runtime/internal/wording"},
	"runtime/internal/lease":                   {"runtime", "@runtime", "runtime/internal/lockorder", "runtime/internal/sched"},
	"runtime/internal/spool":                   {"runtime/process", "@runtime/process"},
	"runtime/internal/legible":                 {},
	"runtime/internal/lifecycle":               {},
	"runtime/internal/lockorder":               {},
	"runtime/internal/rewrites":                {"runtime", "@runtime", "runtime/internal/jsonedit", "runtime/internal/jsonscan", "runtime/internal/wording"},
	"runtime/internal/sched":                   {"runtime", "@runtime", "runtime/internal/lockorder"},
	"runtime/internal/simhooks":                {},
	"runtime/internal/simdisk":                 {"golang.org/x/sys", "modernc.org", "github.com/dustin/go-humanize", "github.com/google/uuid", "github.com/mattn/go-isatty", "github.com/ncruces/go-strftime", "github.com/remyoudompheng/bigfft"},
	"runtime/internal/simfs":                   {"runtime/internal/disk"},
	"runtime/internal/transition":              {"runtime", "@runtime", "runtime/action", "@runtime/action", "runtime/internal/tally", "@runtime/internal/tally", "runtime/internal/tools", "@runtime/internal/tools"},
	"runtime/internal/tap":                     {"runtime", "@runtime", "runtime/internal/sched", "@runtime/internal/sched"},
	"runtime/internal/tally":                   {"runtime", "@runtime", "runtime/internal/usercode"},
	"runtime/internal/takeover":                {"runtime/internal/oslock", "@runtime/internal/oslock"},
	"runtime/internal/transaction":             {"runtime/internal/deadline", "@runtime/internal/deadline", "runtime/internal/lease"},
	"runtime/internal/simclock":                {"runtime", "@runtime", "runtime/internal/lockorder"},
	"runtime/internal/usercode":                {},
	"runtime/internal/session":                 {"runtime", "@runtime", "runtime/action", "@runtime/action", "runtime/internal/ended", "runtime/internal/outcomes", "@runtime/internal/outcomes", "runtime/internal/wording", "runtime/internal/history", "runtime/internal/overlap", "runtime/internal/ruleinput", "runtime/internal/sched", "@runtime/internal/sched", "runtime/internal/tools", "@runtime/internal/tools", "runtime/internal/decision", "@runtime/internal/decision"},
	"runtime/internal/holdings":                {"runtime", "@runtime", "runtime/journal", "runtime/internal/history", "runtime/internal/lockorder"},
	"runtime/internal/residence":               {"runtime", "@runtime", "runtime/internal/lockorder", "runtime/internal/sched", "@runtime/internal/sched"},
	"runtime/internal/snapshots":               {"runtime/journal", "runtime/rules", "runtime/internal/holdings", "@runtime/internal/holdings", "runtime/internal/usercode", "runtime/internal/commitlog", "runtime/internal/history", "@runtime/internal/history", "runtime/internal/lockorder", "@runtime/internal/commitlog", "runtime/internal/sched"},
	"runtime/internal/tools":                   {"runtime", "@runtime", "runtime/internal/history", "runtime/internal/entry", "@runtime/internal/entry", "runtime/internal/redact", "runtime/internal/rewrites", "runtime/internal/jsonedit", "runtime/internal/usercode", "runtime/internal/wording"},
	"runtime/internal/walk":                    {"runtime/wire/..."},
	"runtime/internal/wording":                 {"runtime/rules", "runtime/wire/..."},
	"runtime/models":                           {"runtime/models/dialect", "@runtime/models/dialect", "runtime/engine", "@runtime/engine"},
	"runtime/models/internal/samples/declared": {"runtime/models/internal/samples", "internal/importer", "@internal/importer"},
	"runtime/models/internal/samples/imported": {"runtime/models/internal/samples/declared", "@runtime/models/internal/samples/declared"},
	"runtime/models/internal/samples/print":    {"runtime/models/internal/samples/declared", "@runtime/models/internal/samples/declared"},
	"internal/wiretest":                        {"*", "runtime/...", "policies/...", "internal/...", "examples/agent_loop/..."},
	"runtime/models/internal/samples":          {},
	"runtime/models/dialect":                   {"runtime/internal/jsonscan"},
	"runtime/internal/jsonscan":                {},
	"runtime/internal/artifact":                {"runtime", "@runtime", "runtime/internal/compact", "runtime/internal/usercode"},
	"runtime/internal/evaluations":             {"runtime", "@runtime", "runtime/internal/deadline", "@runtime/internal/deadline"},
	"runtime/internal/overlap":                 {},
	"runtime/internal/live":                    {"runtime/internal/redact", "@runtime/internal/redact"},
	"runtime/internal/metadata":                {},
	"runtime/internal/attempt":                 {"runtime", "@runtime", "runtime/internal/live", "@runtime/internal/live", "runtime/internal/lifecycle", "runtime/internal/wording", "runtime/internal/transaction", "@runtime/internal/transaction"},
	"runtime/internal/undo":                    {"runtime", "@runtime", "runtime/action", "@runtime/action", "runtime/internal/attempt", "@runtime/internal/attempt", "runtime/internal/tools", "@runtime/internal/tools"},
	"runtime/internal/recovery":                {"runtime/internal/holdings", "@runtime/internal/holdings", "runtime/internal/artifact", "@runtime/internal/artifact", "runtime/internal/sched", "@runtime/internal/sched", "runtime/internal/undo", "@runtime/internal/undo", "runtime/internal/history", "runtime/internal/outcomes", "@runtime/internal/outcomes"},
	"runtime/internal/entry":                   {"runtime", "@runtime", "runtime/internal/history", "runtime/internal/redact", "@runtime/internal/redact", "runtime/internal/ruleinput", "runtime/internal/wording"},
	"runtime/internal/workers":                 {"runtime", "@runtime", "runtime/internal/lockorder", "runtime/internal/sched"},
	"runtime/internal/process":                 {"runtime/journal", "@runtime/journal"},
	"runtime/internal/refusal":                 {"runtime", "@runtime", "runtime/internal/rewrites", "@runtime/internal/rewrites", "runtime/internal/wording"},
	"runtime/internal/ruleinput":               {"runtime", "@runtime"},

	"runtime/sqlite/internal/chain": {"runtime/journal", "@runtime/journal"},
	"runtime/sqlite/internal/pages": {"runtime/internal/enum", "runtime/sqlite/internal/chain", "@runtime/sqlite/internal/chain", "@runtime/internal/simdisk"},
	"runtime/sqlite/internal/trie":  {},
	"runtime/sqlite/internal/wal":   {},

	"runtime/wire/internal/format":  {},
	"runtime/wire/internal/pattern": {},
}

// unfenced are the packages that may link everything, with the reason. The go command
// keeps the internal packages of other trees from them.
var unfenced = map[string]string{
	"":                "holds tests of the module as a whole",
	"cmd/ambit":       "is the program, in which everything comes together",
	"cmd/ambit/cli":   "is the root of its commands",
	"examples/...":    "are applications, which may use whatever is public",
	"testscripts/...": "runs the program, and applications that the scripts look into",
}

// TestImportFences holds the import rules of docs/architecture.md by what the
// linker would see, so that a transitive import counts too.
func TestImportFences(t *testing.T) {
	packages := linked(t)
	for pkg, allowed := range fences {
		t.Run(pkg, func(t *testing.T) {
			deps, ok := packages[strings.TrimSuffix(module+"/"+pkg, "/")]
			require.True(t, ok, "there is no package %s", pkg)
			allowed := expand(allowed)
			for _, dep := range deps {
				require.Truef(t, permits(allowed, dep), "%s may not depend on %s", pkg, dep)
			}
		})
	}
}

// TestEveryPackageIsFenced: a new package comes with a decision about what it
// may link, and a decision goes with the package that it was about.
func TestEveryPackageIsFenced(t *testing.T) {
	free := map[string]bool{}
	for path := range linked(t) {
		pkg, own := strings.CutPrefix(path+"/", module+"/")
		if !own {
			continue
		}
		pkg = strings.TrimSuffix(pkg, "/")
		_, fenced := fences[pkg]
		exempt := false
		for pattern := range unfenced {
			if covers(pattern, pkg) {
				exempt, free[pattern] = true, true
			}
		}
		require.Truef(t, fenced != exempt, "package %q is in one of fences and unfenced: it is fenced: %t, unfenced: %t", pkg, fenced, exempt)
	}
	for pattern, reason := range unfenced {
		require.Truef(t, free[pattern], "there is no package %q, which %s", pattern, reason)
	}
}

// expand replaces @pkg by what pkg may depend on.
func expand(allowed []string) []string {
	var out []string
	for _, a := range allowed {
		if name, ok := strings.CutPrefix(a, "@"); ok {
			out = append(out, expand(fences[name])...)
			continue
		}
		out = append(out, a)
	}
	return out
}

func permits(allowed []string, dep string) bool {
	own, isOwn := strings.CutPrefix(dep, module+"/")
	for _, a := range allowed {
		switch {
		case a == "*" && !isOwn:
			return true
		case isOwn && covers(a, own):
			return true
		case !isOwn && covers(a+"/...", dep):
			return true
		}
	}
	return false
}

// covers says whether a package is the one that pattern names, or below it when
// pattern ends in /...
func covers(pattern, pkg string) bool {
	name, below := strings.CutSuffix(pattern, "/...")
	return pkg == name || below && strings.HasPrefix(pkg, name+"/")
}

// linked returns, for every package outside the standard library that a build of
// this module links, which of the other such packages it links.
func linked(t *testing.T) map[string][]string {
	t.Helper()
	all, err := listLinked()
	require.NoError(t, err)
	return all
}

var listLinked = sync.OnceValues(func() (map[string][]string, error) {
	cmd := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{range .Deps}} {{.}}{{end}}{{end}}", "./...")
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		if words := strings.Fields(line); len(words) > 0 {
			all[words[0]] = words[1:]
		}
	}
	for pkg, deps := range all {
		var others []string
		for _, dep := range deps {
			if _, ok := all[dep]; ok {
				others = append(others, dep)
			}
		}
		all[pkg] = others
	}
	return all, nil
})
