package console

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ambit-tools/ambit/internal/catalog"
	"github.com/ambit-tools/ambit/runtime/consent"
)

func fact(name, value string) catalog.Fact { return catalog.Fact{Name: name, Value: value} }

// short is how a digest begins.
func short(digest string) string {
	const most = 12
	if len(digest) <= most {
		return digest
	}
	return digest[:most]
}

// cut returns at most n characters of a text, and how many there are more.
func cut(text string, n int) (begin string, more int) {
	if len(text) <= n {
		return text, 0
	}
	end := 0
	for range n {
		_, size := utf8.DecodeRuneInString(text[end:])
		if end += size; end >= len(text) {
			return text, 0
		}
	}
	return text[:end], utf8.RuneCountInString(text[end:])
}

// some is a text that is cut, and says so, when it is long.
func some(text string) string {
	begin, more := cut(text, maxValue)
	if more > 0 {
		begin += fmt.Sprintf("... (%s more)", catalog.Count(more, "character"))
	}
	return begin
}

// A moment is an instant as a page shows it.
type moment struct{ Text, Machine string }

func momentOf(t time.Time) moment {
	t = t.UTC()
	return moment{t.Format("2006-01-02 15:04:05") + " UTC", t.Format(time.RFC3339)}
}

// statuses say in words where a request stands.
var statuses = map[consent.Status]string{
	consent.StatusOpen:      "waits for an answer",
	consent.StatusApproved:  "approved; the call has not started yet",
	consent.StatusUsed:      "approved, and the call has started",
	consent.StatusMismatch:  "approved, but the call was not the approved one any more, and was refused",
	consent.StatusDenied:    "denied",
	consent.StatusExpired:   "expired: nobody answered in time, and the call was refused",
	consent.StatusCancelled: "the call was cancelled",
}

var placeholder = regexp.MustCompile(`\{([^{}]*)\}`)

// fill puts values of arguments in the place of {member} in a message of a declaration. One of which there
// is no value stays as it is.
func fill(message string, arguments json.RawMessage) string {
	const most = 200
	if !placeholder.MatchString(message) {
		return message
	}
	values := map[string]string{}
	for _, r := range tableOf(arguments).Rows {
		name := strings.ReplaceAll(strings.TrimPrefix(r.Pointer, "/"), "/", ".")
		value, more := cut(strings.Join(strings.Fields(r.Value), " "), most)
		if more > 0 || r.More > 0 {
			value += "..."
		}
		values[name] = value
	}
	return placeholder.ReplaceAllStringFunc(message, func(match string) string {
		if value, ok := values[match[1:len(match)-1]]; ok {
			return value
		}
		return match
	})
}
