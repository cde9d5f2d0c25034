package author

import (
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/project"
	"github.com/ambit-tools/ambit/dsl"
)

// An examination is a declaration for "ambit check", which also judges the parts
// without errors of one that has some, so that these hide no further ones.
type examination struct {
	whole    *project.Declaration // nil when there are errors
	warnings []warning
	missed   []string // the checks that could not be made
}

// examine reads the declaration at path, generates it in memory and analyses its rules.
func examine(path string, policies project.PolicyDirs) (examination, error) {
	var part dsl.Part
	file, err := project.Parse(path, dsl.WithPart(func(p dsl.Part) { part = p }))
	if err != nil {
		return examinePart(path, part, policies, err)
	}
	d := project.OnDisk(path, file)
	whole, err := project.Generate(path, file)
	warnings, ruleErr := analyse(d)
	x := examination{whole: whole, warnings: warnings}
	if err != nil {
		x.missed = unheld(policies)
	}
	return x, errors.Join(err, refusePackage(d), ruleErr)
}

// examinePart adds to the errors of a declaration those of what is whole of it.
func examinePart(path string, part dsl.Part, policies project.PolicyDirs, err error) (examination, error) {
	x := examination{missed: unheld(policies)}
	if part.Rules == nil {
		return x, err
	}
	if part.Tools == nil {
		x.missed = append([]string{"the names in Go"}, x.missed...)
	} else if _, nameErr := project.Generate(path, part.Tools); nameErr != nil {
		err = mergeDiagnostics(err, nameErr)
	}
	d := project.OnDisk(path, part.Rules)
	x.warnings = declared(part.Rules)
	// More rules make no tool run that cannot, so that these errors are certain. The
	// warnings are not: a rule may decide nothing only because further rules are missing.
	_, ruleErr := analyse(d)
	return x, errors.Join(err, refusePackage(d), ruleErr)
}

// mergeDiagnostics puts the errors of two stages into the order of their places.
func mergeDiagnostics(a, b error) error {
	first, ok1 := errors.AsType[dsl.Diagnostics](a)
	second, ok2 := errors.AsType[dsl.Diagnostics](b)
	if !ok1 || !ok2 {
		return errors.Join(a, b)
	}
	return slices.Concat(first, second).Err()
}

// unheld says so when there are policies and nothing to hold them against.
func unheld(p project.PolicyDirs) []string {
	info, err := os.Stat(p.HomeDir())
	if err != nil || !info.IsDir() || p.Generated() {
		return nil
	}
	return []string{"the policies"}
}

// missedNote names the checks that wait for the errors to be mended.
func (x examination) missedNote(path string) []finding {
	if len(x.missed) == 0 {
		return nil
	}
	return []finding{{Severity: severityNote, File: path, Line: 1, Column: 1,
		Message: "not checked yet, because of the errors above: " + strings.Join(x.missed, ", ")}}
}
