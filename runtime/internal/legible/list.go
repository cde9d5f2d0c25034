package legible

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Quote writes text as JSON does, on one line, safe to show.
func Quote(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string always has a JSON form
	return Line(strings.TrimSuffix(b.String(), "\n"))
}

// List writes the arguments of a program on one line, each of them quoted, so that it is seen where one
// ends.
func List(arguments []string) string {
	quoted := make([]string, len(arguments))
	for i, a := range arguments {
		quoted[i] = Quote(a)
	}
	return strings.Join(quoted, " ")
}
