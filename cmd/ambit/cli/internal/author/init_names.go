package author

import (
	"bytes"
	"go/scanner"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	modpath "golang.org/x/mod/module"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/dsl"
)

// goReserves are first elements of module paths that the go command reads otherwise.
var goReserves = regexp.MustCompile(`^(main|all|std|cmd|work|tool|mod|C|unsafe)$`)

// refuseModule refuses a module path under which the application could not be built.
func (a *application) refuseModule() error {
	const hint = "name one of your own, such as github.com/you/notes"
	bad := func(why string) error { return cmdutil.Usage("--module "+cmdutil.Quote(a.Module)+" "+why, hint) }
	if err := modpath.CheckImportPath(a.Module); err != nil {
		return bad("is no path of a Go module: " + strings.TrimPrefix(err.Error(), "malformed import path "+cmdutil.Quote(a.Module)+": "))
	}
	if _, _, ok := modpath.SplitPathVersion(a.Module); !ok {
		return bad("is no path of a Go module: its last element is no major version that Go knows")
	}
	first, _, _ := strings.Cut(a.Module, "/")
	switch {
	case goReserves.MatchString(first):
		return bad("begins with a name that Go reserves")
	case strings.Contains("/"+a.Module+"/", "/vendor/"):
		return bad("has an element that Go reserves: vendor")
	case inStandardLibrary(a.Module), inStandardLibrary(a.Module + "/" + a.Package):
		return bad("is a package of the standard library")
	}
	for _, taken := range append([]string{module}, a.Requires...) {
		taken, _, _ = strings.Cut(taken, " ")
		if strings.HasPrefix(a.Module+"/", taken+"/") {
			return bad("is taken by " + taken + ", which the application requires")
		}
	}
	if name := executableName(a.Module); a.inTheWay(name) != "" {
		return cmdutil.Usage("go build would write the program of --module "+cmdutil.Quote(a.Module)+" to "+cmdutil.Quote(name)+", which is "+a.inTheWay(name),
			"name the module or the package of the tools otherwise")
	}
	return nil
}

// inTheWay says what of the application stands where a program of a name would be written, and be left out by
// .gitignore; empty if nothing does. File systems may take upper case for lower case.
func (a *application) inTheWay(name string) string {
	folders := map[string]string{a.Package: "the package of the tools", "testdata": "the folder of its scripts", "var": "the folder of its store"}
	if a.Model != nil {
		folders[agentFolder] = "the folder of the program with the model"
	}
	for folder, what := range folders {
		if strings.EqualFold(folder, name) || strings.EqualFold(folder, name+".exe") {
			return what
		}
	}
	files, _ := starter.ReadDir("starter") // it is embedded
	for _, file := range files {
		if own := strings.TrimSuffix(file.Name(), ".tmpl"); strings.EqualFold(own, name) || strings.EqualFold("go.sum", name) {
			return "a file of the application"
		}
	}
	return ""
}

// inStandardLibrary reports whether there is a folder for an import path in the
// standard library of the go command that is at hand.
func inStandardLibrary(importPath string) bool {
	root := goEnv(".", "GOROOT")
	if root == "" {
		return false
	}
	_, err := os.Stat(filepath.Join(root, "src", filepath.FromSlash(importPath)))
	return err == nil
}

// goEnv returns a variable of the go command as it stands in dir; empty if it has
// none, or there is no go command.
func goEnv(dir, name string) string {
	cmd := exec.Command("go", "env", name)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN=local")
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

// executableName is how the go command calls the program of a module.
func executableName(modulePath string) string {
	name := path.Base(modulePath)
	if above := path.Base(path.Dir(modulePath)); majorVersion.MatchString(name) && above != "." {
		return above
	}
	return name
}

var packageName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

// special reports whether Go gives a package or a folder of this name a meaning: no program imports main.
func special(pkg string) bool {
	return pkg == "main" || dsl.PackageFault(pkg) != "" || reserved.MatchString(strings.ToLower(pkg))
}

// refusePackage refuses a package name with which the application could not be built,
// or its tests would not be found.
func (a *application) refusePackage() error {
	bad := func(why, hint string) error {
		return cmdutil.Usage("--package "+cmdutil.Quote(a.Package)+" "+why, hint)
	}
	const hint = "name it after the tools, in lower-case letters, such as mailtools"
	switch {
	case !packageName.MatchString(a.Package) || !token.IsIdentifier(a.Package):
		return bad("is no name of a Go package that can be a folder", hint)
	case len(a.Package) > maxName:
		return bad("is too long", hint)
	case dsl.PackageFault(a.Package) != "":
		return bad(dsl.PackageFault(a.Package), hint)
	case special(a.Package):
		return bad("means something else to Go", hint)
	}
	files := []string{"starter/main.go.tmpl", "starter/main_test.go.tmpl"}
	if a.Model != nil {
		files = append(files, agentTemplate)
	}
	for _, file := range files {
		if taken, err := a.uses(file); err != nil {
			return err
		} else if taken {
			return bad("is the name of something else in "+strings.TrimSuffix(path.Base(file), ".tmpl"), hint)
		}
	}
	return nil
}

// uses reports whether a Go file of the starter has an identifier that is the package
// of the tools, but for the package itself.
func (a *application) uses(starterPath string) (bool, error) {
	other := *a
	other.Package = "ambit_placeholder"
	var text bytes.Buffer
	if err := executeStarter(&text, starterPath, &other); err != nil {
		return false, err
	}
	var s scanner.Scanner
	files := token.NewFileSet()
	s.Init(files.AddFile(starterPath, -1, text.Len()), text.Bytes(), nil, 0)
	for {
		switch _, tok, word := s.Scan(); {
		case tok == token.EOF:
			return false, nil
		case tok == token.IDENT && word == a.Package:
			return true, nil
		}
	}
}
