package console

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/httpguard"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/operator"
	"github.com/ambit-tools/ambit/runtime/sqlite"
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
	v := q.URL.Query()
	f := sqlite.CallFilter{Session: v.Get("session"), Run: v.Get("run"), Tool: v.Get("tool"), Limit: perPage}
	switch v.Get("state") {
	case "":
	case unfinished:
		f.Unfinished = true
	case unsettled:
		f.Unsettled = true
	default:
		return problem(httpguard.BadRequest, "state is unfinished or unsettled")
	}
	if text := v.Get("before"); text != "" {
		var err error
		if f.Before, err = strconv.ParseUint(text, 10, 64); err != nil || f.Before == 0 {
			return problem(httpguard.BadPosition, "before is not an entry of the journal")
		}
	}
	items, next, err := p.callItems(q, f)
	if err != nil {
		return err
	}
	data := struct {
		Session, Run, Tool, State string
		Any                       bool
		Items                     []callItem
		Next                      string
	}{f.Session, f.Run, f.Tool, v.Get("state"), f.Session+f.Run+f.Tool+v.Get("state") != "", items, ""}
	if next > 0 {
		v.Set("before", strconv.FormatUint(next, 10))
		data.Next = "?" + url.Values(v).Encode()
	}
	p.render(q, http.StatusOK, "calls", "Calls", data)
	return nil
}

// callItems returns a page of calls, and the entry before which the next page begins, 0 for the last one.
func (p *pages) callItems(q *request, f sqlite.CallFilter) (items []callItem, next uint64, err error) {
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

func targetOf(key journal.CallKey, run string) operator.Target {
	return operator.Target{Session: key.Session, Run: run, Call: key.Call}
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

// callItem returns a row with the outcome of the call.
func (p *pages) callItem(q *request, row sqlite.CallRow) (item callItem, err error) {
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
		c, err := p.endOf(q, &row)
		if err != nil {
			return item, err
		}
		item.Outcome, item.Reason, item.Took = c.outcomeName(), c.reasonName(), c.Took
		if c.Undone {
			item.Outcome = "undone"
		}
	}
	if item.Reason == item.Outcome {
		item.Reason = ""
	}
	return item, nil
}
