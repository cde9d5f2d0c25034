package dsl

import (
	"bytes"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// modeline matches the comment by which yaml-language-server learns the schema of a file.
var modeline = regexp.MustCompile(`^#\s+yaml-language-server\s*:.*?\$schema=(\S+)`)

// editorSchemaFile returns the file that the modeline of a declaration names, as a
// clean path with slashes; empty if it names none below the declaration's folder.
// The modeline stands among the comments at the head of the file.
func editorSchemaFile(src []byte) string {
	for line := range bytes.Lines(bytes.TrimPrefix(src, []byte("\ufeff"))) {
		line = bytes.TrimSpace(line)
		if m := modeline.FindSubmatch(line); m != nil {
			return localJSON(string(m[1]))
		}
		if len(line) > 0 && line[0] != '#' && line[0] != '%' && string(line) != "---" {
			break
		}
	}
	return ""
}

// localJSON returns a clean relative path of a JSON file, or nothing if name is a URL
// or leads elsewhere.
func localJSON(name string) string {
	if strings.ContainsAny(name, `:\`) || !filepath.IsLocal(filepath.FromSlash(name)) || path.Ext(name) != ".json" {
		return ""
	}
	return path.Clean(name)
}
