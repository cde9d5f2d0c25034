package console

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/host/internal/httpguard"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// A callItem is a call as the list shows it.
type callItem struct {
	sqlite.CallRow
	Outcome, Reason, Took string
	Began                 moment
}

// The states that the list of calls filters by.
const (
	unfinished = "unfinished"
	unsettled  = "unsettled"
)

// calls serves the list of calls, the newest first. Those that the viewer may not audit are left out.
func (p *pages) calls(q *request) error {
	v := q.query
	f := sqlite.CallFilter{Session: v.Get("session"), Run: v.Get("run"), Tool: v.Get("tool"), Limit: perPage}
	outcome := v.Get("outcome")
	if _, ok := lastEntries[outcome]; outcome != "" && !ok {
		return problem(httpguard.BadRequest, "outcome is completed, failed, denied, aborted, unknown or undone")
	}
	for name, at := range map[string]*time.Time{"since": &f.Since, "until": &f.Until} {
		if text := v.Get(name); text != "" {
			var err error
			if *at, err = instantOf(text); err != nil {
				return problem(httpguard.BadRequest, name+" is an instant of UTC, such as 2006-01-02T15:04")
			}
		}
	}
	switch v.Get("state") {
	case "":
	case unfinished:
		f.Unfinished = true
	case unsettled:
		f.Unresolved = true
	default:
		return problem(httpguard.BadRequest, "state is unfinished or unsettled")
	}
	if err := readBefore(&f, v); err != nil {
		return err
	}
	items, next, err := p.callItems(q, f, outcome)
	if err != nil {
		return err
	}
	data := struct {
		Session, Run, Tool, State, Outcome, Since, Until string
		Outcomes                                         []string
		Any                                              bool
		Items                                            []callItem
		Next                                             string
	}{
		f.Session, f.Run, f.Tool, v.Get("state"), outcome, v.Get("since"), v.Get("until"), slices.Sorted(maps.Keys(lastEntries)),
		f.Session+f.Run+f.Tool+v.Get("state")+outcome+v.Get("since")+v.Get("until") != "", items, "",
	}
	if next > 0 {
		v.Set("before", strconv.FormatUint(next, 10))
		data.Next = "?" + url.Values(v).Encode()
	}
	p.render(q, http.StatusOK, "calls", "Calls", data)
	return nil
}

// callItems returns a page of calls, and the entry before which the next page begins, 0 for the last one.
func (p *pages) callItems(q *request, f sqlite.CallFilter, outcome string) (items []callItem, next uint64, err error) {
	for looked := 0; looked < maxCandidates; {
		rows, err := p.store.Calls(q.Context(), f)
		if err != nil {
			return nil, 0, err
		}
		for i := range rows {
			if len(items) == perPage {
				return items, f.Before, nil
			}
			f.Before = rows[i].First
			if outcome != "" && rows[i].Kind != lastEntries[outcome] {
				looked++
				continue
			}
			if looked++; !p.mayAudit(q, targetOf(rows[i].CallKey, rows[i].Run)) {
				continue
			}
			item, err := p.callItem(q, rows[i])
			if err != nil {
				return nil, 0, err
			}
			items = append(items, item)
		}
		if len(rows) < f.Limit {
			return items, 0, nil
		}
	}
	return items, f.Before, nil
}

// lastEntries has the kind of the last entry of a call with an outcome.
var lastEntries = map[string]string{
	"completed": "tool.completed", "failed": "tool.failed", "denied": "tool.denied", "aborted": "tool.aborted", "unknown": "tool.unknown", "undone": "tool.undone",
}

var errInstant = errors.New("no instant")

// instantOf reads an instant as a form sends it, or with its zone.
func instantOf(text string) (at time.Time, err error) {
	for _, form := range []string{"2006-01-02T15:04", "2006-01-02", time.RFC3339} {
		if at, err = time.Parse(form, text); err == nil && at.Year() > 1677 && at.Year() < 2262 { // what 64 bits of nanoseconds hold
			return at, nil
		}
	}
	return at, errInstant
}

func targetOf(key journal.CallKey, run string) runtime.ActTarget {
	return runtime.ActTarget{Session: key.Session, Run: run, Call: key.Call}
}

// endOf reads how a call has ended: most calls have no entry after that.
func (p *pages) endOf(q *request, row *sqlite.CallRow) (*recordedCall, error) {
	if row.Last != row.Ended {
		return p.callOf(q, row.CallKey)
	}
	entries, err := p.store.Read(q.Context(), row.Ended-1, 1)
	if err != nil {
		return nil, err
	}
	return recorded(row.CallKey, entries)
}

// readBefore sets the entry before which a page of calls ends, when the query of the page names one.
func readBefore(f *sqlite.CallFilter, query url.Values) (err error) {
	text := query.Get("before")
	if text == "" {
		return nil
	}
	if f.Before, err = strconv.ParseUint(text, 10, 64); err != nil || f.Before == 0 {
		return problem(httpguard.BadPosition, "before is not an entry of the journal")
	}
	return nil
}

// callItem returns a row with the outcome of the call.
func (p *pages) callItem(q *request, row sqlite.CallRow) (callItem, error) {
	if row.Ended == 0 {
		return rowItem(row, nil), nil
	}
	c, err := p.endOf(q, &row)
	if err != nil {
		return callItem{CallRow: row}, err
	}
	return rowItem(row, c), nil
}

// rowItem returns a row with the outcome of the call, which is nil for one that has not ended.
func rowItem(row sqlite.CallRow, c *recordedCall) (item callItem) {
	item = callItem{CallRow: row}
	if !row.OpenedAt.IsZero() {
		item.Began = momentOf(row.OpenedAt)
	}
	switch {
	case row.Ended == 0 && row.Started > 0:
		item.Outcome = "running"
	case row.Ended == 0 && strings.HasPrefix(row.Kind, "approval."):
		item.Outcome = runtime.Pending.String()
	case row.Ended == 0:
		item.Outcome = "waiting"
	default:
		item.Outcome, item.Reason, item.Took = c.outcomeName(), c.reasonName(), c.Took
		if c.Undone {
			item.Outcome = "undone"
		}
	}
	if item.Reason == item.Outcome {
		item.Reason = ""
	}
	return item
}
