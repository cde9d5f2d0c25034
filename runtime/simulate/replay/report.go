package replay

import (
	"cmp"
	"slices"
)

// A Report is the result of a replay.
type Report struct {
	Runs    []*RunReport `json:"runs"`
	Summary Summary      `json:"summary"`
}

// A RunReport is the result of one run. Each of its calls is counted once.
type RunReport struct {
	Session       string          `json:"session"`
	Run           string          `json:"run"`
	Calls         int             `json:"calls"`
	Unchanged     int             `json:"unchanged"`
	After         int             `json:"after"` // calls after the divergence, of which nothing is said
	NotReplayable []NotReplayable `json:"not_replayable,omitempty"`
	Divergence    *Divergence     `json:"divergence,omitempty"` // the first one; nil: there is none

	// Further are the other calls that the candidate decides otherwise, when each call is judged by itself (Candidate.Each).
	Further []*Divergence `json:"further,omitempty"`

	// Otherwise are the calls that are judged and that the candidate denies, or asks about, as was recorded, for
	// other reasons or by other rules. They end no comparison: their runs would have gone the same way.
	Otherwise []*Divergence `json:"otherwise,omitempty"`

	// AfterRun is a run of the session that had diverged before this one did: the
	// state that it left in the session may be all that differs here.
	AfterRun string `json:"after_run,omitempty"`
}

// A Divergence is a call that the candidate decides otherwise.
type Divergence struct {
	Seq       uint64  `json:"seq"` // of the record that tells of the recorded decision
	Call      string  `json:"call"`
	Tool      string  `json:"tool"`
	Undo      bool    `json:"undo,omitempty"` // of the undo of the call
	Class     Class   `json:"class"`
	Recorded  Verdict `json:"recorded"`
	Candidate Verdict `json:"candidate"`
}

// A NotReplayable is a call of which it cannot be said what the candidate decides.
type NotReplayable struct {
	Call string `json:"call"`
	Tool string `json:"tool"`
	Why  string `json:"why"`
}

// A Summary counts runs, calls, and the divergences of runs by their class. Otherwise also counts the calls of
// RunReport.Otherwise.
type Summary struct {
	Runs          int `json:"runs"`
	Diverged      int `json:"diverged"` // runs
	Calls         int `json:"calls"`
	Unchanged     int `json:"unchanged"`
	After         int `json:"after"`
	NotReplayable int `json:"not_replayable"`
	NewlyDenied   int `json:"newly_denied"`
	NewlyAsked    int `json:"newly_asked"`
	NewlyAllowed  int `json:"newly_allowed"`
	NoLongerAsked int `json:"no_longer_asked"`
	Otherwise     int `json:"otherwise"`
}

// Only returns what r says of one session, or of one run, or of both; empty
// names stand for all. r is not changed.
func (r *Report) Only(session, run string) *Report {
	return newReport(slices.DeleteFunc(slices.Clone(r.Runs), func(one *RunReport) bool {
		return session != "" && one.Session != session || run != "" && one.Run != run
	}))
}

// newReport joins the reports of the runs.
func newReport(runs []*RunReport) *Report {
	r := &Report{Runs: runs}
	s := &r.Summary
	s.Runs = len(runs)
	for _, one := range runs {
		s.Calls += one.Calls
		s.Unchanged += one.Unchanged
		s.After += one.After
		s.NotReplayable += len(one.NotReplayable)
		s.Otherwise += len(one.Otherwise)
		if one.Divergence == nil {
			continue
		}
		s.Diverged++
		*s.of(one.Divergence.Class)++
		for _, d := range one.Further {
			*s.of(d.Class)++
		}
	}
	return r
}

// of returns the count of a class.
func (s *Summary) of(c Class) *int {
	switch c {
	case NewlyDenied:
		return &s.NewlyDenied
	case NewlyAsked:
		return &s.NewlyAsked
	case NewlyAllowed:
		return &s.NewlyAllowed
	case NoLongerAsked:
		return &s.NoLongerAsked
	}
	return &s.Otherwise
}

// A fate says what a call is counted as.
type fate uint8

const (
	fateNone fate = iota
	fateUnchanged
	fateOtherwise
	fateDiverged
)

// report says what came of a run; nil: nothing of it was judged, because all of it is earlier.
func (sim *simulation) report(r *run) *RunReport {
	out := &RunReport{Session: r.key.session, Run: r.key.run, Divergence: r.found, Further: r.later, Otherwise: r.otherwise, AfterRun: r.after}
	for _, c := range r.calls {
		if c.early {
			continue
		}
		out.Calls++
		why := c.skip
		switch {
		case why != "":
		case c.carried:
			why = erased + ": it was let do what it did"
		case c.fate == fateUnchanged:
			out.Unchanged++
			continue
		case c.fate == fateOtherwise, c.fate == fateDiverged:
			continue
		case r.found != nil && !sim.each:
			out.After++
			continue
		default:
			why = cmp.Or(r.stop, "the recording ends before it was decided")
		}
		out.NotReplayable = append(out.NotReplayable, NotReplayable{c.key.Call, c.tool, why})
	}
	if out.Calls == 0 && out.Divergence == nil && r.began.Before(sim.since) {
		return nil
	}
	return out
}
