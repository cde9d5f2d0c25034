// Package yamldoc reads files that hold one YAML document.
package yamldoc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// Decode returns the first document, nil when there is none, and what begins a
// second one, nil when nothing does. Where yaml.v3 panics the error says so.
func Decode(src []byte) (doc, second *yaml.Node, err error) {
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
