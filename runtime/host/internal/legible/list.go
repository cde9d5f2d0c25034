package legible

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Quote writes text as JSON does, on one line, safe to show.
func Quote(text string) string { return Line(JSON(text)) }

// JSON writes text as JSON does, on one line, for a page that is made safe as a whole.
func JSON(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string always has a JSON form
	return strings.TrimSuffix(b.String(), "\n")
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
