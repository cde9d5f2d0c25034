package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen"
)

// declarationName is the file that verbs look for when they are given a folder.
const declarationName = "tools.yaml"

// readLimit bounds what is read of a file before dsl refuses it for its size.
const readLimit = 64 << 20

// A declaration is a declaration file on disk, and what it says once checked.
type declaration struct {
	path string // as the user knows it
	dir  string
	file *dsl.File
	out  []gen.OutputFile
}

// locate turns the path argument of a verb into that of a declaration file.
// Without an argument that is ./tools.yaml, or else the only one a folder below.
func locate(args []string) (string, error) {
	path := "."
	if len(args) > 0 {
		path = args[0]
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", problem("there is no "+quote(path), `name a declaration, or begin with "ambit init DIR"`)
	}
	if err != nil {
		return "", fileProblem(path, err, "name a declaration that you may read")
	}
	if !info.IsDir() {
		return path, nil
	}
	candidate := filepath.Join(path, declarationName)
	if _, err := os.Stat(candidate); !errors.Is(err, fs.ErrNotExist) {
		return candidate, nil
	}
	if len(args) > 0 {
		return "", problem("there is no "+quote(declarationName)+" in "+quote(path), "name the declaration itself")
	}
	return locateBelow()
}

func locateBelow() (string, error) {
	found, err := filepath.Glob(filepath.Join("*", declarationName))
	switch {
	case err != nil || len(found) == 0:
		return "", problem("there is no "+quote(declarationName)+" here", `name a declaration, or begin with "ambit init DIR"`)
	case len(found) > 1:
		return "", problem("there is more than one "+quote(declarationName)+": "+strings.Join(found, ", "), "name the one that you mean")
	}
	return found[0], nil
}

// load parses the declaration at path and generates its files in memory, so
// that a keyword that cannot be generated is reported like any other error.
func load(path string) (*declaration, error) {
	file, err := parse(path)
	if err != nil {
		return nil, err
	}
	return generated(path, file)
}

// parse reads the declaration file at path.
func parse(path string, opts ...dsl.Option) (*dsl.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fileProblem(path, err, "name a declaration that you may read")
	}
	defer f.Close()
	source, err := io.ReadAll(io.LimitReader(f, readLimit+1))
	if err != nil {
		return nil, fileProblem(path, err, "name a declaration that you may read")
	}
	return dsl.Parse(path, source, append(opts, dsl.WithPatterns(gen.PatternFault))...)
}

// generated generates the files of a declaration that was read from path.
func generated(path string, file *dsl.File) (*declaration, error) {
	out, err := gen.Generate(file, gen.Options{Source: filepath.Base(path)})
	if err != nil {
		return nil, err
	}
	d := onDisk(path, file)
	d.out = out
	return d, nil
}

// onDisk is a declaration of which nothing is generated.
func onDisk(path string, file *dsl.File) *declaration {
	return &declaration{path: path, dir: filepath.Dir(path), file: file}
}

// policyDir is where the hand-written policies of the declaration at path live.
func policyDir(path string) string { return filepath.Join(filepath.Dir(path), policyFolder) }
