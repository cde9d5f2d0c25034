package house

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// TestLinks: the files and the headings that pages link to exist.
func TestLinks(t *testing.T) {
	var pages []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "docs/*/*/*.md", "policies/*.md"} {
		some, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, some)
		pages = append(pages, some...)
	}
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for _, page := range pages {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			target, anchor, _ := strings.Cut(m[1], "#")
			file := page
			if target != "" {
				file = filepath.Join(filepath.Dir(page), filepath.FromSlash(target))
			}
			_, err := os.Stat(file)
			require.NoError(t, err, "%s links to %s", page, m[1])
			if anchor != "" && filepath.Ext(file) == ".md" {
				to, err := os.ReadFile(file)
				require.NoError(t, err)
				require.True(t, anchors(string(to))[anchor], "%s links to %s: no heading of the page has this anchor", page, m[1])
			}
		}
	}
}

// TestPagesAreReachable: the second half of the README is eight links, and a reader who follows links from them comes to
// every page but those of docs/internal/decisions and docs/internal.
func TestPagesAreReachable(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	_, second, ok := strings.Cut(string(readme), "\n## Read on\n")
	require.True(t, ok)
	link := regexp.MustCompile(`\]\(([^)\s#]+\.md)[)#]`)
	require.Len(t, link.FindAllString(second, -1), 8)
	reached := map[string]bool{}
	var follow func(page, text string)
	follow = func(page, text string) {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			to := filepath.Join(filepath.Dir(page), filepath.FromSlash(m[1]))
			if strings.Contains(m[1], "://") || reached[to] {
				continue
			}
			reached[to] = true
			next, err := os.ReadFile(to)
			require.NoError(t, err)
			follow(to, string(next))
		}
	}
	follow("README.md", second)
	for _, pattern := range []string{"docs/*.md", "policies/*.md"} {
		pages, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, page := range pages {
			require.True(t, reached[page], "no page that the README leads to links to %s", page)
		}
	}
	require.True(t, reached["SECURITY.md"])
	require.True(t, reached["CONTRIBUTING.md"])
}

// anchors returns the names that GitHub gives the headings of a page.
func anchors(page string) map[string]bool {
	all, fenced := map[string]bool{}, false
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		title := strings.TrimLeft(line, "#")
		if fenced || title == line || !strings.HasPrefix(title, " ") {
			continue
		}
		name := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(title))
		unique := name
		for n := 1; all[unique]; n++ {
			unique = fmt.Sprintf("%s-%d", name, n)
		}
		all[unique] = true
	}
	return all
}

// TestAnchors are those of GitHub.
func TestAnchors(t *testing.T) {
	const page = "# A title: its `code.go`, 2\n## Same\n## Same\n```\n# no heading\n```\n#nor this\n### snake_case - dash\n"
	require.Equal(t, map[string]bool{"a-title-its-codego-2": true, "same": true, "same-1": true, "snake_case---dash": true}, anchors(page))
}

// TestNamesOfContributing: what CONTRIBUTING.md says of a file in parentheses, as in `file.go` maps it (`name`), is
// declared in that file.
func TestNamesOfContributing(t *testing.T) {
	text, err := os.ReadFile("CONTRIBUTING.md")
	require.NoError(t, err)
	names := 0
	file := ""
	for _, m := range regexp.MustCompile("`([a-z0-9_/]+\\.go)`|\\(`([A-Za-z]\\w*)`[);,]|\n\n").FindAllStringSubmatch(string(text), -1) {
		switch {
		case m[1] != "":
			file = m[1]
		case m[2] == "":
			file = "" // of another paragraph
		case file != "":
			names++
			require.True(t, declares(t, file, m[2]), "CONTRIBUTING.md says that %s has %s", file, m[2])
		}
	}
	require.Greater(t, names, 3)
}

// declares reports whether a file has a declaration or a method of a name.
func declares(t *testing.T, file, name string) bool {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	for _, decl := range parsed.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Name.Name == name {
				return true
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					if spec.Name.Name == name {
						return true
					}
				case *ast.ValueSpec:
					for _, id := range spec.Names {
						if id.Name == name {
							return true
						}
					}
				}
			}
		}
	}
	return false
}

// TestNoRequirementIDs: the pages and the code cite rules of docs/semantics.md, and no list of requirements that is
// not in the repository.
func TestNoRequirementIDs(t *testing.T) {
	id := regexp.MustCompile(`\bREQUIREMENTS\.md\b|\b[Rr]equirements? [A-Z]\d{1,2}\b|\([A-Z]\d{1,2}(?:(?:, | and )[A-Z]\d{1,2})*\)`)
	for _, wrong := range []string{"bounds it (R7, D18)", "see REQUIREMENTS.md", "requirement C3"} {
		require.True(t, id.MatchString(wrong), wrong)
	}
	eachGoFile(t, func(path string, file *ast.File, _ *token.FileSet) {
		for _, group := range file.Comments {
			require.Empty(t, id.FindString(group.Text()), path)
		}
	})
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "docs/*/*/*.md", "policies/*.md"} {
		pages, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, page := range pages {
			text, err := os.ReadFile(page)
			require.NoError(t, err)
			require.Empty(t, id.FindString(string(text)), page)
		}
	}
}
