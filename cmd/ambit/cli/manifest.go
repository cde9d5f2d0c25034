package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/dsl"
)

// A manifest is the set of files that the last run of "ambit generate" wrote.
// It is what allows a later run to replace and to remove them: JSON files have
// no room for a header.
type manifest map[string]bool

// manifestName is that of the manifest of the declaration at path:
// tools_ambit.files for tools.yaml.
func manifestName(path string) string {
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base)) + "_ambit.files"
}

func newManifest(path string, names []string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n# The files made from %s, which ambit may replace and remove.\n", generatedHeader, filepath.Base(path))
	for _, name := range names {
		b.WriteString(name + "\n")
	}
	return []byte(b.String())
}

// readManifest reads the manifest called name. A missing one is empty. Lines
// that name nothing that ambit generates are passed over: the marks of a merge
// conflict, or a name that would cost the user a file.
func readManifest(root *os.Root, name string) (manifest, error) {
	m := manifest{}
	content, err := root.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return nil, problem(err.Error(), "")
	}
	m[name] = strings.Contains(string(content), generatedHeader)
	for line := range strings.Lines(string(content)) {
		if line = strings.TrimSpace(line); generatable(line) {
			m[line] = true
		}
	}
	return m, nil
}

// generatable says whether name can be that of a generated file.
func generatable(name string) bool {
	if path.Clean(name) != name || !filepath.IsLocal(filepath.FromSlash(name)) {
		return false
	}
	dir, base := path.Split(name)
	switch dir {
	case "schemas/", "policy/ambit_gen/":
		return base != ""
	case "":
		if strings.HasSuffix(base, "_ambit.go") {
			return true
		}
	}
	return path.Ext(name) == ".json" // that the modeline names, see wrote
}

// wrote says whether the file called name with this content is one of ours. A
// Go file proves it by its header and the editor schema by its title, so that one
// written by hand in its place is kept even where the manifest lists the name.
func (m manifest) wrote(name string, content []byte) bool {
	switch dir := path.Dir(name); {
	case strings.HasSuffix(name, ".go"):
		return hasHeader(content)
	case dir != "schemas" && dir != "policy/ambit_gen" && path.Ext(name) == ".json":
		return dsl.IsEditorSchema(content)
	}
	return m[name]
}

func (m manifest) names() []string {
	var names []string
	for name, ours := range m {
		if ours {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
