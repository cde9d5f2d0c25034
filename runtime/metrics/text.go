package metrics

import (
	"strconv"
	"sync/atomic"

	"github.com/ambit-tools/ambit/runtime"
)

// AppendText appends all metrics in the text format of Prometheus, version 0.0.4. Series that have
// counted nothing are left out.
func (m *Metrics) AppendText(b []byte, stats runtime.Stats) []byte {
	p := page{b: b}
	for _, g := range gauges {
		p.family(g.name, g.kind, g.help)
		p.series(g.name, g.of(&stats))
	}
	m.appendCalls(&p)
	p.family("ambit_events_total", "counter", "Transitions of calls, by the kind of their event.")
	for i := range m.tools {
		for kind := range m.tools[i].events {
			p.counter("ambit_events_total", &m.tools[i].events[kind], "tool", m.names[i], "event", kindNames[kind])
		}
	}
	p.family("ambit_consent_answers_total", "counter", "Answers to requests for consent.")
	for i := range m.tools {
		for a := range m.tools[i].answers {
			p.counter("ambit_consent_answers_total", &m.tools[i].answers[a], "tool", m.names[i], "answer", answerNames[a])
		}
	}
	for _, f := range sizes {
		p.family(f.name, "counter", f.help)
		for i := range m.tools {
			p.counter(f.name, f.of(&m.tools[i]), "tool", m.names[i])
		}
	}
	m.appendUsages(&p, &stats)
	for s := range spans {
		m.appendPeriod(&p, s)
	}
	return p.b
}

// appendUsages appends what processes have used.
func (m *Metrics) appendUsages(p *page, stats *runtime.Stats) {
	for _, f := range usages {
		if f.help != "" {
			p.family(f.name, f.kind, f.help)
		}
		for _, name := range m.names {
			of := stats.Usage[name]
			n := f.of(&of)
			switch {
			case n <= 0:
				continue
			case f.mode == "":
				p.head(f.name, "tool", name)
			default:
				p.head(f.name, "tool", name, "mode", f.mode)
			}
			p.b = append(strconv.AppendFloat(p.b, n, 'f', -1, 64), '\n')
		}
	}
}

// appendCalls appends the calls by their outcome and reason, and by the limits that they exceeded.
func (m *Metrics) appendCalls(p *page) {
	p.family("ambit_calls_total", "counter", "Calls that have their outcome.")
	for i := range m.tools {
		for outcome := range m.tools[i].calls {
			counts := m.tools[i].calls[outcome].Load()
			if counts == nil {
				continue
			}
			for reason := range counts {
				p.counter("ambit_calls_total", &counts[reason], "tool", m.names[i], "outcome", outcomeNames[outcome], "reason", reasonNames[reason])
			}
		}
	}
	p.family("ambit_deprecated_calls_total", "counter", "Calls of deprecated tools that have their outcome.")
	for _, i := range m.old {
		if n := m.tools[i].total(); n > 0 {
			p.series("ambit_deprecated_calls_total", n, "tool", m.names[i])
		}
	}
	p.family("ambit_limit_violations_total", "counter", "Calls that exceeded a limit.")
	for i := range m.tools {
		for _, l := range limits {
			if n := m.tools[i].exceeded(l.reason); n > 0 {
				p.series("ambit_limit_violations_total", n, "tool", m.names[i], "limit", l.name)
			}
		}
	}
}

// total returns how many calls have ended.
func (of *tool) total() (n uint64) {
	for reason := range reasons {
		n += of.exceeded(runtime.Reason(reason))
	}
	return n
}

// exceeded returns how many calls ended for a reason.
func (of *tool) exceeded(reason runtime.Reason) (n uint64) {
	for outcome := range of.calls {
		if counts := of.calls[outcome].Load(); counts != nil {
			n += counts[reason].Load()
		}
	}
	return n
}

// appendPeriod appends the histograms of a span.
func (m *Metrics) appendPeriod(p *page, s span) {
	name := periods[s].name
	p.family(name, "histogram", periods[s].help)
	var of summary
	var texts [bounds]string
	for i := range texts {
		texts[i] = strconv.FormatFloat(bound(i, scales[s]), 'g', -1, 64)
	}
	bucket, sum, count := name+"_bucket", name+"_sum", name+"_count"
	for i := range m.tools {
		h := m.tools[i].times[s].Load()
		if h == nil {
			continue
		}
		h.summarize(&of)
		for at, n := range of.upTo() {
			p.series(bucket, n, "tool", m.names[i], "le", texts[at])
		}
		p.series(bucket, of.count, "tool", m.names[i], "le", "+Inf")
		p.head(sum, "tool", m.names[i])
		p.b = append(strconv.AppendFloat(p.b, of.sum.Seconds(), 'g', -1, 64), '\n')
		p.series(count, of.count, "tool", m.names[i])
	}
}

// A page is a text in the format of Prometheus. Names and values need no escape: both are of closed
// sets, or names of tools, which are identifiers.
type page struct{ b []byte }

func (p *page) family(name, kind, help string) {
	p.b = append(append(append(append(append(p.b, "# HELP "...), name...), ' '), help...), '\n')
	p.b = append(append(append(append(append(p.b, "# TYPE "...), name...), ' '), kind...), '\n')
}

// head begins a series; labels are pairs of a name and a value.
func (p *page) head(name string, labels ...string) {
	p.b = append(p.b, name...)
	separator := byte('{')
	for i := 0; i < len(labels); i += 2 {
		p.b = append(p.b, separator)
		separator = ','
		p.b = append(append(append(append(p.b, labels[i]...), `="`...), labels[i+1]...), '"')
	}
	if len(labels) > 0 {
		p.b = append(p.b, '}')
	}
	p.b = append(p.b, ' ')
}

func (p *page) series(name string, value uint64, labels ...string) {
	p.head(name, labels...)
	p.b = append(strconv.AppendUint(p.b, value, 10), '\n')
}

// counter appends a series, unless it has counted nothing.
func (p *page) counter(name string, value *atomic.Uint64, labels ...string) {
	if n := value.Load(); n > 0 {
		p.series(name, n, labels...)
	}
}
