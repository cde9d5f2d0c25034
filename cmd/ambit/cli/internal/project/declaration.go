package project

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen"
)

// DeclarationName is the file that verbs look for when they are given a folder.
const DeclarationName = "tools.yaml"

// readLimit bounds what is read of a file before dsl refuses it for its size.
const readLimit = 64 << 20

// A Declaration is a declaration file on disk, and what it says once checked.
type Declaration struct {
	Path string // as the user knows it
	Dir  string
	File *dsl.File
	Out  []gen.OutputFile
}

// Locate turns the path argument of a verb into that of a declaration file.
// Without an argument that is ./tools.yaml, or else the only one a folder below.
func Locate(args []string) (string, error) {
	path := "."
	if len(args) > 0 {
		path = args[0]
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", cmdutil.Problem("there is no "+cmdutil.Quote(path), `name a declaration, or begin with "ambit init DIR"`)
	}
	if err != nil {
		return "", cmdutil.FileProblem(path, err, "name a declaration that you may read")
	}
	if !info.IsDir() {
		return path, nil
	}
	candidate := filepath.Join(path, DeclarationName)
	if _, err := os.Stat(candidate); !errors.Is(err, fs.ErrNotExist) {
		return candidate, nil
	}
	if len(args) > 0 {
		return "", cmdutil.Problem("there is no "+cmdutil.Quote(DeclarationName)+" in "+cmdutil.Quote(path), "name the declaration itself")
	}
	return locateBelow()
}

func locateBelow() (string, error) {
	found, err := filepath.Glob(filepath.Join("*", DeclarationName))
	switch {
	case err != nil || len(found) == 0:
		return "", cmdutil.Problem("there is no "+cmdutil.Quote(DeclarationName)+" here", `name a declaration, or begin with "ambit init DIR"`)
	case len(found) > 1:
		return "", cmdutil.Problem("there is more than one "+cmdutil.Quote(DeclarationName)+": "+strings.Join(found, ", "), "name the one that you mean")
	}
	return found[0], nil
}

// Load parses the declaration at path and generates its files in memory, so
// that a keyword that cannot be generated is reported like any other error.
func Load(path string) (*Declaration, error) {
	file, err := Parse(path)
	if err != nil {
		return nil, err
	}
	return Generate(path, file)
}

// Parse reads the declaration file at path. Options go before those of every command.
func Parse(path string, opts ...dsl.Option) (*dsl.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, cmdutil.FileProblem(path, err, "name a declaration that you may read")
	}
	defer f.Close()
	source, err := io.ReadAll(io.LimitReader(f, readLimit+1))
	if err != nil {
		return nil, cmdutil.FileProblem(path, err, "name a declaration that you may read")
	}
	root, err := os.OpenRoot(filepath.Dir(path)) // which no link leads out of
	if err != nil {
		return nil, cmdutil.FileProblem(filepath.Dir(path), err, "name a declaration in a folder that you may read")
	}
	defer root.Close()
	return dsl.Parse(path, source, append([]dsl.Option{dsl.WithPatterns(gen.PatternFault), dsl.WithFiles(root.FS())}, opts...)...)
}

// Generate generates the files of a declaration that was read from path.
func Generate(path string, file *dsl.File) (*Declaration, error) {
	out, err := gen.Generate(file, gen.Options{Source: filepath.Base(path)})
	if err != nil {
		return nil, err
	}
	d := OnDisk(path, file)
	d.Out = out
	return d, nil
}

// OnDisk is a declaration of which nothing is generated.
func OnDisk(path string, file *dsl.File) *Declaration {
	return &Declaration{Path: path, Dir: filepath.Dir(path), File: file}
}

// PolicyDir is where the hand-written policies of the declaration at path live.
func PolicyDir(path string) string { return filepath.Join(filepath.Dir(path), policyFolder) }
