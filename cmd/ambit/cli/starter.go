package cli

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"text/template"
)

// starter holds the files of a new application as templates. The suffix .tmpl
// keeps the go command from taking them for parts of this module.
//
//go:embed all:starter
var starter embed.FS

// starterPackage is the package of the starter's tools.
const starterPackage = "notetools"

// module is the path of this module.
const module = "github.com/ambit-tools/ambit"

// An application is what "ambit init" writes. Its exported fields are for the templates.
type application struct {
	dir  string
	kept []string // files in dir that stay as they are

	Name     string // of the program; the last element of Module
	Module   string
	Go       string // language version
	Ambit    string // version of this module to require; empty when not known
	Replace  string // checkout that stands in for it, as go.mod spells it
	Requires []string
	sums     []byte
}

// newApplication is the application in dir, which is as the user wrote it, so that
// errors name it so; base is its last element.
func newApplication(dir, base, local string) (*application, error) {
	a := &application{dir: filepath.Clean(dir), Name: programName(base), Go: "1.26.0"}
	a.Module = "example.com/" + a.Name
	if local != "" {
		return a, a.useCheckout(local)
	}
	a.Ambit = published()
	return a, nil
}

// published is the version that this program was installed from, or empty for
// one that was built from a checkout: only what came as a module has a sum.
func published() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Path != module || info.Main.Sum == "" {
		return ""
	}
	return info.Main.Version
}

var (
	notInName = regexp.MustCompile(`[^a-z0-9]+`)
	// reserved names are refused or treated specially in module paths.
	reserved = regexp.MustCompile(`^(con|prn|aux|nul|com\d|lpt\d|vendor|internal|testdata)$`)
)

const maxName = 40

// programName makes a name for program and module of any folder name.
func programName(base string) string {
	name := notInName.ReplaceAllString(strings.ToLower(base), "-")
	name = strings.Trim(name[:min(len(name), maxName)], "-")
	if name == "" {
		return "app"
	}
	if name[0] < 'a' || reserved.MatchString(name) {
		return "app-" + name
	}
	return name
}

// useCheckout makes the application build against a checkout of this module,
// with the versions that the checkout itself was built with: whoever can build
// the one can build the other, network or not.
func (a *application) useCheckout(local string) error {
	dir, err := filepath.Abs(local)
	if err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil || !regexp.MustCompile(`(?m)^module `+regexp.QuoteMeta(module)+`\s*$`).Match(mod) {
		return problem(quote(local)+" is not a checkout of "+module, "--local takes the folder that holds its go.mod")
	}
	if a.sums, err = os.ReadFile(filepath.Join(dir, "go.sum")); err != nil {
		return problem(err.Error(), "")
	}
	a.Ambit, a.Replace = "v0.0.0", modString(dir)
	a.Requires = requirements(string(mod))
	return nil
}

var requirement = regexp.MustCompile(`(?m)^(?:require)?\s+([^\s()]+ v[^\s]+)`)

// scripts is the module that the starter's test imports itself.
const scripts = "github.com/rogpeppe/go-internal"

// requirements lists what a go.mod requires, as "path version", in order.
func requirements(mod string) []string {
	var out []string
	for _, m := range requirement.FindAllStringSubmatch(mod, -1) {
		out = append(out, m[1])
	}
	slices.Sort(out)
	return out
}

// Direct lists the required modules that the application imports itself.
func (a *application) Direct() []string { return slices.DeleteFunc(slices.Clone(a.Requires), indirect) }

// Indirect lists the others.
func (a *application) Indirect() []string {
	return slices.DeleteFunc(slices.Clone(a.Requires), func(r string) bool { return !indirect(r) })
}

func indirect(requirement string) bool { return !strings.HasPrefix(requirement, scripts+" ") }

var plainPath = regexp.MustCompile(`^[A-Za-z0-9/._-]+$`)

// modString spells a path for go.mod.
func modString(path string) string {
	if plainPath.MatchString(path) {
		return path
	}
	return strconv.Quote(path)
}

// render writes the starter's files below stage.
func (a *application) render(stage string) error {
	err := fs.WalkDir(starter, "starter", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := starter.ReadFile(path)
		if err != nil {
			return err
		}
		t, err := template.New(path).Option("missingkey=error").Parse(string(text))
		if err != nil {
			return err
		}
		name := filepath.FromSlash(strings.TrimSuffix(strings.TrimPrefix(path, "starter/"), ".tmpl"))
		return writeRendered(filepath.Join(stage, name), t, a)
	})
	if err != nil || len(a.sums) == 0 {
		return err
	}
	return os.WriteFile(filepath.Join(stage, "go.sum"), a.sums, 0o644)
}

func writeRendered(path string, t *template.Template, a *application) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := t.Execute(f, a); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// nextSteps says how to go on in the new folder.
func (a *application) nextSteps(dir string) []string {
	enter := ""
	if filepath.Clean(dir) != "." {
		enter = "cd " + shellWord(dir) + " && "
	}
	const run = "go run . && go test ./..."
	switch {
	case a.Replace != "":
		return []string{enter + run}
	case a.Ambit == "":
		return []string{
			"it does not build yet: this build of ambit has no published version that go.mod could require",
			fmt.Sprintf("with a checkout of ambit: delete %s and run \"ambit init --local CHECKOUT %[1]s\"", shellWord(dir)),
			fmt.Sprintf("or keep it: %sgo mod edit -require=%s@v0.0.0 -replace=%[2]s=CHECKOUT && go mod tidy", enter, module),
		}
	}
	return []string{enter + "go mod tidy", run}
}

// shellWord spells a path for a shell, and so that no command takes it for a flag.
func shellWord(s string) string {
	if strings.HasPrefix(s, "-") {
		s = "./" + s
	}
	if plainPath.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
