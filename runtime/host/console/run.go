package console

import (
	"net/http"
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime/host/internal/httpguard"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// maxDrawn is how many calls of a run a page draws.
const maxDrawn = 100

// A runPage is what the page of a run shows.
type runPage struct {
	Run, Session, Whole string
	Began               moment
	Sessions            []string // that have a run of the id, when several do and none was chosen
	Rows                []timelineRow
	Older               uint64 // the entry before which the older calls are; 0: there are none
}

// run serves the calls of a run that the viewer may audit, as a picture and as a table.
func (p *pages) run(q *request) error {
	d := &runPage{Run: q.id("run"), Session: q.query.Get("session")}
	f := sqlite.CallFilter{Run: d.Run, Session: d.Session, Limit: maxDrawn + 1}
	if err := readBefore(&f, q.query); err != nil {
		return err
	}
	rows, err := p.store.Calls(q.Context(), f)
	if err != nil {
		return err
	}
	if len(rows) > maxDrawn {
		rows = rows[:maxDrawn]
		d.Older = rows[maxDrawn-1].First
	}
	rows = slices.DeleteFunc(rows, func(r sqlite.CallRow) bool { return !p.mayAudit(q, targetOf(r.CallKey, r.Run)) })
	if len(rows) == 0 {
		return problem(httpguard.NotPermitted, "")
	}
	for _, r := range rows {
		if !slices.Contains(d.Sessions, r.Session) {
			d.Sessions = append(d.Sessions, r.Session)
		}
	}
	if len(d.Sessions) == 1 {
		d.Session, d.Sessions = d.Sessions[0], nil
		slices.Reverse(rows)
		if err := p.draw(q, d, rows); err != nil {
			return err
		}
	}
	p.render(q, http.StatusOK, "run", "Run "+short(d.Run), d)
	return nil
}

// draw adds the calls of a run, the oldest first.
func (p *pages) draw(q *request, d *runPage, rows []sqlite.CallRow) error {
	calls := make([]*recordedCall, len(rows))
	var s spanOfRun
	for i := range rows {
		c, err := p.callOf(q, rows[i].CallKey)
		if err != nil {
			return err
		}
		calls[i] = c
		if s.begin.IsZero() || c.began.Before(s.begin) {
			s.begin = c.began
		}
		end := c.ended
		if !c.Ended {
			end = time.Now()
		}
		if end.After(s.end) {
			s.end = end
		}
	}
	for i, c := range calls {
		row := timelineRow{callItem: rowItem(rows[i], c), Agent: c.Agent, After: took(c.began.Sub(s.begin))}
		row.Bar = s.barOf(c.periods, &row)
		d.Rows = append(d.Rows, row)
	}
	d.Began, d.Whole = momentOf(s.begin), took(s.end.Sub(s.begin))
	return nil
}
