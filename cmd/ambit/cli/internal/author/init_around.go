package author

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Stores are the patterns of .gitignore for what a program stores and must not
// commit: the keys of a store are all that it takes to write it.
func (*application) Stores() []string {
	return []string{"*.db", "*.db-*", "*.db.*", "*.sqlite", "*.sqlite-*", "*.sqlite.*", "*.keys", "*.key"}
}

// unignored says what to add to a .gitignore that was there before.
func (a *application) unignored() []string {
	if !slices.Contains(a.kept, ".gitignore") {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(a.dir, ".gitignore"))
	if err != nil {
		return nil
	}
	var have []string
	for line := range strings.Lines(string(text)) {
		have = append(have, strings.TrimSpace(line))
	}
	open := slices.DeleteFunc(a.Stores(), func(p string) bool { return slices.Contains(have, p) })
	if len(open) == 0 {
		return nil
	}
	return []string{"add to your .gitignore, for stores and keys: " + strings.Join(open, " ")}
}

// workspaceAround returns the go.work that is in force in dir, which may not be there
// yet; empty if there is none.
func workspaceAround(dir string) string {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	for {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			break
		}
		above := filepath.Dir(dir)
		if above == dir {
			return ""
		}
		dir = above
	}
	if work := goEnv(dir, "GOWORK"); work != "off" {
		return work
	}
	return ""
}
