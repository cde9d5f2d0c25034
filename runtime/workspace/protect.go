package workspace

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode"
)

// gitName is the name of the folder of a repository.
const gitName = ".git"

// DefaultProtected returns what no tool writes unless Open is told otherwise:
// files and folders that make programs of the user run what is in them, or that
// tell an agent what it may do. Git, hooks, shells, editors and agents read them
// without asking.
func DefaultProtected() []string {
	return []string{
		gitName, ".gitmodules", ".gitattributes", ".gitconfig", ".hg", ".svn", ".jj", ".husky",
		".envrc", ".bashrc", ".bash_profile", ".bash_login", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".ssh",
		".vscode", ".vs", ".idea", ".fleet", ".zed", ".devcontainer", ".devcontainer.json", ".exrc", ".nvimrc", ".nvim.lua", ".vimrc", ".dir-locals.el",
		".claude", ".claude.json", ".cursor", ".cursorrules", ".windsurf", ".windsurfrules", ".codex", ".gemini", ".continue",
		".clinerules", ".roo", ".kiro", ".opencode", ".aider.conf.yml", ".mcp.json", ".ambit",
	}
}

// Protect adds paths that no tool writes, to those of DefaultProtected. A name
// without a slash is protected wherever it is, as is all below it; a path with
// slashes begins in the workspace. Names are compared as file systems might take
// them: without case, trailing dots and spaces, NTFS streams and ignorable
// characters, and as short names of NTFS (GIT~1).
//
// The default is wrong when other files of the workspace have such an effect:
// those of its build (Makefile, package.json), of its CI (.github), or instructions
// that agents follow (AGENTS.md), where no person reads a change before it counts.
func Protect(paths ...string) Option {
	return func(o *options) { o.protect = append(o.protect, paths...) }
}

// Unprotect takes paths out of the protection, by the names of
// DefaultProtected. Open fails for one that is not protected.
//
// The default is wrong when a tool exists to write one of them: one that sets up
// .devcontainer, or writes .gitattributes.
func Unprotect(paths ...string) Option {
	return func(o *options) { o.unprotect = append(o.unprotect, paths...) }
}

// A protected path.
type protected struct {
	name     string   // as it was given
	elements []string // folded
}

// A protection is a list of what no tool writes.
type protection []protected

// protection returns what is protected.
func (o *options) protection() (protection, error) {
	names := slices.Concat(DefaultProtected(), o.protect)
	for _, name := range o.unprotect {
		kept := slices.DeleteFunc(slices.Clone(names), func(s string) bool { return s == name })
		if len(kept) == len(names) {
			return nil, fmt.Errorf("Unprotect(%q): it is not protected: use a name of DefaultProtected", name)
		}
		names = kept
	}
	list := make(protection, 0, len(names))
	for _, name := range names {
		p := protected{name: name}
		if !fs.ValidPath(name) || name == "." {
			return nil, fmt.Errorf("Protect(%q): want a path with slashes that begins in the workspace, such as %q", name, ".github/workflows")
		}
		for element := range strings.SplitSeq(name, "/") {
			p.elements = append(p.elements, fold(element))
		}
		list = append(list, p)
	}
	return list, nil
}

// of returns the protected path that elements of a path might be, or be below; nil
// when there is none.
func (list protection) of(elements []string) *protected {
	folded := make([]string, len(elements))
	for i, element := range elements {
		folded[i] = fold(element)
	}
	for i := range list {
		p := &list[i]
		if len(p.elements) == 1 && slices.ContainsFunc(folded, func(e string) bool { return alike(e, p.elements[0]) }) ||
			len(p.elements) <= len(folded) && slices.EqualFunc(folded[:len(p.elements)], p.elements, alike) {
			return p
		}
	}
	return nil
}

// reason says why a protected path is not written.
func (p *protected) reason() string {
	if p.name == gitName {
		return "the repository of the user is not written"
	}
	return fmt.Sprintf("%q is protected: see workspace.Protect", p.name)
}

// isGit says whether a file system might take a name for .git.
func isGit(element string) bool { return alike(fold(element), fold(gitName)) }

// fold returns what file systems might make of a name: NTFS cuts off streams and
// what is behind, Windows trailing dots and spaces, HFS+ ignores characters that
// are not seen, many ignore case.
func fold(element string) string {
	element, _, _ = strings.Cut(element, ":")
	element = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		least := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}
		return least
	}, element)
	return strings.TrimRight(element, ". ")
}

// alike says whether a folded element might be a protected one.
func alike(element, name string) bool { return element == name || isShort(element, name) }

// isShort says whether an element might be the short name that NTFS gives a name:
// six characters of it, or two and a checksum, a tilde, a number, and three
// characters of its ending.
func isShort(element, name string) bool {
	first, number, found := cutLast(element, "~")
	number, ending, _ := strings.Cut(number, ".")
	if !found || number == "" || strings.Trim(number, "0123456789") != "" {
		return false
	}
	base, end, _ := cutLast(strings.TrimLeft(name, "."), ".")
	if ending != end[:min(len(end), 3)] {
		return false
	}
	if len(first) > 2 && len(first)+len(number) >= 7 && strings.HasPrefix(base, first[:2]) && strings.Trim(first[2:], "0123456789ABCDEF") == "" {
		return true
	}
	return first != "" && strings.HasPrefix(base, first) && len(first) >= min(len(base), 7-len(number))
}

// cutLast is strings.Cut at the last separator.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
