package author

import (
	"embed"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
)

// starter holds the files of a new application as templates. The suffix .tmpl
// keeps the go command from taking them for parts of this module.
//
//go:embed all:starter starter_agent
var starter embed.FS

// agentTemplate is the program with a model.
const agentTemplate = "starter_agent/main.go.tmpl"

// starterPackage is the folder of the starter's tools, and their package by default.
const starterPackage = "notetools"

// module is the path of this module.
const module = "github.com/ambit-tools/ambit"

// An application is what "ambit init" writes. Its exported fields are for the templates.
type application struct {
	dir       string
	kept      []string // files in dir that stay as they are
	workspace string   // the go.work in force, which has to name the application; empty: none

	Name     string // of the program, as the go command derives it from Module
	Module   string
	Package  string // of the tools, and their folder
	Go       string // language version
	Ambit    string // version of this module to require; empty when not known
	Replace  string // checkout that stands in for it, as go.mod spells it
	Requires []string
	Model    *provider // whose model it asks; nil: none
	checkout string    // the folder of Replace
	sums     []byte
}

// newApplication is the application in dir, which is as the user wrote it, so that
// errors name it so; base is its last element.
func newApplication(dir, base string, f *initFlags) (*application, error) {
	a := &application{dir: filepath.Clean(dir), Name: programName(base), Go: "1.26.0", Module: f.module, Package: f.pkg}
	if f.local != "" {
		if err := a.useCheckout(f.local); err != nil {
			return nil, err
		}
	} else if a.Ambit = published(); a.Ambit == "" {
		return nil, cmdutil.Problem("this build of ambit has no published version that go.mod could require, so that the application would not build",
			"name a checkout of ambit: ambit init --local CHECKOUT "+shellWord(dir))
	}
	if f.model != "" {
		if err := a.useModel(f.model); err != nil {
			return nil, err
		}
	}
	if f.module == "" {
		if a.inTheWay(a.Name) != "" {
			a.Name = "app-" + a.Name
		}
		a.Module = "example.com/" + a.Name
	} else {
		if err := a.refuseModule(); err != nil {
			return nil, err
		}
		a.Name = executableName(a.Module)
	}
	a.workspace = workspaceAround(a.dir)
	return a, a.refusePackage()
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
// with the versions that the checkout itself was built with: a machine that can
// build the checkout can build the application, network or not.
func (a *application) useCheckout(local string) error {
	dir, err := filepath.Abs(local)
	if err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil || !regexp.MustCompile(`(?m)^module `+regexp.QuoteMeta(module)+`\s*$`).Match(mod) {
		return cmdutil.Problem(cmdutil.Quote(local)+" is not a checkout of "+module, "--local takes the folder that holds its go.mod")
	}
	if a.sums, err = os.ReadFile(filepath.Join(dir, "go.sum")); err != nil {
		return cmdutil.Problem(err.Error(), "")
	}
	a.Ambit, a.Replace, a.checkout = "v0.0.0", modString(dir), dir
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
func (a *application) Direct() []string {
	return slices.DeleteFunc(slices.Clone(a.Requires), a.indirect)
}

// Indirect lists the remaining required modules.
func (a *application) Indirect() []string {
	return slices.DeleteFunc(slices.Clone(a.Requires), func(r string) bool { return !a.indirect(r) })
}

func (a *application) indirect(requirement string) bool {
	path, _, _ := strings.Cut(requirement, " ")
	return path != scripts && (a.Model == nil || path != a.Model.sdk)
}

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
		name := strings.TrimSuffix(strings.TrimPrefix(path, "starter/"), ".tmpl")
		if below, ok := strings.CutPrefix(name, starterPackage+"/"); ok {
			name = a.Package + "/" + below
		}
		return writeRendered(filepath.Join(stage, filepath.FromSlash(name)), path, a)
	})
	if err == nil && a.Model != nil {
		err = writeRendered(filepath.Join(stage, agentFolder, "main.go"), agentTemplate, a)
	}
	if err != nil || len(a.sums) == 0 {
		return err
	}
	return os.WriteFile(filepath.Join(stage, "go.sum"), a.sums, 0o644)
}

func writeRendered(to, starterPath string, a *application) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	if err := executeStarter(f, starterPath, a); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// executeStarter writes one file of the starter.
func executeStarter(w io.Writer, starterPath string, a *application) error {
	text, err := starter.ReadFile(starterPath)
	if err != nil {
		return err
	}
	t, err := template.New(starterPath).Option("missingkey=error").Parse(string(text))
	if err != nil {
		return err
	}
	return t.Execute(w, a)
}

// nextSteps says how to go on in the new folder.
func (a *application) nextSteps(dir string) []string {
	enter := ""
	if filepath.Clean(dir) != "." {
		enter = "cd " + shellWord(dir) + " && "
	}
	run := "go run . && go test ./..."
	if a.Model != nil {
		run += " && " + a.Model.Key + "=KEY go run -tags model ./" + agentFolder + " Note that we need bread."
	}
	var steps []string
	if a.workspace != "" {
		steps = append(steps, enter+"go work use . # its workspace is "+shellWord(a.workspace))
		enter = ""
	}
	if a.Replace == "" {
		steps = append(steps, enter+"go mod tidy")
		enter = ""
	}
	return append(steps, enter+run)
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
