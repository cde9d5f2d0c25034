package catalog

import (
	"fmt"
	"strings"
	"time"
)

// Count is a number of things, such as 2 approvals.
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Span is a duration in words, with its two largest units.
func Span(d time.Duration) string {
	d = d.Round(time.Second)
	units := []struct {
		of   time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}}
	var parts []string
	for _, u := range units {
		if n := d / u.of; n > 0 || len(parts) > 0 {
			if d -= n * u.of; n > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", n, u.name))
			}
			if len(parts) == 2 {
				break
			}
		}
	}
	if len(parts) == 0 {
		return "0 s"
	}
	return strings.Join(parts, " ")
}

// Effect says what the effect of that name means.
func Effect(name string) string {
	switch name {
	case "read":
		return "reads, and changes nothing"
	case "write":
		return "changes something"
	default:
		return "destroys something that may not come back"
	}
}

// Approvers says from whom answers are wanted.
func Approvers(approvers []string) string {
	if len(approvers) == 0 {
		return "anyone but the principal"
	}
	names := make([]string, len(approvers))
	for i, entry := range approvers {
		if name, ok := strings.CutPrefix(entry, "group:"); ok {
			names[i] = "members of " + name
		} else {
			names[i] = entry
		}
	}
	return strings.Join(names, ", ")
}
