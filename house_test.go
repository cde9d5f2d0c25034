package ambit_test

import (
	"cmp"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/internal/buildcache"
)

// A ceiling is the most that a figure of the code may be.
//
// A ceiling only falls. A figure above it fails the test, and so does one that is
// clearly below it while the goal is not reached: then the ceiling comes down to the
// figure. Where code moves to another package its ceiling moves with it.
type ceiling struct {
	figure string
	most   float64
	goal   float64 // where the ceiling is to end

	// grows is set where later work adds to the figure. Then the ceiling is the
	// goal, or the figure of the day it was written while that is larger: it does
	// not follow a figure that falls, until the goal is reached.
	grows bool

	// planned is set for a package that does not exist yet.
	planned bool
}

// tolerance is how far below its ceiling a figure may be, as a part of the ceiling.
const tolerance = 0.02

// maxGroup is how many files of a package may form one strongly connected group.
const maxGroup = 12

const (
	lines          = ": lines"
	exports        = ": exported names"
	group          = ": files in one group"
	callFields     = "call: fields"
	callMethods    = "call: methods"
	fieldsInReach  = "call: fields in reach"
	methodsInReach = "call: methods in reach"
	pronouns       = "comments: vague pronouns in 1,000 lines"
	warmFiles      = "warm call: files"
)

var ceilings = []ceiling{
	{figure: "runtime" + lines, most: 3_000, goal: 3_000},
	{figure: "runtime/engine" + lines, most: 6_000, goal: 6_000},
	{figure: "runtime/isolate" + lines, most: 2_000, goal: 2_000},
	{figure: "runtime" + exports, most: 150, goal: 150, grows: true},
	{figure: "runtime/engine" + exports, most: 110, goal: 110, grows: true},
	{figure: callFields, most: 25, goal: 25},
	{figure: callMethods, most: 80, goal: 80},
	{figure: fieldsInReach, most: 45, goal: 45},
	{figure: methodsInReach, most: 130, goal: 130},
	{figure: pronouns, most: 3, goal: 3},
	{figure: warmFiles, most: 16, goal: 16},
}

// TestHouse holds the figures of how the code is built under their ceilings. With -v
// it prints them. The files of a warm call are counted with AMBIT_BATTERY=ci, because
// that compiles the engine once more.
func TestHouse(t *testing.T) {
	m := measure(t)
	if battery.Full(t) {
		files := filesOfWarmCall(t)
		m.figures[warmFiles] = float64(len(files))
		path := pathOfACall(t)
		for _, file := range files {
			assert.Contains(t, path, "`"+filepath.Base(file)+"`", "the table \"The path of a call\" of docs/architecture.md")
		}
	}
	var report strings.Builder
	row := func(today, ceiling, goal, figure string) {
		fmt.Fprintf(&report, "%8s %8s %8s  %s\n", today, ceiling, goal, figure)
	}
	row("today", "ceiling", "goal", "figure")
	for _, c := range append(slices.Clone(ceilings), groups(m.figures)...) {
		figure, measured := m.figures[c.figure]
		today := "-"
		if measured {
			today = number(figure)
		}
		row(today, number(c.most), number(c.goal), c.figure)
		switch {
		case c.figure == warmFiles && !measured:
		case measured == c.planned:
			t.Errorf("%q is measured: %t, and planned: %t: mend its row of ceilings", c.figure, measured, c.planned)
		case measured:
			if wrong := c.verdict(figure); wrong != "" {
				t.Error(wrong)
			}
		}
	}
	t.Logf("\n%s\nvague pronouns, comment lines, file:\n%s", report.String(), mostVague(m.comments, 10))
}

// verdict says what is wrong with a figure. It is empty when nothing is.
func (c ceiling) verdict(figure float64) string {
	next := max(figure, c.goal)
	switch {
	case figure > c.most:
		return fmt.Sprintf("%q is %s and its ceiling is %s, which never rises: bring the figure down",
			c.figure, number(figure), number(c.most))
	case c.grows && next > c.goal:
		return ""
	case next < c.most*(1-tolerance):
		return fmt.Sprintf("%q is %s: lower its ceiling from %s to %s", c.figure, number(figure), number(c.most), number(next))
	}
	return ""
}

// groups returns a ceiling for each package in which several files form a group, the
// largest first.
func groups(figures map[string]float64) (rows []ceiling) {
	for figure, size := range figures {
		if strings.HasSuffix(figure, group) && size > 1 {
			rows = append(rows, ceiling{figure: figure, most: maxGroup, goal: maxGroup})
		}
	}
	slices.SortFunc(rows, func(a, b ceiling) int {
		return cmp.Or(cmp.Compare(figures[b.figure], figures[a.figure]), strings.Compare(a.figure, b.figure))
	})
	return rows
}

// mostVague lists the files with most vague pronouns.
func mostVague(counts []commentCount, most int) string {
	counts = slices.Clone(counts)
	slices.SortStableFunc(counts, func(a, b commentCount) int { return b.vague - a.vague })
	var text strings.Builder
	for _, c := range counts[:min(most, len(counts))] {
		fmt.Fprintf(&text, "%8d %8d  %s\n", c.vague, c.lines, c.path)
	}
	return text.String()
}

func number(f float64) string { return strconv.FormatFloat(math.Round(f*10)/10, 'f', -1, 64) }

// filesOfWarmCall returns the files of the engine that one warm call covers.
func filesOfWarmCall(t *testing.T) []string {
	t.Helper()
	engine := engineDir()
	dir := t.TempDir()
	program, profile := filepath.Join(t.TempDir(), "warmcall"), filepath.Join(t.TempDir(), "profile")
	const pkg = "./internal/warmcall"
	require.NoError(t, buildcache.Copy(pkg, program, "-cover", "-covermode=atomic", "-coverpkg=./"+engine+","+pkg))
	call := exec.Command(program)
	call.Env = append(call.Environ(), "GOCOVERDIR="+dir)
	out, err := call.CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = exec.Command("go", "tool", "covdata", "textfmt", "-i="+dir, "-o="+profile).CombinedOutput()
	require.NoError(t, err, "%s", out)
	files := coveredFiles(t, profile, module+"/"+engine)
	t.Logf("a warm call covers blocks of %s", strings.Join(files, ", "))
	require.NotEmpty(t, files)
	return files
}
