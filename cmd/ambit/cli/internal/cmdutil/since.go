package cmdutil

import "time"

// Since reads the instant of --since: how long ago it was, or what it is. A date is in UTC.
func Since(text string, now time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(text); err == nil {
		return now.Add(-d.Abs()), nil
	}
	for _, form := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(form, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, Usage("--since: "+Quote(text)+" is neither a duration nor a time", "for example --since 2h, --since 2026-11-20 or --since 2026-11-20T11:11:45Z")
}
