package location

import (
	"net/url"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPaths(t *testing.T) {
	for text, want := range map[string]string{
		"docs/a.md":                "docs/a.md",
		"docs//./a.md":             "docs/a.md",
		"docs/sub/../a.md":         "docs/a.md",
		"docs/..":                  ".",
		"docs/":                    "docs",
		".":                        ".",
		"/":                        "/",
		"//srv//docs/":             "/srv/docs",
		"/srv/../etc":              "/etc",
		"docs/..a/b../.c":          "docs/..a/b../.c",
		"docs/100%.md":             "docs/100%.md",
		"docs/a%20b":               "docs/a%20b",
		"docs/a b;c?d#e":           "docs/a b;c?d#e",
		"docs/bücher/\u0915\u200D": "docs/bücher/\u0915\u200D",
	} {
		p, err := ParsePath(text)
		if assert.NoError(t, err, text) {
			assert.Equal(t, want, p.String(), text)
			assert.Equal(t, path.Base(want), p.Base(), text)
		}
	}
}

// hostilePaths lead elsewhere for some reader, so they lead nowhere.
var hostilePaths = map[string]string{
	"":                             "empty",
	"..":                           "leads above",
	"docs/../../etc/passwd":        "leads above",
	"/..":                          "leads above",
	`docs\..\a`:                    "read as a slash",
	`docs/..\a`:                    "read as a slash",
	"docs/a\x00.md":                "control character",
	"docs/a\n":                     "control character",
	"docs/\xff":                    "not UTF-8",
	"docs/%2e%2e/a":                `read as "." or ".."`,
	"docs/%2E./a":                  `read as "." or ".."`,
	"docs/%252e%252e/a":            `read as "." or ".."`,
	"docs/%25252e%25252e/a":        `read as "." or ".."`,
	"docs/%u002e%u002e/a":          `read as "." or ".."`,
	"docs/%2f../a":                 "read as a slash",
	"docs/..%2fa":                  "read as a slash",
	"docs/..%5ca":                  "read as a slash",
	"docs/..%c0%afa":               "not UTF-8",
	"docs/%c0%ae%c0%ae/a":          "not UTF-8",
	"docs/a%00.md":                 "control character",
	"docs/a%0ab":                   "control character",
	"docs/.. /a":                   `read as "." or ".."`,
	"docs/.../a":                   `read as "." or ".."`,
	"docs/..;x=1/a":                `read as "." or ".."`,
	"docs/..%20/a":                 `read as "." or ".."`,
	"docs/\uFF0E\uFF0E/a":          `read as "." or ".."`,
	"docs/\u2025/a":                `read as "." or ".."`,
	"docs/.\u200C./a":              `read as "." or ".."`,
	"docs/..\u00A0/a":              `read as "." or ".."`,
	"docs/..\uFF0Fa":               "read as a slash",
	"docs/..\u2215a":               "read as a slash",
	"docs/\uFF052e\uFF052e/a":      `read as "." or ".."`,
	"docs/" + dots(5):              `read as "." or ".."`,
	"docs/" + dots(20):             "not UTF-8",
	"docs/%EF%BC%8E%EF%BC%8E/a":    `read as "." or ".."`,
	"docs/%E2%80%AE..%E2%80%AC/a":  `read as "." or ".."`,
	"docs/\uFF0E%2e/../../etc":     `read as "." or ".."`,
	"docs/..%u2215..%u2215etc/a":   "read as a slash",
	"docs/..%ef%bc%8f..%ef%bc%8fe": "read as a slash",
}

// dots returns "..", percent-encoded a number of times.
func dots(times int) string {
	return strings.Repeat("%"+strings.Repeat("25", times-1)+"2e", 2)
}

// SEMANTICS 7.5.11
func TestPathsThatLeadElsewhere(t *testing.T) {
	for text, want := range hostilePaths {
		_, err := ParsePath(text)
		assert.ErrorContains(t, err, want, "%q", text)
		_, err = ParsePlain(text)
		assert.Error(t, err, "%q", text)
	}
	for text, want := range map[string]string{
		"docs/./a":         "is empty",
		"docs//a":          "is empty",
		"docs/sub/../a":    "is empty",
		"docs//":           "is empty",
		"//docs":           "is empty",
		"./docs":           "is empty",
		"https://docs/a":   "is empty",
		"docs/sub/..":      "is empty",
		"/":                "names no file",
		".":                "names no file",
		"docs/../docs/../": "names no file",
	} {
		_, err := ParsePlain(text)
		assert.ErrorContains(t, err, want, text)
	}
}

func TestBelow(t *testing.T) {
	for _, test := range []struct {
		path, folder string
		want         bool
	}{
		{"docs/a", "docs", true},
		{"docs/a/", "docs/", true},
		{"docs/sub/a", "docs", true},
		{"docs", "docs", false},
		{"docs/", "docs", false},
		{"docs-secret/a", "docs", false},
		{"Docs/a", "docs", false},
		{"src/docs/a", "docs", false},
		{"docs/../src/a", "docs", false},
		{"src/../docs/a", "docs", true},
		{"/docs/a", "docs", false},
		{"docs/a", "/docs", false},
		{"/srv/docs/a", "/srv/docs", true},
		{"a", ".", true},
		{"/a", "/", true},
		{"/", "/", false},
	} {
		p, err := ParsePath(test.path)
		require.NoError(t, err)
		folder, err := ParsePath(test.folder)
		require.NoError(t, err)
		assert.Equal(t, test.want, p.Below(folder), "%s below %s", test.path, test.folder)
	}
}

func TestDotted(t *testing.T) {
	for text, want := range hostilePaths {
		if want != "empty" && text != `docs/a` && strings.ContainsAny(text, ".") && !strings.Contains(want, "control") {
			assert.True(t, Dotted(text), "%q", text)
		}
	}
	for _, text := range []string{"..", ".", "a/..", "../a", `a\..`, "a/.?x", "a/..#x", "..\x00", "a/..\n", "%2e", dots(3), "docs.example.com/%2e%2e/x"} {
		assert.True(t, Dotted(text), "%q", text)
	}
	for _, text := range []string{"", "a", "a.b", "Well... fine.", "docs/.hidden", "docs/..a", "docs/a..", "1.5", "a?b=1.2", "100%", "%zz.", "a…"} {
		assert.False(t, Dotted(text), "%q", text)
	}
}

func TestHasScheme(t *testing.T) {
	for _, text := range []string{"https://", "https://docs", `https:\\docs`, "https:%2F%2Fdocs", "https%3A//docs", "https:\uFF0F/docs", "https%253a%252f%252fdocs", "a https://b"} {
		assert.True(t, HasScheme(text), text)
	}
	for _, text := range []string{"", "https", "https:", "docs.example.com/", "a:/b", "//docs"} {
		assert.False(t, HasScheme(text), text)
	}
}

// FuzzPath holds that a plain path below a folder ends inside of it, however often its reader decodes it and whether it takes a
// backslash for a slash.
func FuzzPath(f *testing.F) {
	for text := range hostilePaths {
		f.Add(text)
	}
	for _, text := range []string{"docs/a", "docs/sub/", "docs/a%20b", "docs/%2561"} {
		f.Add(text)
	}
	folder, err := ParsePlain("docs")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePlain(text)
		if err != nil || !p.Below(folder) {
			return
		}
		for range 12 {
			at := path.Join("/srv", strings.ReplaceAll(text, `\`, "/"))
			require.True(t, strings.HasPrefix(at, "/srv/docs/"), "%q is at %q", text, at)
			next, err := url.PathUnescape(text)
			if err != nil || next == text {
				return
			}
			text = next
		}
	})
}

// SEMANTICS 5.3.13
func TestLikeURL(t *testing.T) {
	for _, text := range []string{
		"https://a.example", "see https://a.example", "//a.example", `\\a.example`, `/\a.example`, `\/a.example`, "https:/a.example", `https:\a.example`,
		"https:a.example", "HTTPS:", "file:", "wss:", "git+ssh:/a.example", "https%3a//a.example", "%2f%2fa.example", "https%253A/a.example", " //a.example", "\n//a.example", "/\t/a.example",
		"ht\ntps:a.example", "\uFF0F\uFF0Fa.example", "https:\u2215a.example", "\u200B//a.example", "\xff",
	} {
		assert.True(t, LikeURL(text), "%q", text)
	}
	for _, text := range []string{"", "h", "https", "/", "/a//b", "docs/a", `docs\a`, "Re: hello", "Re:", "mailto:ada@a.example", "urn:a:b", "C:/docs", `C:\docs`, "a https:b", "12:/30", "httpsx:a"} {
		assert.False(t, LikeURL(text), "%q", text)
	}
}
