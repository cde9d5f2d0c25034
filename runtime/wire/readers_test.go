package wire_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Why a file may read JSON by encoding/json, which takes a member twice and in other cases.
const (
	own        = "what this program wrote: an entry, a record, a file that it authenticates"
	shown      = "it shows a value, or compares it, and decides nothing by it"
	readStrict = "the text was read strictly before, or the reader refuses what readers disagree on itself"
	model      = "schemas for models, which nobody answers with"
	child      = "the other end of a pipe is this program"
)

// lax lists the files that read JSON by encoding/json, and why they may. Whatever comes from outside, an answer, a
// command, a token, a key, a file that somebody could write, is read by Unmarshal: socket (stream), letters (inbox), tokens,
// keys (sqlite), manifests (backup), resume points (audit), lines of an export (replay), heartbeats (running), what a
// person types (operate).
// A webhook's answer is a status: its body is not read. A console's answer is a form, and the arguments in it are
// decoded as those of a call.
var lax = map[string]string{
	"cmd/ambit/cli/internal/operate/approvals.go":     shown,
	"cmd/ambit/cli/internal/store/outcome.go":         own,
	"cmd/ambit/cli/internal/whatif/explain_report.go": own,
	"dsl/editor.go":                             shown,
	"gen/dynamic/internal/answer/answer.go":     child,
	"gen/dynamic/internal/answer/undone.go":     child,
	"internal/catalog/bounds.go":                shown,
	"internal/catalog/members.go":               shown,
	"internal/jsonschema/parse.go":              readStrict,
	"internal/rego/policydir/datafile.go":       readStrict,
	"internal/rego/policydir/declared.go":       readStrict,
	"internal/replan/replan.go":                 own,
	"runtime/host/console/table.go":             shown,
	"runtime/engine/undo_overlap.go":            shown,
	"runtime/internal/approvals/unmask.go":      readStrict,
	"runtime/internal/history/call.go":          own,
	"runtime/internal/history/outcome.go":       own,
	"runtime/internal/jsonedit/pointer.go":      readStrict,
	"runtime/internal/redact/schema.go":         own,
	"runtime/command/isolate/init_darwin.go":    child,
	"runtime/command/isolate/init_linux.go":     child,
	"runtime/command/isolate/run_unix.go":       child,
	"runtime/command/isolate/selftest_linux.go": child,
	"runtime/command/isolate/stage_linux.go":    child,
	"runtime/journal/private.go":                own,
	"runtime/journal/record.go":                 own,
	"runtime/journal/request.go":                own,
	"runtime/journal/seek.go":                   own,
	"runtime/models/definitions.go":             model,
	"runtime/models/dialect/reader.go":          model,
	"runtime/models/dialect/restore.go":         model,
	"runtime/opa/stale.go":                      own,
	"runtime/simulate/replay/outputs.go":        own,
	"runtime/simulate/replay/recording.go":      own,
	"runtime/simulate/replay/restart.go":        own,
	"runtime/simulate/scenario/trace.go":        own,
	"runtime/store/archive/file_format.go":      readStrict,
	"runtime/store/archive/file_read.go":        own,
	"runtime/store/internal/chain/segment.go":   own,
	"runtime/state/part.go":                     own,
	"runtime/host/stream/event.go":              own,
	"runtime/host/terminal/arguments.go":        shown,
	"runtime/host/terminal/predicate_prompt.go": shown,
	"runtime/workspace/drift.go":                own,
	"runtime/workspace/log.go":                  own,
}

// TestReadersAreStrict: no file but those of the list reads JSON by encoding/json, and the list has no other; a query is read by httpguard.Query, and
// a form by httpguard.Once. Programs that only tests run are not looked at.
//
// SEMANTICS 7.1.6
func TestReadersAreStrict(t *testing.T) {
	root := "../.."
	found := map[string]bool{}
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		if d.IsDir() && path != root {
			_, nested := os.Stat(filepath.Join(path, "go.mod"))
			if nested == nil || strings.HasPrefix(d.Name(), ".") || slices.Contains([]string{"testdata", "examples", "house", "longrun", "samples", "testscripts", "wiretest"}, d.Name()) {
				return filepath.SkipDir
			}
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "json" && (s.Sel.Name == "Unmarshal" || s.Sel.Name == "NewDecoder") {
					found[filepath.ToSlash(name)] = true
				}
				query := s.Sel.Name == "FormValue" || s.Sel.Name == "PostFormValue"
				if of, ok := s.X.(*ast.SelectorExpr); ok && s.Sel.Name == "Query" {
					query = of.Sel.Name == "URL"
				}
				assert.False(t, query, "%s takes the first of a parameter that comes twice, by %s: httpguard.Query and httpguard.Once refuse it", name, s.Sel.Name)
			}
			return true
		})
		return nil
	}))
	for name := range found {
		assert.NotEmpty(t, lax[name], "%s reads JSON by encoding/json: what comes from outside is read by wire.Unmarshal, and what does not is listed here with its reason", name)
	}
	for name := range lax {
		assert.True(t, found[name], "%s reads no JSON by encoding/json any more: take it off the list", name)
	}
}
