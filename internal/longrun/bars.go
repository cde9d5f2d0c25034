package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os/exec"
	"strconv"
	"time"
)

// small is how many calls the small store has.
const small = 10_000

// turns is how often a figure is measured.
const turns = 3

// quiet is what figures need that are times with waits for the disk in them, or are close to their bar.
const quiet = "a machine with nothing else on it"

// A bar is a figure and what it may be.
type bar struct {
	figure string
	value  float64
	bar    float64
	least  bool   // the figure may not be below the bar, instead of above it
	waits  string // for which work the bar waits; empty: it is to be met
	detail string
}

// met reports whether a figure is within its bar.
func (b *bar) met() bool {
	if b.least {
		return b.value >= b.bar
	}
	return b.value <= b.bar
}

// table prints bars and reports whether all are met that wait for nothing.
func table(w io.Writer, bars []bar) bool {
	all := true
	fmt.Fprintf(w, "| %-64s | %8s | %8s | %s\n", "figure", "bar", "measured", "verdict")
	for _, b := range bars {
		sign, verdict := "<=", "met"
		if b.least {
			sign = ">="
		}
		switch {
		case b.met() && b.waits != "":
			verdict = "met, though it waits for " + b.waits
		case b.met():
		case b.waits != "":
			verdict = "not met: waits for " + b.waits
		default:
			verdict, all = "NOT MET", false
		}
		fmt.Fprintf(w, "| %-64s | %s %5.4g | %8.3g | %s (%s)\n", b.figure, sign, b.bar, b.value, verdict, b.detail)
	}
	return all
}

// A rig is what is measured.
type rig struct {
	dir, program, ambit string
	few, many           made
	log                 io.Writer
}

// growth is the bar of what may grow with the calls, and hardly faster: the exponent of its processor time.
func (r *rig) growth(figure string, few, many float64) bar {
	exponent := math.Log(many/few) / math.Log(float64(r.many.calls)/float64(r.few.calls))
	return bar{figure, exponent, 1.1, false, "", fmt.Sprintf("%.3f and %.3f s", few, many)}
}

// child runs a measurement in a process of its own, and returns the processor time of it too, as "cpu".
func (r *rig) child(ctx context.Context, program, what string, m made) (figures, error) {
	fmt.Fprintf(r.log, "%s: %s of %d calls\n", time.Now().Format(time.TimeOnly), what, m.calls)
	cmd := exec.CommandContext(ctx, program, "-child", what, "-store", m.path, "-calls", strconv.Itoa(m.calls))
	cmd.Stderr = r.log
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	f := figures{}
	if err := json.Unmarshal(out, &f); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	f["cpu"] = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	return f, nil
}

// both measures the small and the large store in turns, and returns the medians.
func (r *rig) both(ctx context.Context, what string) (few, many figures, err error) {
	var lists [2][]figures
	for range turns {
		for i, m := range []made{r.few, r.many} {
			f, err := r.child(ctx, r.program, what, m)
			if err != nil {
				return nil, nil, err
			}
			lists[i] = append(lists[i], f)
		}
	}
	return medians(lists[0]), medians(lists[1]), nil
}

// medians returns the median of each figure.
func medians(list []figures) figures {
	out := figures{}
	for name := range list[0] {
		var values []float64
		for _, f := range list {
			values = append(values, f[name])
		}
		out[name] = median(values)
	}
	return out
}

// bars measures what needs no other commit.
func (r *rig) bars(ctx context.Context) (bars []bar, err error) {
	for _, m := range []made{r.few, r.many} {
		if _, err := r.child(ctx, r.program, "generate", m); err != nil {
			return nil, err
		}
	}
	few, many, err := r.both(ctx, "start")
	if err != nil {
		return nil, err
	}
	bars = append(bars,
		bar{"heap after a start, to that of 10,000 calls", many["heap"] / few["heap"], 1.2, false, "", fmt.Sprintf("%.1f and %.1f MB", few["heap"]/1e6, many["heap"]/1e6)},
		bar{"CPU of a start, to that of 10,000 calls", many["cpu"] / few["cpu"], 2, false, "", fmt.Sprintf("%.3f and %.3f s", few["cpu"], many["cpu"])})
	one, err := r.child(ctx, r.program, "session", r.many)
	if err != nil {
		return nil, err
	}
	bars = append(bars,
		bar{"heap of a call of an open session, bytes", one["bytes"], 200, false, "", "id of 25 bytes"},
		bar{fmt.Sprintf("a call of a session of %d calls, to one of 1,000", r.many.calls), one["many"] / one["few"], 1.2, false, "", fmt.Sprintf("%.1f and %.1f µs", one["few"]/1e3, one["many"]/1e3)})
	for _, what := range []string{"export", "archive"} {
		few, many, err := r.both(ctx, what)
		if err != nil {
			return nil, err
		}
		bars = append(bars, r.growth(what+": exponent of its CPU", few["cpu"], many["cpu"]))
	}
	cut, err := r.cut(ctx)
	if err != nil {
		return nil, err
	}
	return r.verbs(ctx, append(bars, cut))
}
