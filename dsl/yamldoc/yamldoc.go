// Package yamldoc reads files that hold one YAML document.
package yamldoc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// Decode returns the first document, nil when there is none, and what begins a
// second one, nil when nothing does. Where yaml.v3 panics the error says so.
//
// The text is YAML 1.2, and yaml.v3 reads 1.1: Decode passes over the number of the version, and tells yaml.v3 the
// indentation of a block text that begins with a tab. Lines and columns stay what they are.
func Decode(src []byte) (doc, second *yaml.Node, err error) {
	src = version.ReplaceAll(src, []byte("${1}1.1"))
	for range maxTabs {
		doc, second, err = decode(src)
		told := src
		if err != nil {
			told = tellIndent(src, err)
		}
		if told == nil || err == nil {
			return doc, second, err
		}
		src = told
	}
	return doc, second, err
}

// version is a directive with the version, before which only comments and other directives stand.
var version = regexp.MustCompile(`\A((?:(?:[ \t]*#[^\n]*|%[A-Z]+ [^\n]*|[ \t\r]*)\n)*?%YAML[ \t]+)1\.[0-9]`)

// maxTabs is how many block texts of a file may begin with a tab.
const maxTabs = 100

var (
	atTab  = regexp.MustCompile(`^( +)\t`)
	header = regexp.MustCompile(`^( *)((?:- +)*)([^ ].*[: ] *|)([|>])([+-]?)([ \t]*(?: #.*)?\r?)$`)
)

// tellIndent returns the text with the indentation of the block text that begins with a tab where the error is; nil where
// the error is another.
func tellIndent(src []byte, err error) []byte {
	at, what := Fault(err)
	if !strings.HasPrefix(what, "found a tab character where an indentation space is expected") {
		return nil
	}
	lines := strings.Split(string(src), "\n")
	for i := max(at-1, 1); i < len(lines); i++ {
		m := atTab.FindStringSubmatch(lines[i])
		if m == nil {
			continue
		}
		above := i - 1
		for above > 0 && strings.TrimSpace(lines[above]) == "" {
			above--
		}
		h := header.FindStringSubmatch(lines[above])
		if h == nil {
			return nil
		}
		around := len(h[1]) + len(h[2]) // where the key stands
		if h[3] == "" && h[2] != "" {
			around = len(strings.TrimRight(h[1]+h[2], " ")) - 1 // the last dash
		}
		if n := len(m[1]) - around; n >= 1 && n <= 9 {
			lines[above] = h[1] + h[2] + h[3] + h[4] + strconv.Itoa(n) + h[5] + h[6]
			return []byte(strings.Join(lines, "\n"))
		}
		return nil
	}
	return nil
}

// decode is Decode for what yaml.v3 reads.
func decode(src []byte) (doc, second *yaml.Node, err error) {
	defer func() {
		if p := recover(); p != nil {
			doc, second, err = nil, nil, fmt.Errorf("yaml: %v", p)
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(src))
	if doc, err = next(dec); doc == nil || err != nil {
		return nil, nil, err
	}
	if second, err = next(dec); err != nil {
		return nil, nil, err
	}
	return doc, second, nil
}

// next returns the next document, nil at the end.
func next(dec *yaml.Decoder) (*yaml.Node, error) {
	doc := new(yaml.Node)
	switch err := dec.Decode(doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return doc, nil
}

// offByOne are the errors of which yaml.v3 counts the lines from 0.
var offByOne = regexp.MustCompile(`^(did not find expected (<|node content|key|'-'|',')|found undefined tag)`)

var located = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?(.*)`)

// FaultIn is Fault for the text that the error is of: it names the line of a key or an entry that is indented otherwise than
// those beside it, where yaml.v3 names the line in which their mapping or list begins.
func FaultIn(src []byte, err error) (line int, what string) {
	line, what = Fault(err)
	if what != "did not find expected key" && what != "did not find expected '-' indicator" {
		return line, what
	}
	ends := []int{} // of lines
	for i, c := range src {
		if c == '\n' {
			ends = append(ends, i+1)
		}
	}
	ends = append(ends, len(src))
	first := sort.Search(len(ends), func(n int) bool { // what stands before the fault has none of the kind
		_, _, err := Decode(src[:ends[n]])
		if err == nil {
			return false
		}
		_, found := Fault(err)
		return found == what
	})
	if first == len(ends) {
		return line, what
	}
	return first + 1, what
}

// Fault returns what an error of Decode says, in one line, and of which line of
// the file, from 1; 0 when it does not say.
func Fault(err error) (line int, what string) {
	m := located.FindStringSubmatch(strings.ReplaceAll(err.Error(), "\n", " "))
	line, _ = strconv.Atoi(m[1])
	if m[1] != "" && offByOne.MatchString(m[2]) {
		line++
	}
	return line, m[2]
}
