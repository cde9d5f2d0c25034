package house

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/modfile"
	modpath "golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"

	"github.com/ambit-tools/ambit/internal/battery"
)

// published is the version that the modules of this tree require of each other.
const published = "v0.1.0"

// TestModuleOfOpenTelemetry: a program that links runtime/host/otel gets the API of OpenTelemetry, in one version,
// and none of its SDK.
func TestModuleOfOpenTelemetry(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("runtime", "host", "otel", "go.mod"))
	require.NoError(t, err)
	file, err := modfile.Parse("go.mod", text, nil)
	require.NoError(t, err)
	versions := map[string]string{}
	for _, r := range file.Require {
		versions[r.Mod.Path] = r.Mod.Version
	}
	const otel = "go.opentelemetry.io/otel"
	require.Equal(t, map[string]string{
		module: published, otel: "v1.47.0", otel + "/metric": "v1.47.0", otel + "/trace": "v1.47.0", "github.com/cespare/xxhash/v2": "v2.3.0",
	}, versions)
}

// TestModulesBuildFromOutside serves all modules of the tree from a module proxy, and builds each
// nested one in a module that is elsewhere: replace directives do not count there. It compiles the SDKs
// of three providers and three frameworks once more, which takes minutes: a nightly run does it. What
// the cache of modules does not have comes from the proxy of the environment.
func TestModulesBuildFromOutside(t *testing.T) {
	if battery.Count(t, 0, 1) < 10 {
		t.Skip("builds the SDKs of three providers and three frameworks: AMBIT_BATTERY=nightly does")
	}
	proxy := t.TempDir()
	var nested []string
	for _, dir := range moduleFolders(t) {
		path := strings.TrimSuffix(module+"/"+filepath.ToSlash(dir), "/.")
		publish(t, proxy, path, dir)
		if path != module && !strings.Contains(path, "/internal/") { // a program elsewhere cannot import those
			nested = append(nested, path)
		}
	}
	require.NotEmpty(t, nested)
	cache, err := exec.Command("go", "env", "GOMODCACHE", "GOPROXY").Output()
	require.NoError(t, err)
	have := strings.Fields(string(cache))
	env := append(os.Environ(), "GOWORK=off", "GOSUMDB=off", "GOFLAGS=-mod=mod -modcacherw -trimpath", "GOMODCACHE="+t.TempDir(),
		"GOPROXY="+strings.Join([]string{fileURL(proxy), fileURL(filepath.Join(have[0], "cache", "download")), have[1]}, ","))
	for _, path := range nested {
		t.Run(strings.TrimPrefix(path, module+"/"), func(t *testing.T) {
			dir := t.TempDir()
			for _, args := range [][]string{{"mod", "init", "example.com/outside"}, {"get", path + "@" + published}, {"build", "-o", os.DevNull, path}} {
				cmd := exec.Command("go", args...)
				cmd.Dir, cmd.Env = dir, env
				out, err := cmd.CombinedOutput()
				require.NoError(t, err, "go %s\n%s", strings.Join(args, " "), out)
			}
			text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
			require.NoError(t, err)
			require.Contains(t, string(text), path+" "+published)
			require.Contains(t, string(text), module+" "+published)
		})
	}
}

// moduleFolders returns the folders of the modules of the tree.
func moduleFolders(t *testing.T) []string {
	t.Helper()
	var dirs []string
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != ".") {
			return filepath.SkipDir
		}
		if err == nil && d.Name() == "go.mod" {
			dirs = append(dirs, filepath.Dir(path))
		}
		return err
	}))
	return dirs
}

// publish adds a module to a proxy.
func publish(t *testing.T, proxy, path, dir string) {
	t.Helper()
	escaped, err := modpath.EscapePath(path)
	require.NoError(t, err)
	at := filepath.Join(proxy, filepath.FromSlash(escaped), "@v")
	require.NoError(t, os.MkdirAll(at, 0o755))
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	require.NoError(t, err)
	write := func(name string, text []byte) { require.NoError(t, os.WriteFile(filepath.Join(at, name), text, 0o644)) }
	write("list", []byte(published+"\n"))
	write(published+".info", fmt.Appendf(nil, `{"Version":%q}`, published))
	write(published+".mod", mod)
	f, err := os.Create(filepath.Join(at, published+".zip"))
	require.NoError(t, err)
	require.NoError(t, modzip.CreateFromDir(f, modpath.Version{Path: path, Version: published}, dir))
	require.NoError(t, f.Close())
}

// fileURL returns the URL of a folder.
func fileURL(dir string) string {
	dir = filepath.ToSlash(dir)
	if !strings.HasPrefix(dir, "/") {
		dir = "/" + dir
	}
	return "file://" + dir
}
